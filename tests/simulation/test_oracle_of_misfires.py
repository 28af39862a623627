"""Misfires that the oracle excuses: a sweep found them late, and later events hide that."""

import pytest
from tests.simulation.oracle.jobs import SKEW_MS
from tests.simulation.oracle.oracle import judge
from tests.simulation.traces.doctored import changed, of, without
from tests.simulation.traces.stories import (
    NOON,
    THROUGH,
    UID,
    cursor,
    delivered,
    in_order,
    misfire,
    put_off,
    timer,
    written,
)
from tests.simulation.traces.trace import Buried, CursorStored, Event, Mishap, Requested, RunStored, Written

#: The window of the story's job.
WINDOW_MS = 120_000

LATEST = {"schedule": "@every 60s", "catchup": {"mode": "latest", "window": "2m"}, "data": '"x"'}


def complaints(events: list[Event], *more: Event) -> list[str]:
    return judge(in_order(events, more), through=THROUGH, calm_at=NOON - 380_000)


def without_run(events: list[Event], due_s: int) -> list[Event]:
    run_id = f"{NOON + due_s * 1_000}-0"
    return without(of(Requested, due_s=due_s), of(RunStored, run_id=run_id))(events)


def not_requested(said: list[str]) -> bool:
    return any("no request left for it" in each for each in said)


def test_a_timer_that_was_put_off_is_as_late_as_at_its_first_judgement() -> None:
    record = misfire(300, late_ms=WINDOW_MS + 20_000)
    assert complaints(without_run(put_off(copied_s=500, judged_s=440), 300), record) == []
    said = complaints(without_run(put_off(copied_s=500, judged_s=310, found_s=900), 300), record)
    assert not_requested(said)


def test_a_timer_is_judged_anew_if_its_sweeper_ended_after_it_had_written_a_copy() -> None:
    record = misfire(300, late_ms=WINDOW_MS + 390_000)
    story = without_run(put_off(copied_s=500, judged_s=310, found_s=1_100), 300)
    late = changed(of(CursorStored, at=NOON + 500_000), at=NOON + 800_000)(story)
    assert not_requested(complaints(story, record))
    assert not not_requested(complaints(late, record))


@pytest.mark.parametrize(
    ("copied_s", "late_ms"),
    [
        # The sweep that recorded the misfire had the copy. Less its wait, the copy was not late.
        (180, WINDOW_MS + 20_000),
        # The occurrence was not late, by any clock.
        (500, WINDOW_MS - 2 * SKEW_MS),
    ],
)
def test_any_other_record_of_a_skipped_misfire_is_not_believed(copied_s: int, late_ms: int) -> None:
    record = misfire(300, late_ms=late_ms)
    assert not_requested(complaints(without_run(put_off(copied_s=copied_s), 300), record))


def test_a_misfire_may_be_skipped_for_a_trigger_that_crashed_its_functions() -> None:
    story = changed(of(Written), definition=LATEST)(put_off(found_s=800))
    for due_s in (300, 360, 420, 660, 720):
        story = without_run(story, due_s)
    assert not_requested(complaints(story))
    reason = "Sweephand failed to handle it: 5 functions crashed while handling it."
    crashes = (Mishap(NOON + 790_000 + each, "kill", "deliver 1 runs.claim") for each in range(5))
    said = complaints(story, Buried(NOON + 800_000, f"{UID}-{NOON + 720_000}-0", reason), *crashes)
    assert not not_requested(said)


def batch_cut_short(*, died_s: int, found_s: int) -> list[Event]:
    """A batch of three at 5:00. One trigger left, and its sweeper died. A later sweep was done with it."""
    definition = {
        "dueTime": "300s",
        "batch": {"count": 3, "window": "1m"},
        "catchup": {"mode": "none", "window": "2m"},
        "data": '"x"',
    }
    return in_order(
        [written("create", "1-a", 0, definition=definition), timer(300, at_s=0)],
        [Mishap(NOON + died_s * 1_000, "kill", "tick 5 before timers.put")],
        delivered(300),
        [cursor(timer(300, at_s=0), found_s, 10)],
    )


def test_the_rest_of_a_batch_may_be_skipped_if_its_sweeper_died_before_its_commit() -> None:
    assert not lacks_indexes(batch_cut_short(died_s=290, found_s=450))


@pytest.mark.parametrize(
    ("died_s", "found_s"),
    [
        # A sweep was done with the batch before it was late.
        (290, 340),
        # No sweeper died after the batch could begin.
        (100, 450),
    ],
)
def test_any_other_batch_that_has_begun_is_whole(died_s: int, found_s: int) -> None:
    assert lacks_indexes(batch_cut_short(died_s=died_s, found_s=found_s))


def lacks_indexes(events: list[Event]) -> bool:
    return any("no request left for the indexes [1, 2]" in each for each in complaints(events))
