"""The wheel's history: tick writes down when the stack stood still, and when its limit changed."""

import pytest
from tests.fakes.faults import failing
from tests.fakes.world import NOON, World

from sweephand.base.instants import MINUTE_MS
from sweephand.base.timing import HEARTBEAT_GAP_MS
from sweephand.model.wheel_event import WheelEvent


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
