"""The rules of the target type `job`, which triggers another job of the namespace."""

from typing import Any

import pytest
from tests.fakes.targets import HTTP, SECURE, SQS

from sweephand.targets.registry import (
    attempt_ms_max,
    end_target_types,
    target_types,
    target_violations,
    triggered_job,
    triggers_job,
)

ENDS = ("succeeded", "failed", "skipped", "cancelled")


def pointers(spec: dict[str, Any]) -> list[str]:
    types = end_target_types()
    found = target_violations(spec, has_data=True, reach=SECURE, at="/onComplete", types=types)
    return [each.pointer for each in found]


@pytest.mark.parametrize("when", [{}, {"when": "succeeded"}, {"when": "failed"}, {"when": "always"}])
def test_a_target_job_names_a_job_and_may_say_after_which_ends(when: dict[str, Any]) -> None:
    assert pointers({"type": "job", "name": "next", **when}) == []


@pytest.mark.parametrize("name", [None, 5, "", ".", "..", "a b", "a/b", "a\n", "x" * 129])
def test_a_name_that_no_job_can_have_is_refused(name: object) -> None:
    assert pointers({"type": "job", "name": name}) == ["/onComplete/name"]


@pytest.mark.parametrize("when", [None, 5, "", "later", ["failed"]])
def test_an_end_that_there_is_not_is_refused(when: object) -> None:
    assert pointers({"type": "job", "name": "next", "when": when}) == ["/onComplete/when"]


def test_a_target_job_follows_ends_and_takes_no_triggers_of_a_schedule() -> None:
    assert "job" in end_target_types()
    assert "job" not in target_types()


@pytest.mark.parametrize(
    ("when", "states"),
    [
        ({}, ["succeeded"]),
        ({"when": "succeeded"}, ["succeeded"]),
        ({"when": "failed"}, ["failed"]),
        ({"when": "always"}, ["succeeded", "failed", "skipped", "cancelled"]),
    ],
)
def test_a_target_job_is_triggered_after_the_ends_that_it_names(
    when: dict[str, Any], states: list[str]
) -> None:
    spec = {"type": "job", "name": "next", **when}
    assert triggers_job(spec)
    assert [state for state in ENDS if triggered_job(spec, state) == "next"] == states
    assert {triggered_job(spec, state) for state in ENDS} <= {"next", None}


@pytest.mark.parametrize("spec", [HTTP, SQS, {"type": "newer", "name": "next"}])
def test_a_target_of_another_type_triggers_no_job(spec: dict[str, Any]) -> None:
    assert not triggers_job(spec)
    assert triggered_job(spec, "succeeded") is None


def test_a_target_job_takes_no_time_since_no_request_is_made() -> None:
    assert attempt_ms_max({"type": "job", "name": "next"}) == 0
