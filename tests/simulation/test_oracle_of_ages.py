"""The oracle on how old a trigger may be when it is attempted again."""

from dataclasses import replace
from typing import Any

import pytest
from tests.simulation.oracle.ages import (
    TOO_LATE,
    no_retry_is_older_than_it_may_be,
    only_what_is_too_old_is_given_up_for_it,
)
from tests.simulation.oracle.tale import Tale
from tests.simulation.traces.stories import THROUGH, UID, requested, run, written
from tests.simulation.traces.trace import Event, RunStored, Written

MINUTE_MS = 60_000


def complaints(*events: Event) -> list[str]:
    tale = Tale(events, THROUGH, None)
    return [*no_retry_is_older_than_it_may_be(tale), *only_what_is_too_old_is_given_up_for_it(tale)]


def job(verb: Any = "create", rev: str = "1-a", at_s: int = 0, max_age: str | None = "1m") -> Event:
    retry = {} if max_age is None else {"maxAge": max_age}
    return written(verb, rev, at_s, definition={"schedule": "@every 60s", "data": '"x"', "retry": retry})


def attempts(*ages_ms: int) -> list[Event]:
    """The attempts at one trigger, so many milliseconds after its due time."""
    return [requested(60, late_ms=age_ms, attempt=number) for number, age_ms in enumerate(ages_ms, 1)]


@pytest.mark.parametrize(("late_ms", "is_named"), [(180_000, False), (180_001, True)])
def test_a_retry_that_leaves_later_than_max_age_allows_is_named(late_ms: int, *, is_named: bool) -> None:
    found = complaints(job(), *attempts(0, MINUTE_MS + late_ms))
    assert bool(found) == is_named
    assert all("attempt 2 of u1-1795262460000-0 left at" in each for each in found)


def test_a_first_attempt_may_be_late() -> None:
    assert not complaints(job(), *attempts(90 * MINUTE_MS))


def test_the_age_counts_from_the_first_attempt_and_not_from_the_due_time() -> None:
    assert not complaints(job(), *attempts(90 * MINUTE_MS, 91 * MINUTE_MS))


def test_a_first_attempt_that_was_made_again_begins_the_age() -> None:
    first, again, retry = attempts(0, 90 * MINUTE_MS, 91 * MINUTE_MS)
    again = requested(60, late_ms=90 * MINUTE_MS, attempt=1)
    assert not complaints(job(), first, again, retry)


def test_a_longer_max_age_that_was_written_meanwhile_counts() -> None:
    assert not complaints(job(), job("put", "2-b", 30, "2h"), *attempts(0, 90 * MINUTE_MS))
    assert not complaints(job(max_age=None), *attempts(0, 23 * 60 * MINUTE_MS))
    assert complaints(job(max_age=None), *attempts(0, 25 * 60 * MINUTE_MS))


def test_a_trigger_that_was_redriven_is_left_out() -> None:
    first, second = requested(60), requested(60, late_ms=90 * MINUTE_MS, attempt=2)
    given_up = run(first, None, "failed")
    redriven = RunStored(second.at, "job", UID, f"{first.due_at}-0", "failed", "claimed", 2, "o")
    assert not complaints(job(), first, given_up, redriven, second)


@pytest.mark.parametrize(("age_ms", "is_named"), [(MINUTE_MS, False), (MINUTE_MS - 1, True)])
def test_a_run_that_is_given_up_for_its_age_too_early_is_named(age_ms: int, *, is_named: bool) -> None:
    first = requested(60)
    given_up = RunStored(
        first.at + age_ms, "job", UID, f"{first.due_at}-0", "claimed", "failed", 1, "o", f"It {TOO_LATE}."
    )
    assert bool(complaints(job(), first, given_up)) == is_named


def test_a_definition_counts_from_its_commit_also_where_the_clock_of_its_writer_was_ahead() -> None:
    first, shorter = requested(60), job("put", "2-b", 61, "30s")
    assert isinstance(shorter, Written)
    ahead = replace(shorter, asked_at=shorter.asked_at + 45_000, ahead_ms=45_000)
    given_up = RunStored(
        first.at + 32_000, "job", UID, f"{first.due_at}-0", "claimed", "failed", 1, "o", f"It {TOO_LATE}."
    )
    assert not complaints(job(), ahead, first, given_up)
