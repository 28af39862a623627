"""The oracle on the times of a schedule, the indexes of a batch, and the ages of retries and of turns."""

from dataclasses import replace
from typing import Any, Final

import pytest
from tests.simulation.oracle.batches import Size, size_of
from tests.simulation.oracle.lives import lives_of
from tests.simulation.oracle.overlap import passes_by_hand
from tests.simulation.oracle.patience import (
    TOO_LATE,
    no_retry_is_older_than_it_may_be,
    only_what_is_too_old_is_given_up_for_it,
    who_waits_goes_promptly,
)
from tests.simulation.oracle.tale import Tale
from tests.simulation.oracle.times import no_time_is_left_out
from tests.simulation.oracle.turns import Turns
from tests.simulation.traces.broken_batches import DEFINITION, batches
from tests.simulation.traces.broken_turns import TURNS
from tests.simulation.traces.doctored import CALM_AT, changed, complaints, of, with_, without
from tests.simulation.traces.stories import (
    NOON,
    THROUGH,
    UID,
    deleted,
    delivered,
    every_minute,
    in_order,
    in_turn,
    line,
    place,
    requested,
    run,
    written,
)
from tests.simulation.traces.trace import Concluded, Event, Requested, RunStored, Written

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


def test_an_update_of_the_batch_rules_from_the_next_occurrence_on() -> None:
    other = {**DEFINITION, "batch": {"count": 1}}
    story = in_order(batches(), written("patch", "2-b", 310, definition=other))
    assert not [each for each in complaints(story) if f"{NOON + 300_000}" in each and "indexes" in each]


@pytest.mark.parametrize(
    ("definition", "size"),
    [({}, Size(1, 0)), ({"batch": {"count": 7}}, Size(7, 0)), (DEFINITION, Size(3, 60_000))],
)
def test_the_size_of_a_batch_is_read_from_its_definition(definition: dict[str, Any], size: Size) -> None:
    assert size_of(definition) == size


MINUTE_MS = 60_000


def complaints_of_ages(*events: Event) -> list[str]:
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
    found = complaints_of_ages(job(), *attempts(0, MINUTE_MS + late_ms))
    assert bool(found) == is_named
    assert all("attempt 2 of u1-1795262460000-0 left at" in each for each in found)


def test_a_first_attempt_may_be_late() -> None:
    assert not complaints_of_ages(job(), *attempts(90 * MINUTE_MS))


def test_the_age_counts_from_the_first_attempt_and_not_from_the_due_time() -> None:
    assert not complaints_of_ages(job(), *attempts(90 * MINUTE_MS, 91 * MINUTE_MS))


def test_a_first_attempt_that_was_made_again_begins_the_age() -> None:
    first, again, retry = attempts(0, 90 * MINUTE_MS, 91 * MINUTE_MS)
    again = requested(60, late_ms=90 * MINUTE_MS, attempt=1)
    assert not complaints_of_ages(job(), first, again, retry)


def test_a_longer_max_age_that_was_written_meanwhile_counts() -> None:
    assert not complaints_of_ages(job(), job("put", "2-b", 30, "2h"), *attempts(0, 90 * MINUTE_MS))
    assert not complaints_of_ages(job(max_age=None), *attempts(0, 23 * 60 * MINUTE_MS))
    assert complaints_of_ages(job(max_age=None), *attempts(0, 25 * 60 * MINUTE_MS))


def test_a_trigger_that_was_redriven_is_left_out() -> None:
    first, second = requested(60), requested(60, late_ms=90 * MINUTE_MS, attempt=2)
    given_up = run(first, None, "failed")
    redriven = RunStored(second.at, "job", UID, f"{first.due_at}-0", "failed", "claimed", 2, "o")
    assert not complaints_of_ages(job(), first, given_up, redriven, second)


@pytest.mark.parametrize(("age_ms", "is_named"), [(MINUTE_MS, False), (MINUTE_MS - 1, True)])
def test_a_run_that_is_given_up_for_its_age_too_early_is_named(age_ms: int, *, is_named: bool) -> None:
    first = requested(60)
    given_up = RunStored(
        first.at + age_ms, "job", UID, f"{first.due_at}-0", "claimed", "failed", 1, "o", f"It {TOO_LATE}."
    )
    assert bool(complaints_of_ages(job(), first, given_up)) == is_named


def test_a_definition_counts_from_its_commit_also_where_the_clock_of_its_writer_was_ahead() -> None:
    first, shorter = requested(60), job("put", "2-b", 61, "30s")
    assert isinstance(shorter, Written)
    ahead = replace(shorter, asked_at=shorter.asked_at + 45_000, ahead_ms=45_000)
    given_up = RunStored(
        first.at + 32_000, "job", UID, f"{first.due_at}-0", "claimed", "failed", 1, "o", f"It {TOO_LATE}."
    )
    assert not complaints_of_ages(job(), ahead, first, given_up)


def test_a_trigger_that_has_its_turn_begins_within_a_minute_unless_its_job_is_paused() -> None:
    fourth, at = str(NOON + 240_000), NOON + 250_000
    begins = (Requested, Concluded, RunStored)
    held = [each for each in in_turn() if not (isinstance(each, begins) and fourth in str(each))]
    pause = written("pause", "1-a", 250, paused_at=at, cut=NOON + 5, since=NOON - 1, definition=TURNS)
    for resumed_at_s, is_named in ((300, True), (340, False)):
        resume = written("resume", "2-b", resumed_at_s, since=at, definition=TURNS)
        found = list(who_waits_goes_promptly(Tale(in_order(held, [pause, resume]), THROUGH, CALM_AT)))
        assert any(f"{UID}-{fourth}-0 waited for" in each for each in found) == is_named


def test_a_retry_by_hand_may_pass_one_that_a_pause_held_as_it_took_the_line() -> None:
    at = NOON + 250_000
    pause = written("pause", "1-a", 250, paused_at=at, cut=NOON + 5, since=NOON - 1, definition=TURNS)
    resume = written("resume", "2-b", 340, since=at, definition=TURNS)
    life = lives_of([written("create", "1-a", 0, definition=TURNS), pause, resume])[UID]
    by_hand = replace(line(260, 240), holder=replace(place(240), is_asked_for=True))
    for taken_at, may_pass in ((NOON + 260_000, True), (NOON + 500_000, False)):
        turns = Turns(life, {}, lines=[by_hand], held_since=taken_at)
        assert passes_by_hand(turns, requested(240, attempt=2, late_ms=300_000)) == may_pass
