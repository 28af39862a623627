"""The oracle on what operators change or lose: limits, lanes, the switch, and tables of timers."""

from dataclasses import replace

import pytest
from tests.simulation.oracle.stack import LATE_MS_MAX, REQUESTS_GO_ON_MS, SPARE_MINUTES
from tests.simulation.traces.broken_stacks import AT_S, BEGUN_ANEW, REBUILT, delayed, herd, lost, switched_off
from tests.simulation.traces.doctored import changed, complaints, of, with_, without
from tests.simulation.traces.rare_events import LimitSet
from tests.simulation.traces.stories import (
    NOON,
    UID,
    answered,
    deleted,
    every_minute,
    in_order,
    retried,
    run,
    timer,
)
from tests.simulation.traces.stories_of_ends import TRIGGER, reported
from tests.simulation.traces.trace import Concluded, CursorStored, Event, Mishap, Requested, RunStored


def limit_is_named(*events: Event) -> bool:
    return any("a minute are allowed" in each for each in complaints(with_(*events)(every_minute())))


def exceeds(*events: Event, size: int) -> bool:
    return limit_is_named(*events, *herd(size))


def test_the_limit_holds_for_all_the_time_that_has_passed_and_some_minutes_more() -> None:
    # Two minutes after noon, two triggers of the story have left as well.
    allowed = 10 * (2 + SPARE_MINUTES)
    assert not exceeds(LimitSet(NOON, 10), size=allowed - 2)
    assert exceeds(LimitSet(NOON, 10), size=allowed + 1)


def test_a_flood_of_less_than_four_minutes_is_named() -> None:
    # A change of a limit once released as many, and the oracle allowed four minutes more than had passed.
    assert exceeds(LimitSet(NOON, 10), size=10 * 5)


def test_a_trigger_that_was_claimed_before_a_change_has_used_a_slot_of_before() -> None:
    # The functions crashed before their requests, so the queue showed the messages again later.
    claims = [
        replace(run(each, None, "claimed"), run_id=f"herd{number}-0") for number, each in enumerate(herd(9))
    ]
    left = [replace(each, trigger_id=f"{UID}-herd{number}-0") for number, each in enumerate(herd(9))]
    change = LimitSet(NOON + 100_000, 1)
    before, after = ([replace(each, at=NOON + at) for each in claims] for at in (99_000, 101_000))
    assert limit_is_named(change, *left)
    assert not limit_is_named(change, *left, *before)
    assert limit_is_named(change, *left, *after)


def test_another_limit_begins_anew() -> None:
    assert not exceeds(LimitSet(NOON, 1), LimitSet(NOON + 119_000, 100), size=200)


@pytest.mark.parametrize(("since_s", "is_excused"), [(0, True), (-400, False)])
def test_slots_that_came_while_functions_were_short_are_used_afterwards(
    since_s: int, *, is_excused: bool
) -> None:
    shortage = Mishap(NOON + since_s * 1_000, "shortage of 100000 ms", "Lambda")
    assert exceeds(shortage, LimitSet(NOON + 110_000, 10), size=10 * 3) != is_excused


def is_late(events: list[Event]) -> bool:
    return any("of high priority" in each for each in complaints(events))


def test_a_high_trigger_may_take_a_moment() -> None:
    assert not is_late(delayed(LATE_MS_MAX - 100, priority="high"))


@pytest.mark.parametrize("fields", [{"priority": "low"}, {"priority": "high", "overlap": "wait"}])
def test_others_may_wait_for_their_turn(fields: dict[str, str]) -> None:
    assert not is_late(delayed(LATE_MS_MAX + 100, **fields))


def test_what_has_begun_may_end_after_the_stack_is_switched_off() -> None:
    begun = changed(of(CursorStored), tick_began_at=NOON + 299_000)
    is_over = complaints(begun(with_(switched_off(299, 2))(every_minute())))
    assert REQUESTS_GO_ON_MS > 60_000, "a trigger of the story is due within that time"
    assert not any("the stack was off" in each for each in is_over)


def test_a_tick_that_begins_after_the_stack_is_switched_off_sweeps_nothing() -> None:
    begun = changed(of(CursorStored), tick_began_at=NOON + 299_001)
    named = complaints(begun(with_(switched_off(299, 2))(every_minute())))
    assert sum("the cursor of shard 0 moved" in each for each in named) == 2


def test_a_rebuild_makes_the_chain_whole_and_cursors_begin_anew() -> None:
    assert complaints(every_minute()) == []
    assert complaints(with_(lost(AT_S), REBUILT, BEGUN_ANEW)(every_minute())) == []


def deleted_while_retrying(*more: Event) -> list[str]:
    """The complaints about a job that was deleted while a run of it was to be tried again."""
    untried = without(of(Requested, attempt=3), of(Concluded, attempt=3), of(RunStored, attempts=3))
    story = in_order(untried(retried()), deleted(400), answered("delete", "", 1_900), more)
    return [each for each in complaints(story) if "is retrying, and its job was deleted" in each]


def test_a_retry_that_was_not_in_the_wheel_ends_with_its_job_although_the_table_was_lost() -> None:
    assert deleted_while_retrying()
    # The oracle once excused every run of a world that had lost its table.
    assert deleted_while_retrying(lost(AT_S))
    retry = timer(380, at_s=195, kind="retry", what=f"{UID}-{NOON + 180_000}-0")
    assert not deleted_while_retrying(retry, lost(AT_S))


def deleted_while_running(deleted_s: int, *more: Event) -> list[str]:
    """The complaints about a run whose consumer sends heartbeats until 12:04:45, and then dies."""
    unfinished = [
        each for each in reported() if not (isinstance(each, RunStored) and each.state == "succeeded")
    ]
    story = in_order(unfinished, deleted(deleted_s), more)
    return [each for each in complaints(story) if "is running since" in each]


def test_a_deadline_is_lost_with_the_table_only_if_its_job_is_deleted_before_a_rebuild() -> None:
    deadline = timer(600, at_s=181, kind="deadline", what=f"{TRIGGER},1,o")
    assert deleted_while_running(290)
    assert deleted_while_running(290, lost(200))
    assert not deleted_while_running(290, deadline, lost(200))
    assert deleted_while_running(741, deadline, lost(200))
    assert deleted_while_running(290, deadline, lost(200, 190))
    again = timer(600, at_s=230, kind="deadline", what=f"{TRIGGER},1,o")
    assert deleted_while_running(290, deadline, lost(200), again)
