"""Ticking: the heartbeat, the shards, and how many sweepers a minute needs."""

from typing import Any

import pytest
from tests.fakes.faults import calls_of, slow
from tests.fakes.world import NOON, World

from sweephand.model.timer import Cursor, Lease, WheelState
from sweephand.wheel.arm import ShardCount
from sweephand.wheel.tick import (
    FINDINGS_AGE_MAX_MS,
    TRIGGERS_PER_SWEEPER,
    WARM_FUNCTIONS,
    sweepers_needed,
)


def found(*numbers: int, swept_at: int = NOON) -> WheelState:
    leases = tuple(
        Lease(shard, Cursor(), found=each, swept_at=swept_at) for shard, each in enumerate(numbers)
    )
    return WheelState(leases, len(leases), None)


@pytest.mark.parametrize(
    ("numbers", "sweepers"),
    [
        ((), 1),
        ((0, 0, 0, 0), 1),
        ((TRIGGERS_PER_SWEEPER, 0, 0, 0), 1),
        ((TRIGGERS_PER_SWEEPER, 1, 0, 0), 2),
        ((TRIGGERS_PER_SWEEPER,) * 3 + (0,), 3),
        ((TRIGGERS_PER_SWEEPER * 9,) * 4, 4),  # no more than there are shards
        ((TRIGGERS_PER_SWEEPER,) * 9, 5),  # no more than may run
    ],
)
def test_a_tick_starts_as_many_sweepers_as_the_last_sweeps_found_work_for(
    numbers: tuple[int, ...], sweepers: int
) -> None:
    assert sweepers_needed(found(*numbers), 5, NOON) == sweepers


def test_triggers_that_a_sweep_found_long_ago_start_no_sweeper() -> None:
    state = found(*(TRIGGERS_PER_SWEEPER,) * 4)
    assert sweepers_needed(state, 5, NOON + FINDINGS_AGE_MAX_MS) == 4
    assert sweepers_needed(state, 5, NOON + FINDINGS_AGE_MAX_MS + 1) == 1


def behind(shard: int, **fields: Any) -> Lease:
    return Lease(shard, Cursor(), swept_at=NOON)._replace(**fields)


@pytest.mark.parametrize(
    ("lease", "is_counted"),
    [
        (behind(0), False),
        (behind(0, left_at=NOON - 3_600_000), True),
        (behind(0, left_at=NOON, swept_at=NOON - FINDINGS_AGE_MAX_MS - 1), False),
        (behind(0, owner="dead", lease_until=NOON - 1), True),
        (behind(0, owner="still at it", lease_until=NOON + 1), True),
        (behind(0, owner="dead for long", lease_until=NOON - FINDINGS_AGE_MAX_MS - 1), False),
    ],
)
def test_each_shard_that_is_behind_gets_a_sweeper_and_the_others_one(
    lease: Lease, *, is_counted: bool
) -> None:
    leases = [behind(shard) for shard in range(8)]
    for count in (1, 3, 8):
        state = WheelState(tuple([lease] * count + leases[count:]), 8, None)
        assert sweepers_needed(state, 8, NOON) == (min(count + 1, 8) if is_counted else 1)
        assert sweepers_needed(state, 2, NOON) == (2 if is_counted else 1)


def test_a_tick_reports_how_far_behind_the_wheel_is() -> None:
    world = World(shards=4)
    assert world.tick().behind_ms == 0
    for shard, left_at in ((1, NOON - 60_000), (2, NOON - 3_600_000)):
        lease = world.leases.claim(world.leases.state().leases[shard], "late", NOON, NOON)
        assert lease is not None
        world.leases.release(lease, 0, NOON, left_at=left_at)
    world.clock.time += 60_000
    assert world.tick().behind_ms == 3_660_000


def test_a_tick_begins_with_another_shard_each_minute() -> None:
    world = World(shards=3)
    page, seen = world.timers.page, []

    def watched(shard: int, *rest: Any) -> Any:
        seen.append(shard)
        return page(shard, *rest)

    world.timers.page = watched  # type: ignore[assignment, method-assign]
    for _ in range(3):
        world.tick()
        world.clock.time += 60_000
    assert seen == [0, 1, 2, 1, 2, 0, 2, 0, 1]


def test_shards_that_a_tick_has_no_time_for_get_sweepers_at_once() -> None:
    world = World(shards=6)
    for number in range(60):
        world.put(f"job-{number}", dueTime="310s")
    world.run_until(NOON + 180_000, ticking=False)
    slow(world, 20_000, "before jobs.briefs")
    started: list[int] = []
    world.sweepers.start = started.extend  # type: ignore[assignment, method-assign]
    ticked = world.tick()
    assert ticked.swept is not None
    assert len(ticked.swept.left) == len(set(ticked.swept.left)) > 1
    assert started == list(ticked.swept.left)


def test_a_tick_writes_its_heartbeat_reads_the_leases_once_and_sweeps_by_itself() -> None:
    world = World(NOON + 60_000)  # not a fourth minute
    calls = [call for call in calls_of(world, world.tick) if call.startswith("before")]
    assert calls == ["before leases.state", "before leases.beat", "before timers.page", "before timers.page"]
    assert world.leases.state().heartbeat_at == NOON + 60_000


def test_a_tick_creates_missing_shards_and_never_removes_one() -> None:
    world = World(shards=2)
    world.shards = 5
    world.tick()
    state = world.leases.state()
    assert (state.shards, len(state.leases)) == (5, 5)
    world.shards = 3
    world.tick()
    assert world.leases.state().shards == 5


def busy(world: World, sweepers: int) -> None:
    """Have the leases say that so many sweepers were needed in the last minute."""
    world.leases._leases = {
        lease.shard: lease._replace(
            found=TRIGGERS_PER_SWEEPER if lease.shard < sweepers else 0, swept_at=NOON
        )
        for lease in world.leases.state().leases
    }


def test_a_busy_wheel_gets_several_sweepers_each_with_a_shard_of_its_own_to_begin_at() -> None:
    world = World(shards=8)
    busy(world, 3)
    started: list[int] = []
    world.sweepers.start = started.extend  # type: ignore[assignment, method-assign]
    ticked = world.tick()
    assert (ticked.sweepers, ticked.swept) == (3, None)
    # Noon is a minute whose number eight divides.
    assert started == [0, 2, 5]
    world.clock.time += 60_000
    started.clear()
    world.tick()
    assert started == [1, 3, 6]


def test_several_sweepers_leave_the_next_minute_as_many() -> None:
    world = World(shards=3)
    for number in range(40):
        world.put(f"job-{number}", dueTime="330s")
    world.run_until(NOON + 299_000, ticking=False)
    world.clock.time += 1_000
    busy(world, 3)
    world.leases._leases = {
        lease.shard: lease._replace(swept_at=world.clock.time - 60_000)
        for lease in world.leases.state().leases
    }
    assert world.tick().sweepers == 3
    assert sum(lease.found for lease in world.leases.state().leases) == 40


def test_two_ticks_at_once_send_nothing_twice() -> None:
    world = World(shards=2)
    for number in range(5):
        world.put(f"job-{number}", dueTime="310s")
    world.run_until(NOON + 180_000, ticking=False)
    world.tick()
    world.tick()
    assert len(world.queue.waiting) == 5


def test_the_number_of_shards_is_read_once_a_minute_and_raised_where_it_is_too_low() -> None:
    world = World(shards=2)
    shards = ShardCount(leases=world._port(world.leases, "leases"), clock=world.clock, shards=4)
    assert calls_of(world, lambda: [shards() for _ in range(3)]) == [
        "before leases.state",
        "after leases.state",
        "before leases.raise_shards",
        "after leases.raise_shards",
    ]
    assert shards() == 4
    world.leases.raise_shards(9)
    world.clock.time += 59_999
    assert shards() == 4
    world.clock.time += 1
    assert shards() == 9


def test_delivery_functions_are_woken_in_each_fourth_minute(world: World) -> None:
    told = []
    for _ in range(9):
        told.append(world.tick().woken)
        world.clock.time += 60_000
    assert world.delivery_functions.woken == [WARM_FUNCTIONS] * 3
    assert told == [2, 0, 0, 0, 2, 0, 0, 0, 2]


def test_a_slow_lambda_delays_no_sweep() -> None:
    calls = calls_of(world := World(), world.tick)
    assert calls.index("before delivery_functions.wake") > calls.index("after timers.page")
