"""Every field and parameter in the OpenAPI document has a description."""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.fakes.http_events import document


def unexplained(schema: Mapping[str, Any], at: str, explained: frozenset[str] = frozenset()) -> Iterator[str]:
    """The fields of a schema, and of those within it, that have no description.

    A branch that only narrows a field of the schema around it need not explain that field again.
    """
    properties = schema.get("properties", {})
    for name, field in properties.items():
        if not field.get("description") and name not in explained:
            yield f"{at}.{name}"
        yield from unexplained(field, f"{at}.{name}")
    for word in ("oneOf", "anyOf", "allOf"):
        for each in schema.get(word, ()):
            yield from unexplained(each, at, explained | properties.keys())
    for word in ("items", "additionalProperties"):
        if isinstance(schema.get(word), dict):
            yield from unexplained(schema[word], f"{at}[]")


def all_unexplained(api: Mapping[str, Any]) -> list[str]:
    """What a description leaves unexplained, of its schemas, parameters and headers."""
    found = [
        each for name, schema in api["components"]["schemas"].items() for each in unexplained(schema, name)
    ]
    for path, methods in api["paths"].items():
        for method, operation in methods.items():
            at = f"{method} {path}"
            found += [
                f"{at} {each['name']}" for each in operation.get("parameters", ()) if not each["description"]
            ]
            for response in operation["responses"].values():
                found += [
                    f"{at} {name}"
                    for name, header in response.get("headers", {}).items()
                    if not header["description"]
                ]
                for content in response.get("content", {}).values():
                    found += unexplained(content["schema"], at)
    return found


def test_every_field_of_a_request_and_of_an_answer_has_a_description() -> None:
    assert all_unexplained(document()) == []


def test_the_check_finds_a_field_without_a_description_at_any_depth() -> None:
    silent = {"type": "object", "properties": {"mute": {"type": "string"}}}
    within = {"list": {"type": "array", "items": silent, "description": "Some."}}
    api = {
        "components": {"schemas": {"Outer": {"properties": within}, "Either": {"anyOf": [silent]}}},
        "paths": {
            "/x": {"get": {"responses": {"200": {"content": {"application/json": {"schema": silent}}}}}}
        },
    }

    assert all_unexplained(api) == ["Outer.list[].mute", "Either.mute", "get /x.mute"]
