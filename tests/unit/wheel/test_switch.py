"""The stack's switch, and the history in which tick writes down when the stack stood still."""

import pytest
from tests.fakes.faults import calls_of, failing
from tests.fakes.shards import lease_of
from tests.fakes.world import NOON, World

from sweephand.base.errors import StoreError
from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS
from sweephand.base.timing import HEARTBEAT_GAP_MS
from sweephand.model.wheel_event import WheelEvent


def switched_off(*, now: int = NOON) -> World:
    world = World(now, shards=1)
    world.is_enabled = False
    return world


def requested(world: World) -> list[int]:
    """The due times for which a request has left, in minutes after noon."""
    return [(each.trigger.due_at - NOON) // MINUTE_MS for each in world.consumers.attempts]


def test_a_tick_of_a_stack_that_is_off_writes_its_heartbeat_and_nothing_else() -> None:
    world = switched_off()
    cursor = lease_of(world).cursor
    calls = calls_of(world, world.tick)
    assert [each for each in calls if each.startswith("before")] == [
        "before leases.state",
        "before leases.beat",
    ]
    assert world.leases.state().heartbeat_at == NOON
    assert lease_of(world).cursor == cursor
    assert world.delivery_functions.woken == []


def test_every_tick_says_since_when_the_stack_is_off_until_it_is_on_again() -> None:
    world = switched_off()
    assert world.tick().off_since == NOON
    world.clock.time += 5 * MINUTE_MS
    assert world.tick().off_since == NOON
    assert world.leases.state().off_since == NOON
    world.is_enabled = True
    assert world.tick().off_since is None
    assert world.leases.state().off_since is None


def test_what_falls_due_while_the_stack_is_off_is_delivered_when_it_is_on(world: World) -> None:
    world.put("hourly", schedule="*/10 * * * *")
    world.put("once", dueTime="25m")
    world.run_until(NOON + 12 * MINUTE_MS)
    assert requested(world) == [10]
    world.is_enabled = False
    world.run_until(NOON + 47 * MINUTE_MS)
    assert requested(world) == [10]
    world.is_enabled = True
    world.run_until(NOON + 55 * MINUTE_MS)
    assert sorted(requested(world)) == [10, 20, 25, 30, 40, 50]


def test_catch_up_decides_what_fires_of_a_longer_time_off(world: World) -> None:
    world.put("often", schedule="*/10 * * * *")
    world.run_until(NOON + 15 * MINUTE_MS)
    world.is_enabled = False
    world.run_until(NOON + 5 * HOUR_MS)
    world.is_enabled = True
    world.run_until(NOON + 5 * HOUR_MS + 5 * MINUTE_MS)
    # By default, what is up to an hour late fires, and the newest of what is later.
    assert sorted(requested(world)) == [10, 240, 250, 260, 270, 280, 290, 300]


def test_the_api_goes_on_while_the_stack_is_off() -> None:
    world = switched_off()
    world.put("soon", dueTime="10s")
    world.trigger("soon")
    world.run_until(NOON + 10 * MINUTE_MS)
    assert requested(world) == []
    world.is_enabled = True
    world.run_until(NOON + 11 * MINUTE_MS)
    assert len(world.consumers.attempts) == 2


def test_a_tick_does_not_fail_because_the_stack_is_off_for_long() -> None:
    world = switched_off()
    world.tick()
    world.clock.time += 100 * DAY_MS
    assert world.tick().off_since == NOON
    assert world.leases.state().heartbeat_at == world.clock.time


def test_a_heartbeat_that_cannot_be_written_is_a_fault_of_the_tick() -> None:
    world = switched_off()
    failing(world, "leases.beat", times=1)
    with pytest.raises(ExceptionGroup) as caught:
        world.tick()
    assert [type(each) for each in caught.value.exceptions] == [StoreError]


def ticking(world: World, *after_ms: int) -> list[WheelEvent]:
    """Tick so many ms after each tick before; return the history."""
    for each in after_ms:
        world.clock.time += each
        world.tick()
    return list(world.wheel_history.after(0, 10))


def test_a_stack_that_ticks_has_no_history() -> None:
    assert ticking(World(), 0, MINUTE_MS, 2 * MINUTE_MS, HEARTBEAT_GAP_MS) == []


def test_minutes_without_a_tick_are_one_event() -> None:
    found = ticking(World(), 0, 10 * MINUTE_MS, MINUTE_MS)
    assert found == [WheelEvent("stopped", NOON + 10 * MINUTE_MS, NOON)]


def test_a_stack_that_was_switched_off_has_an_event_from_then_on_until_it_is_on_again(world: World) -> None:
    ticking(world, 0)
    world.is_enabled = False
    assert ticking(world, MINUTE_MS, MINUTE_MS) == []
    world.is_enabled = True
    assert ticking(world, MINUTE_MS) == [WheelEvent("off", NOON + 3 * MINUTE_MS, NOON + MINUTE_MS)]


def test_the_limit_that_was_in_force_is_kept_when_it_changes(world: World) -> None:
    for limit in (0, 600, 600, 60):
        world.triggers_per_minute_max = limit
        ticking(world, MINUTE_MS)
    assert list(world.wheel_history.after(0, 10)) == [
        WheelEvent("limit", NOON + 2 * MINUTE_MS, NOON + MINUTE_MS, 0),
        WheelEvent("limit", NOON + 4 * MINUTE_MS, NOON + 3 * MINUTE_MS, 600),
    ]


def test_a_history_that_cannot_be_written_keeps_tick_from_no_sweep(world: World) -> None:
    ticking(world, 0)
    world.put(schedule="@every 1m")
    failing(world, "wheel_history.put")
    with pytest.raises(ExceptionGroup):
        ticking(world, 10 * MINUTE_MS)
    assert world.leases.state().heartbeat_at == world.clock.time
    assert world.queue.waiting
