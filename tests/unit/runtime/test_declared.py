"""Fields of templates become again what they were before CloudFormation made texts of them."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest
from tests.fakes.http_events import document

from sweephand.runtime.declared import KINDS, typed
from sweephand.web.http import json_text

NAMED: Final = document()["components"]["schemas"]

#: A value of each kind that is no text.
VALUES: Final[Mapping[str, Any]] = {"integer": 7, "number": 1.5, "boolean": True}


def fields_of(schema: Mapping[str, Any], seen: tuple[str, ...] = ()) -> Iterator[Any]:
    """The fields below a schema that are no text, each as a document that holds it alone."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name not in seen:
            yield from fields_of(NAMED[name], (*seen, name))
        return
    for each in (*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("allOf", ())):
        yield from fields_of(each, seen)
    kind = schema.get("type")
    if isinstance(kind, str) and kind in VALUES:
        yield VALUES[kind]
    for name, each in schema.get("properties", {}).items():
        yield from ({name: found} for found in fields_of(each, seen))
    others = [schema.get("additionalProperties"), *schema.get("patternProperties", {}).values()]
    for each in others:
        if isinstance(each, Mapping):
            assert not list(fields_of(each, seen)), "typed() reads no names that are the caller's"
    if "items" in schema:
        yield from ([found] for found in fields_of(schema["items"], seen))


def as_cloudformation_sends(value: Any) -> Any:
    """The value with a text for each number and truth value."""
    if isinstance(value, dict):
        return {name: as_cloudformation_sends(each) for name, each in value.items()}
    if isinstance(value, list):
        return [as_cloudformation_sends(each) for each in value]
    return value if isinstance(value, str) else json.dumps(value)


FIELDS: Final = [
    pytest.param(kind.body, value, id=f"{kind.body} {json.dumps(value)}")
    for kind in KINDS.values()
    for value in fields_of(NAMED[kind.body])
]


@pytest.mark.parametrize(("model", "value"), FIELDS)
def test_a_field_that_is_no_text_is_what_it_was_before_cloudformation_sent_it(model: str, value: Any) -> None:
    sent = as_cloudformation_sends(value)
    assert sent != value
    assert json.loads(json_text.write(typed(sent, NAMED[model], NAMED))) == value


def test_the_fields_that_are_no_text_are_these() -> None:
    found = {json.dumps(param.values[1]) for param in FIELDS}
    assert found == {
        '{"repeats": 7}',
        '{"retry": {"maxAttempts": 7}}',
        '{"retry": {"multiplier": 1.5}}',
        '{"batch": {"count": 7}}',
        '{"waitLimit": 7}',
        '{"deleteAfterCompletion": true}',
        '{"maxConcurrent": 7}',
        '{"rate": {"limit": 7}}',
        '{"breaker": {"failures": 7}}',
    }


@pytest.mark.parametrize("text", ["many", "", "1e", "0x10", "True", "٣", "7\n"])
def test_a_text_that_is_no_number_stays_so_that_the_api_refuses_it(text: str) -> None:
    assert typed({"repeats": text}, NAMED["JobRequest"], NAMED) == {"repeats": text}


def test_a_field_that_takes_texts_too_keeps_its_text() -> None:
    fields = {"schedule": {"second": "0"}, "labels": {"code": "7"}, "data": {"count": "5", "ok": "true"}}
    assert typed(fields, NAMED["JobRequest"], NAMED) == fields
