"""Makes pydantic models of fields (jobs/fields), which check the shapes of bodies and describe them.

The OpenAPI document has the JSON Schema of every registered target type.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import Field, FiniteFloat, GetJsonSchemaHandler, WithJsonSchema, create_model
from pydantic.alias_generators import to_snake
from pydantic.json_schema import JsonSchemaValue

from sweephand.jobs.fields import field
from sweephand.targets.registry import default_target_types, end_target_types, target_types
from sweephand.targets.target_type import TargetType
from sweephand.web.schemas.shapes import RequestBody

Model = TypeVar("Model", bound=RequestBody)

_REF: Final = "#/components/schemas/{name}"

#: The models of objects, by the name of the object.
_MODELS: Final[dict[str, type[RequestBody]]] = {}


class TargetSchema:
    """Describes a field as a target of one of several types.

    The document looks up the types when it is made, so it has types that were registered later.
    """

    def __init__(self, types: Callable[[], Mapping[str, TargetType]]) -> None:
        self._types = types

    def __get_pydantic_json_schema__(self, _: Any, __: GetJsonSchemaHandler) -> JsonSchemaValue:
        """The JSON Schema that pydantic puts in place of the field's own."""
        refs = {name: _REF.format(name=each.schema_name) for name, each in self._types().items()}
        return {
            "oneOf": [{"$ref": ref} for ref in refs.values()],
            "discriminator": {"propertyName": "type", "mapping": refs},
        }


#: The `target` of a job. jobs/validation.py checks its fields by the rules of its type.
Target = Annotated[dict[str, Any], TargetSchema(target_types)]

#: The `defaultTarget` of a namespace. jobs/namespace_settings.py checks its fields by the rules of its type.
NamespaceTarget = Annotated[dict[str, Any], TargetSchema(default_target_types)]


def components() -> dict[str, Any]:
    """The JSON Schema of every target type, by its name among the document's components."""
    return {each.schema_name: each.schema() for each in end_target_types().values()}


def model_of(shape: field.Object) -> Callable[[type[Model]], type[Model]]:
    """Decorates the model of an object: gives it the object's fields."""

    def decorate(base: type[Model]) -> type[Model]:
        _MODELS[shape.name] = found = with_fields(shape.fields)(base)
        return found

    return decorate


def with_fields(fields: Iterable[field.Field]) -> Callable[[type[Model]], type[Model]]:
    """Decorates a model: gives it these fields. The models of their objects must have been made before."""

    def decorate(base: type[Model]) -> type[Model]:
        made: dict[str, Any] = {to_snake(each.name): _field(each) for each in fields}
        return create_model(base.__name__, __base__=base, __doc__=base.__doc__, **made)

    return decorate


def _field(one: field.Field) -> tuple[Any, Any]:
    """The type and the description of a field. A field that may be left out may also be null."""
    kind = _kind(one.shape)
    if one.is_required:
        return kind, Field(description=one.meaning)
    return kind if isinstance(one.shape, field.Json) else kind | None, Field(None, description=one.meaning)


def _kind(shape: field.Shape) -> Any:
    """The type by which pydantic checks a shape and its bounds, with the shape's own JSON Schema."""
    kind: Any
    match shape:
        case field.Object():
            return _MODELS[shape.name]
        case field.TargetOf():
            return Annotated[dict[str, Any], TargetSchema(shape.types)]
        case field.Json():
            kind = Any
        case field.Number(least, most):
            kind = Annotated[int if shape.is_whole else FiniteFloat, Field(ge=least, le=most)]
        case field.OneOf():
            kind = Literal[shape.values]
        case field.Flag():
            kind = bool
        case field.Text():
            kind = Annotated[str, Field(max_length=shape.length_max)]
        case field.Duration():
            kind = str
        case field.Texts(count_max, length_max):
            name: Any = Annotated[str, Field(min_length=1, max_length=length_max)]
            text: Any = Annotated[str, Field(max_length=length_max)]
            kind = Annotated[dict[name, text], Field(max_length=count_max)]
    return Annotated[kind, WithJsonSchema(dict(shape.schema))]
