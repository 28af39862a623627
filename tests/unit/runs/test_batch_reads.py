"""How far a batch is: its estimated end, and which batches there are before one of their runs is over."""

from dataclasses import replace
from typing import Any

import pytest
from tests.fakes.time_off import expire
from tests.fakes.world import NOON, World, key_of

from sweephand.base.errors import NotFoundError
from sweephand.base.instants import DAY_MS, HOUR_MS, INSTANT_MAX, MINUTE_MS, Instant
from sweephand.model.attempt import Answer
from sweephand.model.batch_mark import BatchName, BatchSize
from sweephand.model.batch_progress import BatchHead, PageName, ProgressPage
from sweephand.model.run_id import Demand, RunName
from sweephand.runs.batch_reads import BatchReader, BatchView

LAST_DAY = INSTANT_MAX - DAY_MS


def reader(world: World) -> BatchReader:
    return world.api().batches


def shown(world: World, due_at: Instant, now: Instant) -> BatchView:
    return reader(world).get(key_of(), RunName(due_at, 0), now)


def one_is_over(world: World, size: BatchSize, due_at: Instant, began_at: Instant | None = None) -> None:
    """The first run of a batch has succeeded."""
    name = BatchName(key_of(), world.stored().uid, due_at)
    world.batches.advance(BatchHead(name, size, expires_at=INSTANT_MAX, began_at=began_at))
    empty = ProgressPage(PageName(name, 0, 0))
    world.batches.mark(empty.with_marks([(0, "succeeded")], INSTANT_MAX), empty)


def test_an_end_that_no_answer_can_show_is_not_estimated(world: World) -> None:
    world.put(dueTime="0s", batch={"count": 10_000_000})
    one_is_over(world, BatchSize(10_000_000, 0), NOON)
    assert shown(world, NOON, NOON + DAY_MS).estimated_end_at is None
    size = BatchSize(2, 4 * DAY_MS)
    one_is_over(world, size, LAST_DAY)
    assert shown(world, LAST_DAY, LAST_DAY + 1).estimated_end_at is None


def test_the_end_of_a_batch_is_estimated_by_its_pace_since_it_began(world: World) -> None:
    world.put(dueTime="0s", batch={"count": 4})
    one_is_over(world, BatchSize(4, 0), NOON, began_at=NOON + DAY_MS)
    now = NOON + DAY_MS + MINUTE_MS
    assert shown(world, NOON, now).estimated_end_at == now + 3 * MINUTE_MS


def test_a_batch_whose_last_trigger_is_due_after_the_last_instant_has_no_estimated_end() -> None:
    world = World(LAST_DAY)
    world.put(dueTime="1h", batch={"count": 2, "window": "4d"})
    due_at = world.stored().series.next_after(LAST_DAY)
    assert due_at is not None
    assert shown(world, due_at.due_at, LAST_DAY).estimated_end_at is None


def missing(world: World, due_at: Instant) -> str:
    with pytest.raises(NotFoundError) as refused:
        shown(world, due_at, world.clock.time)
    return str(refused.value)


def hourly(**written: Any) -> World:
    """A job with batches of 3 over a minute, at each full hour after noon."""
    world = World()
    world.put(schedule="@every 1h", batch={"count": 3, "window": "1m"}, **written)
    return world


@pytest.mark.parametrize("hours", [1, 2, 3])
def test_a_batch_that_was_skipped_as_a_misfire_is_not_found_and_the_answer_says_so(hours: int) -> None:
    world = hourly(catchup={"mode": "none", "window": "1h"})
    world.clock.time = NOON + 5 * HOUR_MS
    assert shown(world, NOON + hours * HOUR_MS, world.clock.time).state == "running"
    world.run_until(world.clock.time + 2 * MINUTE_MS)
    said = missing(world, NOON + hours * HOUR_MS)
    assert f"misfire, for which the run {NOON + HOUR_MS}-0 has the record" in said
    assert shown(world, NOON + 5 * HOUR_MS, world.clock.time).counts.over == 3


def test_the_record_of_misfires_is_found_behind_many_runs_on_demand() -> None:
    world = hourly(catchup={"mode": "none", "window": "1h"})
    world.clock.time = NOON + 5 * HOUR_MS
    world.run_until(world.clock.time + 2 * MINUTE_MS)
    first = world.runs.page(key_of(), None, f"{NOON + 2 * HOUR_MS:014d}", 1).items[0]
    for number in range(300):
        asked = replace(first, demand=Demand("manual", f"{number:032d}"), due_at=NOON + HOUR_MS + number)
        assert world.runs.record(replace(asked, state="succeeded", count=1, last_due_at=None))
    assert "misfire" in missing(world, NOON + 2 * HOUR_MS)


def test_a_batch_that_a_resume_has_skipped_is_not_found_and_the_answer_says_so() -> None:
    world = hourly()
    world.pause()
    world.clock.time = NOON + 3 * HOUR_MS + 1
    assert shown(world, NOON + 2 * HOUR_MS, world.clock.time).state == "waiting"
    world.resume(mode="latest")
    assert "misfire" in missing(world, NOON + 2 * HOUR_MS)
    assert shown(world, NOON + 3 * HOUR_MS, world.clock.time).state == "running"


@pytest.mark.parametrize("is_paused", [False, True])
def test_a_batch_whose_marks_have_expired_is_not_found(*, is_paused: bool) -> None:
    world = hourly(repeats=2, retention="3650d")
    world.run_until(NOON + HOUR_MS + 2 * MINUTE_MS)
    assert shown(world, NOON + HOUR_MS, world.clock.time).state == "succeeded"
    world.clock.time += 3 * 365 * DAY_MS
    expire(world)
    if is_paused:
        world.pause()
    missing(world, NOON + HOUR_MS)


def test_a_batch_with_a_run_that_is_tried_again_after_weeks_is_running() -> None:
    retry = {"initialDelay": "20d", "maxDelay": "20d", "maxAge": "30d"}
    world = hourly(repeats=1, retry=retry)
    world.consumers.answering = lambda _: Answer(succeeded=False, code=503)
    world.run_until(NOON + HOUR_MS + 2 * MINUTE_MS)
    world.clock.time += 15 * DAY_MS
    assert shown(world, NOON + HOUR_MS, world.clock.time).state == "running"


def test_a_batch_that_has_not_come_for_as_long_as_timers_are_kept_is_running_and_then_not_found() -> None:
    world = hourly(repeats=1, retention="90d")
    world.clock.time = NOON + HOUR_MS + 14 * DAY_MS
    assert shown(world, NOON + HOUR_MS, world.clock.time).state == "running"
    world.clock.time += MINUTE_MS
    missing(world, NOON + HOUR_MS)
