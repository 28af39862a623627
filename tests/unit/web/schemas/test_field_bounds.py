"""The bounds of a job's fields: a body is accepted up to each bound, and OpenAPI describes each field."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import pytest
from tests.fakes.http_events import document

from sweephand.base.errors import Violation, pointer
from sweephand.base.limits import LABEL_LENGTH_MAX, LABELS_MAX
from sweephand.jobs.fields.field import Field, Number, Object, Text
from sweephand.jobs.fields.registry import FIELDS
from sweephand.web.schemas.job_requests import JobRequest
from sweephand.web.schemas.shapes import check


class Bounded(NamedTuple):
    """A field with bounds, the objects around it, and values on its last bound and beyond."""

    path: tuple[str, ...]
    meaning: str
    schema: Any
    most: Any
    beyond: list[Any]


def bounded(fields: Iterable[Field], around: tuple[str, ...] = ()) -> Iterator[Bounded]:
    for each in fields:
        path, shape = (*around, each.name), each.shape
        if isinstance(shape, Object):
            yield from bounded(shape.fields, path)
        elif isinstance(shape, Number):
            beyond = [shape.least - 1, shape.most + 1, 10**400]
            yield Bounded(path, each.meaning, shape.schema, shape.most, beyond)
        elif isinstance(shape, Text) and shape.length_max is not None:
            # A text is measured in characters.
            most = "\U0001f600" * shape.length_max
            yield Bounded(path, each.meaning, shape.schema, most, [most + "x"])


BOUNDED: Final = {pointer(*each.path): each for each in bounded(FIELDS)}
MEANINGS: Final = {each.name: each.meaning for each in FIELDS}


def violations(path: tuple[str, ...], value: Any) -> list[Violation]:
    """What the check of shapes finds in a job with that value, besides fields that are missing."""
    *outer, name = path
    job: dict[str, Any] = {name: value}
    for each in reversed(outer):
        job = {each: job}
    return [each for each in check(JobRequest, job)[1] if not each.detail.startswith("Required.")]


def test_the_fields_with_bounds_are_these() -> None:
    assert BOUNDED.keys() == {
        "/timezone",
        "/dueTime",
        "/ttl",
        "/repeats",
        "/jitter",
        "/retry/maxAttempts",
        "/retry/multiplier",
        "/deadLetterQueue",
        "/waitLimit",
        "/batch/count",
        "/description",
    }


@pytest.mark.parametrize("at", BOUNDED)
def test_every_field_is_accepted_up_to_its_bound_and_refused_beyond(at: str) -> None:
    field = BOUNDED[at]

    assert violations(field.path, field.most) == []
    for value in field.beyond:
        (found,) = violations(field.path, value)
        assert found.pointer == at
        assert found.detail.startswith("Must ")
        assert found.detail.endswith(field.meaning)


@pytest.mark.parametrize("at", BOUNDED)
@pytest.mark.parametrize("model", ["JobRequest", "JobPatchRequest", "NamedJobRequest"])
def test_the_openapi_document_states_the_same_bounds(model: str, at: str) -> None:
    schemas = document()["components"]["schemas"]
    *outer, name = BOUNDED[at].path
    schema = schemas[model]
    for each in outer:
        inner = schema["properties"][each]["anyOf"][0]["$ref"].rpartition("/")[2]
        schema = schemas[inner]
    field = schema["properties"][name]

    # A field that may be left out may also be null.
    assert BOUNDED[at].schema.items() <= field.get("anyOf", [field])[0].items()
    assert field["description"] == BOUNDED[at].meaning


def labelled(labels: dict[str, Any]) -> list[Violation]:
    return violations(("labels",), labels)


@pytest.mark.parametrize("labels", [{}, {"x" * LABEL_LENGTH_MAX: "x" * LABEL_LENGTH_MAX}, {"team": ""}])
def test_labels_within_their_bounds_are_accepted(labels: dict[str, str]) -> None:
    assert labelled(labels) == []


def test_each_label_is_refused_at_its_own_name() -> None:
    long = "x" * (LABEL_LENGTH_MAX + 1)
    found = labelled({"": "no name", long: "a long name", "team": long, "a/b": long})

    assert found == [
        Violation("/labels/", "Must not be empty."),
        Violation(f"/labels/{long}", "Must have at most 128 characters."),
        Violation("/labels/team", "Must have at most 128 characters."),
        Violation("/labels/a~1b", "Must have at most 128 characters."),
    ]


def test_too_many_labels_are_refused_with_one_violation() -> None:
    many = {f"label-{number}": "" for number in range(LABELS_MAX + 1)}
    too_many = [Violation("/labels", f"Must have at most 20 entries. {MEANINGS['labels']}")]

    assert labelled(many) == too_many
    assert labelled({**dict.fromkeys(list(many)[:LABELS_MAX], ""), "last": ""}) == too_many


@pytest.mark.parametrize("value", [None, True, [0], {"inner": {}}, 0.5, "x" * 513])
def test_a_value_of_another_shape_is_refused_and_raises_nothing(value: Any) -> None:
    for field in BOUNDED.values():
        found = violations(field.path, value)
        assert [each.pointer for each in found[:1]] in ([], [pointer(*field.path)])


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
