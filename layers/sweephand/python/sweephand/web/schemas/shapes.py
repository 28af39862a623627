"""Checks the shape of a body against its model.

pydantic finds the errors. This module turns them into violations with sentences of its own.
jobs/validation.py checks the rules of a job: the bounds of its fields, and the rules between them.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from sweephand.base.errors import Violation, pointer
from sweephand.base.field_bounds import TextBounds
from sweephand.base.limits import PROBLEM_ERRORS_MAX
from sweephand.base.spelling import suggestion

Model = TypeVar("Model", bound=BaseModel)

_SENTENCES: Final[Mapping[str, str]] = {
    "missing": "Required.",
    "string_type": "Must be text.",
    "int_type": "Must be a whole number.",
    "int_parsing": "Must be a whole number.",
    "int_parsing_size": "Must be a whole number of a few digits.",
    "int_from_float": "Must be a whole number.",
    "float_type": "Must be a number.",
    "finite_number": "Must be a number within the range of a double.",
    "bool_type": "Must be true or false.",
    "dict_type": "Must be an object.",
    "model_type": "Must be an object.",
    "list_type": "Must be a list.",
    "greater_than": "Must be more than {gt}.",
    "greater_than_equal": "Must be at least {ge}.",
    "less_than_equal": "Must be at most {le}.",
    "string_pattern_mismatch": "Has a character that is not allowed.",
    "string_too_short": "Must not be empty.",
    "string_too_long": "Must have at most {max_length} characters.",
    "too_short": "Must not be empty.",
    "too_long": "Must have at most {max_length} entries.",
    "literal_error": "Must be {expected}.{meant}",
    "value_error": "{error}",
}

#: The defaults of `check`: no name has a sentence of its own, and no text has bounds.
NO_SENTENCES: Final[Mapping[str, str]] = {}
NO_BOUNDS: Final[Mapping[str, TextBounds]] = {}


def check(
    model: type[Model],
    document: Mapping[str, Any],
    *,
    sentences: Mapping[str, str] = NO_SENTENCES,
    bounds: Mapping[str, TextBounds] = NO_BOUNDS,
) -> tuple[Model | None, list[Violation]]:
    """The model made from a body, or the violations of the body.

    `sentences` maps names that are not fields of the model to a sentence of their own. Any other unknown name
    counts as a slip, and its violation suggests the most similar field. `bounds` are the bounds of texts, by
    the name of the field.
    """
    too_long: list[Violation] = []
    for name, each in bounds.items():
        too_long += each.violations(pointer(name), document.get(name))
    try:
        found = model.model_validate(document)
    except ValidationError as error:
        # A problem names no more violations, and to look for similar names takes long.
        shapes = [
            _violation(model, found, sentences, suggests=number < PROBLEM_ERRORS_MAX)
            for number, found in enumerate(error.errors(include_url=False))
        ]
        return None, in_order(model, shapes + too_long)
    return (None, too_long) if too_long else (found, [])


def in_order(model: type[BaseModel], violations: Iterable[Violation]) -> list[Violation]:
    """The violations in the order in which the model has their fields. Unknown fields come last."""

    def places(violation: Violation) -> list[int]:
        found: list[int] = []
        holder: type[BaseModel] | None = model
        for name in violation.pointer.split("/")[1:]:
            names = [] if holder is None else list(_names(holder))
            found.append(names.index(name) if name in names else len(names))
            holder = None if holder is None else _model(holder, (name,))
        return found

    return sorted(violations, key=places)


def _violation(
    model: type[BaseModel], found: Any, sentences: Mapping[str, str], *, suggests: bool
) -> Violation:
    place = _place(found)
    if found["type"] == "extra_forbidden":
        return Violation(pointer(*place), _unknown(model, place, sentences, suggests=suggests))
    sentence = _sentence(model, place, found)
    field = _field(model, place)
    meaning = field.description if field is not None and found["type"] != "value_error" else None
    return Violation(pointer(*place), f"{sentence} {meaning}" if meaning else sentence)


def _place(found: Any) -> tuple[str | int, ...]:
    """Where an error lies. pydantic marks an error of a dictionary's key with "[key]" behind that key.

    A caller's own field or label may have that name too.
    """
    place: tuple[str | int, ...] = found["loc"]
    is_of_key = len(place) > 1 and place[-1] == "[key]" and found["input"] == place[-2]
    return place[:-1] if is_of_key and found["type"] != "extra_forbidden" else place


def _sentence(model: type[BaseModel], place: tuple[str | int, ...], found: Any) -> str:
    template = _SENTENCES.get(found["type"])
    if template is None:
        return f"{found['msg']}."
    values = {name: _plain(value) for name, value in found.get("ctx", {}).items()}
    if found["type"] == "literal_error":
        values["meant"] = suggestion(found["input"], _values(_field(model, place)))
    return template.format(**values)


def _values(field: FieldInfo | None) -> list[str]:
    """The texts that a field accepts, if it accepts only certain texts."""
    left: list[Any] = [] if field is None else [field.annotation]
    found: list[str] = []
    while left:
        kind = left.pop()
        if isinstance(kind, str):
            found.append(kind)
        else:
            left += getattr(kind, "__args__", ())
    return found


def _unknown(
    model: type[BaseModel], place: tuple[str | int, ...], sentences: Mapping[str, str], *, suggests: bool
) -> str:
    if len(place) == 1 and str(place[0]) in sentences:
        return sentences[str(place[0])]
    holder = _model(model, place[:-1]) or model
    names = sorted(_names(holder))
    if not names:
        return "No field is allowed here."
    near = suggestion(str(place[-1]), names) if suggests else ""
    return f"There is no such field here.{near} The fields are: {', '.join(names)}."


def _plain(value: Any) -> Any:
    """A bound without a needless fraction: 1 for 1.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _names(model: type[BaseModel]) -> dict[str, FieldInfo]:
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _field(model: type[BaseModel], place: tuple[str | int, ...]) -> FieldInfo | None:
    holder = _model(model, place[:-1])
    return _names(holder).get(str(place[-1])) if holder and place else None


def _model(model: type[BaseModel], place: tuple[str | int, ...]) -> type[BaseModel] | None:
    """The model of the object at a place in a document of `model`; None if that object has no model."""
    for part in place:
        field = _names(model).get(str(part))
        if field is None:
            return None
        kinds = [field.annotation, *getattr(field.annotation, "__args__", ())]
        inner = next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)), None)
        if inner is None:
            return None
        model = inner
    return model
