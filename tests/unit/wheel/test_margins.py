"""The margins of base/timing.py: the latest commit under the greatest skew, and many updates in a row."""

from collections.abc import Callable

import pytest
from tests.fakes.ledger import Ledger
from tests.fakes.world import NOON, World

from sweephand.base.concurrency import always
from sweephand.base.timing import (
    API_LIMIT_MS,
    BUCKET_MS,
    CLOCK_SKEW_MAX_MS,
    DIRECT_WINDOW_MS,
    HORIZON_MS,
    LEASE_MS,
    LEASE_RENEWAL_MS,
    QUEUE_DELAY_MAX_MS,
    REQUEST_TIME_LIMIT_MS,
    UNKNOWN_GRACE_MS,
)
from sweephand.model.job import Job
from sweephand.wheel.span import PUT_OFF_MS
from sweephand.wheel.sweep import horizon

MINUTE = 60_000


def test_the_horizon_is_the_end_of_the_second_minute_after_this_one() -> None:
    for second in (0, 1, 59):
        assert horizon(NOON + second * 1_000) == NOON + 3 * MINUTE
    assert horizon(NOON + MINUTE) == NOON + 4 * MINUTE


def test_the_constants_leave_the_margins_that_the_protocol_rests_on() -> None:
    assert DIRECT_WINDOW_MS - HORIZON_MS - API_LIMIT_MS >= CLOCK_SKEW_MAX_MS
    assert UNKNOWN_GRACE_MS - API_LIMIT_MS >= CLOCK_SKEW_MAX_MS
    assert REQUEST_TIME_LIMIT_MS < API_LIMIT_MS
    # Tick may wake anywhere in its minute and slip over its end: a minute before something is due, an earlier
    # tick has reached it.
    assert HORIZON_MS >= 3 * BUCKET_MS
    # A timer that is put off lies beyond the sweep that puts it off.
    assert PUT_OFF_MS >= HORIZON_MS
    # A trigger sent by arming or by a sweep fits the queue's longest delay, even if one clock is behind.
    assert max(DIRECT_WINDOW_MS, HORIZON_MS) + CLOCK_SKEW_MAX_MS <= QUEUE_DELAY_MAX_MS
    assert 2 * LEASE_RENEWAL_MS < LEASE_MS


@pytest.mark.parametrize("early_ms", [0, 30_000, 59_800])
@pytest.mark.parametrize("late_ms", [0, 30_000, 59_800, 60_300])
def test_ticks_at_any_two_seconds_of_their_minutes_make_nothing_late(early_ms: int, late_ms: int) -> None:
    world = World()
    world.put("full", schedule="* * * * *")
    world.put("half", schedule="30 * * * * *")
    for minute in range(10):
        world.run_until(NOON + minute * MINUTE + (early_ms, late_ms)[minute % 2], ticking=False)
        world.tick()
    world.run_until(NOON + 10 * MINUTE, ticking=False)
    assert len(world.consumers.ids) == 2 * 10
    assert world.consumers.times == [attempt.trigger.due_at for attempt in world.consumers.attempts]


def committing_late(world: World, action: Callable[[], object]) -> None:
    """Let the next commit come as late as the API's time limit lets it, and do something just before it.

    It leaves in time, and is under way until then.
    """
    put = world.jobs.put

    def late_put(job: Job, replacing: str | None, in_time: Callable[[], bool] = always) -> bool:
        assert in_time()
        world.jobs.put = put  # type: ignore[method-assign]
        world.clock.time = NOON + API_LIMIT_MS
        action()
        return put(job, replacing)

    world.jobs.put = late_put  # type: ignore[method-assign]


@pytest.mark.parametrize("is_ahead", [True, False], ids=["wheel ahead", "api behind"])
@pytest.mark.parametrize("into_minute_ms", [0, 30_000, 59_999])
def test_no_sweep_passes_a_timer_whose_job_is_not_committed_yet(
    into_minute_ms: int, *, is_ahead: bool
) -> None:
    world = World(NOON + into_minute_ms)
    ledger = Ledger(world)
    if is_ahead:
        world.wheel_clock.ahead_ms = CLOCK_SKEW_MAX_MS
    else:
        world.api_clock.ahead_ms = -CLOCK_SKEW_MAX_MS
    requested_at = world.api_clock.now()

    def last_moment() -> None:
        world.clock.time = NOON + into_minute_ms + API_LIMIT_MS
        world.tick()

    committing_late(world, last_moment)
    job = world.put(schedule="@every 1s", dueTime=f"{DIRECT_WINDOW_MS + 1}ms", repeats=3).job
    assert job.series.due_at == requested_at + DIRECT_WINDOW_MS + 1
    world.run_until(world.clock.time + 10 * MINUTE)
    ledger.check(world.clock.time)
    assert len(world.consumers.dues) == 3


@pytest.mark.parametrize("is_ahead", [True, False], ids=["delivery ahead", "api behind"])
def test_no_trigger_is_dropped_whose_job_is_not_committed_yet(world: World, *, is_ahead: bool) -> None:
    if is_ahead:
        world.delivery_clock.ahead_ms = CLOCK_SKEW_MAX_MS
    else:
        world.api_clock.ahead_ms = -CLOCK_SKEW_MAX_MS

    def last_moment() -> None:
        world.clock.time = NOON
        world.run_until(NOON + API_LIMIT_MS, ticking=False)
        assert not world.consumers.attempts

    committing_late(world, last_moment)
    world.put(dueTime="0s")
    world.run_until(world.clock.time + MINUTE)
    assert len(world.consumers.ids) == 1


def test_triggers_outlast_the_updates_that_come_while_they_wait_in_the_queue(world: World) -> None:
    ledger = Ledger(world)
    world.put(schedule="@every 10s", data="0")
    for number in range(1, 21):
        world.clock.time += 1_700
        world.put(schedule="@every 10s", data=str(number))
    world.run_until(NOON + 2 * MINUTE)
    ledger.check(NOON + 2 * MINUTE)
    assert len(world.consumers.ids) == 12


def test_a_wheel_that_stood_still_for_days_delivers_everything_that_it_owes(world: World) -> None:
    ledger = Ledger(world)
    world.put("often", schedule="@every 30m", catchup={"mode": "all"})
    world.put("once", dueTime="25h")
    world.clock.time += 3 * 24 * 60 * MINUTE
    world.run_until(world.clock.time + 10 * MINUTE)
    ledger.check(world.clock.time)
    assert len(world.consumers.ids) == 2 * 72 + 1
