"""The JSON Schemas of targets in the OpenAPI document, made from the registered target types."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final

from pydantic import GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue

from sweephand.targets.registry import default_target_types, end_target_types, target_types
from sweephand.targets.target_type import TargetType

_REF: Final = "#/components/schemas/{name}"


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
