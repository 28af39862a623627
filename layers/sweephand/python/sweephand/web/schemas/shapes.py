"""The base of all models of request bodies, and the check of a body's shape against its model.

pydantic finds the errors. This module turns them into violations with sentences of its own.
jobs/validation.py checks the rules of a job.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo

from sweephand.base.errors import InvalidError, Violation, first_violations, pointer
from sweephand.base.limits import PROBLEM_ERRORS_MAX
from sweephand.base.names import SUGGESTIONS_MAX, suggestion
from sweephand.web.http import json_text


class RequestBody(BaseModel):
    """A JSON object that refuses unknown fields. A field of null counts as left out."""

    model_config = ConfigDict(
        # A function starts without the models that its first request does not use.
        defer_build=True,
        extra="forbid",
        strict=True,
        alias_generator=to_camel,
        validate_by_name=False,
        validate_by_alias=True,
    )


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

#: The default of `check`: no name has a sentence of its own.
NO_SENTENCES: Final[Mapping[str, str]] = {}


def check(
    model: type[Model],
    document: Mapping[str, Any],
    *,
    sentences: Mapping[str, str] = NO_SENTENCES,
) -> tuple[Model | None, list[Violation]]:
    """The model made from a body, or the violations of the body.

    `sentences` maps names that are not fields of the model to a sentence of their own. Any other unknown name
    counts as a slip, and its violation suggests the most similar field. The violations stand in the order in
    which the model has their fields. Unknown fields come last.
    """
    # pydantic would make an error for each unknown name, however many there are.
    wrong = first_violations(_unknown_fields(model, document, sentences))
    found = None
    try:
        found = model.model_validate(_known_part(model, document) if wrong else document)
    except ValidationError as error:
        errors = error.errors(include_url=False)
        wrong += [_violation(model, each) for each in errors[: PROBLEM_ERRORS_MAX + 1]]
    return (None, _in_order(model, wrong)) if wrong else (found, [])


def read_as(model: type[Model], document: Mapping[str, Any]) -> Model:
    """The model made from a body. Raises InvalidError with the violations of the body."""
    found, violations = check(model, document)
    if found is None:
        raise InvalidError(violations)
    return found


def needs_one_of(**absent: Sequence[Any]) -> dict[str, Any]:
    """The JSON Schema of a body that needs one of these fields, which pydantic adds to that of its model.

    Each argument has the values of a field that count as left out. The schema is a `not`, because generators
    of clients take an `anyOf` beside `properties` for another type, and lose the fields.
    """
    return {"not": {"properties": {to_camel(name): {"enum": [*each]} for name, each in absent.items()}}}


def without_nulls(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that are not null. A field of null counts as left out."""
    return {name: value for name, value in fields.items() if value is not None}


def given_fields(document: Mapping[str, Any], limit: str = "fieldValuesMax") -> dict[str, Any]:
    """The fields of a body that are not null, with plain numbers. `limit` names that of a field's values."""
    return {name: json_text.with_plain_numbers(each, limit) for name, each in without_nulls(document).items()}


def _in_order(model: type[BaseModel], violations: Iterable[Violation]) -> list[Violation]:

    def places(violation: Violation) -> list[int]:
        found: list[int] = []
        holder: type[BaseModel] | None = model
        for name in violation.pointer.split("/")[1:]:
            names = [] if holder is None else list(_names(holder))
            found.append(names.index(name) if name in names else len(names))
            holder = None if holder is None else _model(holder, (name,))
        return found

    return sorted(violations, key=places)


def _unknown_fields(
    model: type[BaseModel],
    document: Mapping[str, Any],
    sentences: Mapping[str, str],
    place: tuple[str, ...] = (),
) -> Iterator[Violation]:
    """The names in a document and its inner objects that are no fields of the model."""
    names = _names(model)
    for number, name in enumerate(each for each in document if each not in names):
        sentence = None if place else sentences.get(name)
        detail = sentence or _no_such_field(name, sorted(names), suggests=number < SUGGESTIONS_MAX)
        yield Violation(pointer(*place, name), detail)
    for name, inner in _inner_models(model).items():
        if isinstance(document.get(name), Mapping):
            yield from _unknown_fields(inner, document[name], sentences, (*place, name))


def _known_part(model: type[BaseModel], document: Mapping[str, Any]) -> dict[str, Any]:
    """The document without the names that are no fields of the model, also in its inner objects."""
    known = {name: document[name] for name in _names(model) if name in document}
    for name, inner in _inner_models(model).items():
        if isinstance(known.get(name), Mapping):
            known[name] = _known_part(inner, known[name])
    return known


def _violation(model: type[BaseModel], found: Any) -> Violation:
    place = _place(found)
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


def _no_such_field(name: str, names: list[str], *, suggests: bool) -> str:
    if not names:
        return "No field is allowed here."
    near = suggestion(name, names) if suggests else ""
    return f"There is no such field here.{near} The fields are: {', '.join(names)}."


def _plain(value: Any) -> Any:
    """A bound without a needless fraction: 1 for 1.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


@lru_cache
def _names(model: type[BaseModel]) -> Mapping[str, FieldInfo]:
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _field(model: type[BaseModel], place: tuple[str | int, ...]) -> FieldInfo | None:
    holder = _model(model, place[:-1])
    return _names(holder).get(str(place[-1])) if holder and place else None


def _model(model: type[BaseModel], place: tuple[str | int, ...]) -> type[BaseModel] | None:
    """The model of the object at a place in a document of `model`; None if that object has no model."""
    for part in place:
        inner = _inner_models(model).get(str(part))
        if inner is None:
            return None
        model = inner
    return model


@lru_cache
def _inner_models(model: type[BaseModel]) -> Mapping[str, type[BaseModel]]:
    """The models of the fields that are objects with a model, by the names of the fields."""
    found = {}
    for name, field in _names(model).items():
        for kind in (field.annotation, *getattr(field.annotation, "__args__", ())):
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                found[name] = kind
    return found
