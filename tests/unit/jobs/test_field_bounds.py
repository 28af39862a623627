"""The bounds of a job's fields, as any API of Sweephand uses them: without HTTP."""

from typing import Any

import pytest
from tests.fakes.http_events import document

from sweephand.base.errors import Violation, pointer
from sweephand.base.field_bounds import NumberBounds
from sweephand.base.limits import LABEL_LENGTH_MAX, LABELS_MAX
from sweephand.jobs.field_bounds import BOUNDS, MAX_ATTEMPTS, bounds_violations
from sweephand.jobs.labels import LABELS_MEANING


def job_with(path: tuple[str, ...], value: Any) -> dict[str, Any]:
    *outer, name = path
    job: dict[str, Any] = {name: value}
    for each in reversed(outer):
        job = {each: job}
    return job


@pytest.mark.parametrize("path", BOUNDS)
def test_every_field_is_accepted_up_to_its_bound_and_refused_beyond(path: tuple[str, ...]) -> None:
    bounds = BOUNDS[path]
    most, more = (
        (bounds.most, bounds.most + 1)
        if isinstance(bounds, NumberBounds)
        else ("x" * bounds.most, "x" * (bounds.most + 1))
    )

    assert bounds_violations(job_with(path, most)) == []
    (found,) = bounds_violations(job_with(path, more))
    assert found.pointer == pointer(*path)
    assert found.detail.startswith("Must ")
    assert found.detail.endswith(bounds.meaning)


@pytest.mark.parametrize("path", BOUNDS)
@pytest.mark.parametrize("model", ["JobRequest", "JobPatchRequest", "NamedJobRequest"])
def test_the_openapi_document_states_the_same_bounds(model: str, path: tuple[str, ...]) -> None:
    schemas = document()["components"]["schemas"]
    *outer, name = path
    schema = schemas[model]
    for each in outer:
        inner = schema["properties"][each]["anyOf"][0]["$ref"].rpartition("/")[2]
        schema = schemas[inner]
    field = schema["properties"][name]

    # A field that may be left out may also be null.
    assert BOUNDS[path].schema.items() <= field.get("anyOf", [field])[0].items()
    assert field["description"] == BOUNDS[path].meaning


def test_a_value_that_another_check_has_refused_is_not_judged_again() -> None:
    job = {"retry": {"maxAttempts": 101, "multiplier": 101}}

    assert [each.pointer for each in bounds_violations(job)] == ["/retry/maxAttempts", "/retry/multiplier"]
    refused = [Violation("/retry/multiplier", "Must be a number.")]
    assert bounds_violations(job, refused) == MAX_ATTEMPTS.violations("/retry/maxAttempts", 101)
    assert bounds_violations(job, [Violation("/retry", "Must be an object.")]) == []


@pytest.mark.parametrize("labels", [{}, {"x" * LABEL_LENGTH_MAX: "x" * LABEL_LENGTH_MAX}, {"team": ""}])
def test_labels_within_their_bounds_are_accepted(labels: dict[str, str]) -> None:
    assert bounds_violations({"labels": labels}) == []


def test_each_label_is_refused_at_its_own_name() -> None:
    long = "x" * (LABEL_LENGTH_MAX + 1)
    found = bounds_violations({"labels": {"": "no name", long: "a long name", "team": long, "a/b": long}})

    assert found == [
        Violation("/labels/", "Must not be empty."),
        Violation(f"/labels/{long}", "Must have at most 128 characters."),
        Violation("/labels/team", "Must have at most 128 characters."),
        Violation("/labels/a~1b", "Must have at most 128 characters."),
    ]


def test_too_many_labels_are_refused_with_one_violation() -> None:
    many = {f"label-{number}": "" for number in range(LABELS_MAX + 1)}
    too_many = [Violation("/labels", f"Must have at most 20 entries. {LABELS_MEANING}")]

    assert bounds_violations({"labels": many}) == too_many
    assert bounds_violations({"labels": {**many, "": ""}}) == too_many


def test_of_too_many_labels_none_is_judged_by_itself() -> None:
    labels: dict[str, Any] = {f"label-{number}": "" for number in range(LABELS_MAX)}
    long = "x" * (LABEL_LENGTH_MAX + 1)

    assert [each.pointer for each in bounds_violations({"labels": {**labels, "": long}})] == ["/labels"]
    assert [each.pointer for each in bounds_violations({"labels": {long: ""}})] == [f"/labels/{long}"]
    assert bounds_violations({"labels": labels}) == []


@pytest.mark.parametrize(
    "job",
    [{"labels": {"": "x" * 129, "x" * 129: "x" * 129}}, {"labels": 5}, {"waitLimit": 0, "ttl": "x" * 65}],
)
def test_a_value_that_a_rule_has_refused_is_not_refused_again(job: dict[str, Any]) -> None:
    assert bounds_violations(job, bounds_violations(job)) == []


@pytest.mark.parametrize("value", [None, 5, "x", ["x"], {"inner": {}}])
def test_a_document_of_another_shape_raises_nothing(value: Any) -> None:
    written = {path[0]: value for path in BOUNDS}
    assert bounds_violations({**written, "labels": value, "repeats": 5, "waitLimit": 5}) == []
