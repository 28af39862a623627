"""The oracle on the times of a schedule: which ones a series has after its request and after an update."""

from dataclasses import replace
from typing import Any, Final

import pytest
from tests.simulation.oracle.lives import lives_of
from tests.simulation.oracle.tale import Tale
from tests.simulation.oracle.times import no_time_is_left_out
from tests.simulation.traces.doctored import changed, complaints, of, with_, without
from tests.simulation.traces.stories import NOON, deleted, delivered, every_minute, in_order, written
from tests.simulation.traces.trace import Event, Requested, Written

_CRON: Final[dict[str, Any]] = {"schedule": "* * * * *", "data": '"x"'}

_LEFT_OUT: Final = "of its schedule belongs to no revision"


def created_at_a_match() -> list[Event]:
    """The story every_minute(), by cron. The request that creates the job comes at 12:00:00.000."""
    return changed(of(Written), definition=_CRON)(every_minute())


def test_a_schedule_that_is_created_at_one_of_its_matches_begins_with_the_next_one() -> None:
    assert complaints(created_at_a_match()) == []


def test_a_later_match_that_no_revision_fires_is_named() -> None:
    moved = written(
        "patch",
        "2-b",
        375,
        definition={**_CRON, "jitter": "1m"},
        jitter_ms=30_000,
        since=NOON + 450_000,
    )
    found = complaints(with_(moved)(created_at_a_match()))
    assert any("12:07:00.000" in each and _LEFT_OUT in each for each in found)


def test_the_first_match_after_the_creation_is_owed() -> None:
    first = of(Requested, due_at=NOON + 60_000)
    found = complaints(without(first)(created_at_a_match()))
    assert any("owed 2026-11-21T12:01:00.000Z" in each for each in found)


def _without_its_due_time(since_s: float) -> list[Event]:
    """A job with a `dueTime` and 90 s of jitter. A PATCH at 375 s removes the one and shortens the other.

    The time 12:04:00 fired at 12:05:30. The time 12:05:00 would have fired at 12:06:30, and now is due at
    12:05:30. `since_s` is the beginning of the new revision.
    """
    due_time = {"dueTime": "2026-11-21T12:00:30Z", "jitter": "5m"}
    return in_order(
        written("create", "1-a", 0, definition={**_CRON, **due_time}, jitter_ms=90_000),
        (event for due_s in range(30, 331, 60) for event in delivered(due_s, sequence=due_s // 60 + 1)),
        written(
            "patch",
            "2-b",
            375,
            definition={**_CRON, "jitter": "1m"},
            jitter_ms=30_000,
            since=NOON + round(since_s * 1_000),
        ),
    )


def _named(events: list[Event]) -> list[str]:
    """Complaints about the times that fired, and about the beginning of a revision."""
    return [each for each in complaints(events) if "no request left" not in each and "no timer" not in each]


def test_a_schedule_that_loses_its_due_time_goes_on_where_it_was() -> None:
    story = _without_its_due_time(since_s=315.005)
    [life] = lives_of(story).values()
    due_at, sequence = life.occurrences[-1].between(NOON, NOON + 600_000)[0]
    assert ((due_at - NOON) // 1_000, sequence) == (330, 7)
    assert _named(with_(*delivered(330, "2-b", late_ms=46_000, sequence=7))(story)) == []


@pytest.mark.parametrize("since_s", [300.005, 375.005])
def test_a_wrong_beginning_after_the_loss_of_a_due_time_is_named(since_s: float) -> None:
    assert any("2-b rules since" in each for each in _named(_without_its_due_time(since_s)))


def test_a_time_of_a_schedule_that_lost_its_due_time_bears_the_next_number() -> None:
    story = _without_its_due_time(since_s=315.005)
    found = _named(with_(*delivered(330, "2-b", late_ms=46_000, sequence=8))(story))
    assert any("has the number 8 and is occurrence 7" in each for each in found)


@pytest.mark.parametrize(("schedule", "is_again"), [("@every 60s", True), ("@every 90s", False)])
def test_another_schedule_has_times_of_its_own(schedule: str, *, is_again: bool) -> None:
    definition = {"schedule": schedule, "jitter": "2m", "data": '"x"'}
    patch = written("patch", "2-b", 375, definition=definition, jitter_ms=90_000)
    found = complaints(with_(patch, *delivered(450, "2-b"))(every_minute()))
    assert any("of its schedule fired at" in each for each in found) == is_again


@pytest.mark.parametrize(("schedule", "is_again"), [("@every 60s", True), ("@every 90s", False)])
def test_a_schedule_that_comes_back_after_another_has_times_of_its_own(
    schedule: str, *, is_again: bool
) -> None:
    between = written("patch", "2-b", 370, definition={"schedule": schedule, "data": '"x"'})
    definition = {"schedule": "@every 60s", "jitter": "2m", "data": '"x"'}
    back = written("patch", "3-c", 375, definition=definition, jitter_ms=90_000)
    found = complaints(with_(between, back, *delivered(450, "3-c"))(every_minute()))
    assert any("of its schedule fired at" in each for each in found) == is_again


def test_times_from_one_due_time_are_the_same_times_in_another_zone() -> None:
    definition = {"schedule": "@every 60s", "dueTime": "2026-11-21T12:00:30Z", "data": '"x"'}
    moved_to = {**definition, "timezone": "Europe/Riga", "jitter": "5m"}
    patched = written("patch", "2-b", 375, definition=moved_to, jitter_ms=90_000)
    [life] = lives_of([written("create", "1-a", 0, definition=definition), patched]).values()
    due_at, sequence = next(iter(life.occurrences[-1].between(NOON, NOON + 600_000)))
    # The times up to 5:30 have fired at their old places. The one at 6:30 fires at 8:00.
    assert ((due_at - NOON) // 1_000, sequence) == (480, 7)


def test_an_update_takes_over_no_time_that_earlier_updates_left_behind() -> None:
    plain = {"schedule": "@hourly", "data": '"x"'}
    created = written("create", "1-a", 0, definition=plain)
    moved = written("patch", "2-b", 2_199, definition={**plain, "jitter": "1h"}, jitter_ms=608_000)
    # In Kolkata, 12:30 UTC is a full hour. It was over before the first update.
    elsewhere = {**plain, "jitter": "2h", "timezone": "Asia/Kolkata"}
    again = written("patch", "3-c", 2_221, definition=elsewhere, jitter_ms=1_217_000)
    assert list(no_time_is_left_out(Tale([created, moved, again], NOON + 3_600_000, None))) == []


def test_nothing_is_owed_of_a_job_that_was_deleted_and_came_back() -> None:
    # The clock of the creation is ahead. It is repeated after the deletion.
    created = written("create", "1-a", 57, definition={"schedule": "@every 7h", "data": '"x"'})
    definition = {**_CRON, "jitter": "1m"}
    replaced = written("replace", "2-b", 5, definition=definition, jitter_ms=20_000, since=NOON + 4_999)
    events: list[Event] = [created, replaced, deleted(10), replace(created, at=NOON + 70_000)]
    assert list(no_time_is_left_out(Tale(events, NOON + 600_000, None))) == []
