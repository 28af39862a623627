"""How many delivery functions tick wakes, for the first triggers after an idle hour and for a coming peak."""

from typing import Any

import pytest
from tests.fakes.doubles import NoDeliveryFunctions
from tests.fakes.faults import failing
from tests.fakes.world import NOON, World

from sweephand.base.errors import StoreError
from sweephand.base.instants import MINUTE_MS
from sweephand.model.timer import Cursor, Lease, WheelState
from sweephand.wheel.tick import WAKE_UPS_MAX, WARM_FUNCTIONS, WarmFunctions, peak_known

#: Not a fourth minute.
LATER = NOON + MINUTE_MS


def warm(deliveries_max: int = 1_000, *, sends_bundles: bool = True) -> tuple[WarmFunctions, list[int]]:
    """What wakes, and how many it has asked for, call by call."""
    functions = NoDeliveryFunctions()
    waking = WarmFunctions(
        delivery_functions=functions, deliveries_max=deliveries_max, sends_bundles=sends_bundles
    )
    return waking, functions.woken


@pytest.mark.parametrize(
    ("peak", "sends_bundles", "deliveries_max", "functions"),
    [
        (0, True, 1_000, 0),
        (1, True, 1_000, 1),
        (32, True, 1_000, 1),
        (33, True, 1_000, 2),
        (1_000, True, 1_000, 32),
        (20, False, 1_000, 2),
        (21, False, 1_000, 3),
        (100_000, True, 1_000, WAKE_UPS_MAX),
        (100_000, True, 50, 25),  # the other half is left for what is under way
        (100_000, True, 5, 3),
    ],
)
def test_a_peak_wakes_as_many_functions_as_it_needs(
    peak: int,
    sends_bundles: bool,  # noqa: FBT001 - a parameter of the test
    deliveries_max: int,
    functions: int,
) -> None:
    waking, woken = warm(deliveries_max, sends_bundles=sends_bundles)
    assert waking.wake(peak, LATER) == functions
    assert woken == ([functions] if functions else [])


def test_functions_that_ran_within_four_minutes_are_not_woken() -> None:
    waking, woken = warm()
    assert waking.wake(1_000, LATER) == 32
    assert waking.wake(1_000, LATER + MINUTE_MS) == 0
    assert waking.wake(1_000, LATER + 2 * MINUTE_MS) == 0
    # The peak of the minute before has kept them warm. Five minutes after that, nothing has.
    assert waking.wake(1_000, LATER + 5 * MINUTE_MS) == 0
    assert waking.wake(1_000, LATER + 9 * MINUTE_MS) == 32
    assert woken == [32, 32]


def test_a_peak_that_grows_wakes_all_that_it_needs_since_the_warm_ones_take_wake_ups_too() -> None:
    waking, woken = warm()
    waking.wake(640, LATER)
    waking.wake(960, LATER + MINUTE_MS)
    assert woken == [20, 30]


def test_functions_are_kept_warm_though_no_peak_comes() -> None:
    waking, woken = warm()
    for minute in range(9):
        waking.wake(0, NOON + minute * MINUTE_MS)
    assert woken == [WARM_FUNCTIONS] * 3


def test_wake_ups_that_fail_are_made_again_a_minute_later(monkeypatch: pytest.MonkeyPatch) -> None:
    waking, woken = warm()

    def throttled(*_: Any) -> None:
        raise StoreError("throttled")

    with monkeypatch.context() as patch:
        patch.setattr(NoDeliveryFunctions, "wake", throttled)
        assert waking.wake(320, LATER) == 0
    assert waking.wake(320, LATER + MINUTE_MS) == 10
    assert woken == [10]


def lease(shard: int, peak: int, swept_at: int) -> Lease:
    return Lease(shard, Cursor(), peak=peak, swept_at=swept_at)


def test_the_peaks_of_the_shards_that_were_swept_in_this_minute_and_the_one_before_add_up() -> None:
    leases = (
        lease(0, 700, NOON - MINUTE_MS),
        lease(1, 20, NOON + 59_999),
        lease(2, 5_000, NOON - MINUTE_MS - 1),
        lease(3, 0, NOON),
    )
    assert peak_known(WheelState(leases, 4, None), NOON + 30_000) == 720


def herd(count: int, due: str = "6m", **world: Any) -> World:
    """A world in which so many jobs fall due together, just before the tick that finds them."""
    made = World(**world)
    for number in range(count):
        made.put(f"job-{number}", dueTime=due)
    made.run_until(NOON + 4 * MINUTE_MS, ticking=False)
    return made


def test_a_tick_wakes_functions_for_the_peak_that_it_finds_and_the_next_tick_does_not() -> None:
    world = herd(70)
    ticker = world.wheel().ticker
    told = []
    for _ in range(3):
        ticked = ticker.tick(owner=world.ids.token(), deadline=world.clock.time + 55_000)
        told.append((ticked.woken, sum(each.peak for each in world.leases.state().leases)))
        world.clock.time += MINUTE_MS
    assert told == [(7, 70), (0, 70), (0, 70)]


def test_triggers_that_are_spread_over_seconds_are_no_peak() -> None:
    world = World(shards=1)
    for number in range(50):
        world.put(f"job-{number}", dueTime=f"{360 + number}s")
    world.run_until(NOON + 5 * MINUTE_MS, ticking=False)
    ticked = world.tick()
    assert ticked.swept is not None
    assert (ticked.swept.triggers, ticked.swept.peak, ticked.woken) == (50, 1, 1)


def test_overdue_triggers_are_no_coming_peak() -> None:
    world = World(shards=1)
    for number in range(50):
        world.put(f"job-{number}", dueTime="310s")
    world.run_until(NOON + 7 * MINUTE_MS, ticking=False)
    ticked = world.tick()
    assert ticked.swept is not None
    assert (ticked.swept.triggers, ticked.swept.peak) == (50, 0)


def test_a_tick_wakes_functions_for_peaks_that_other_sweepers_found_in_the_minute_before() -> None:
    world = World(LATER, shards=2)
    for stored in world.leases.state().leases:
        held = world.leases.claim(stored, "another", LATER - 30_000, LATER)
        assert held is not None
        world.leases.release(held, 0, LATER - 30_000, peak=30)
    assert world.tick().woken == 6


def test_a_sweep_after_one_in_the_same_minute_keeps_the_larger_peak() -> None:
    world = herd(30, shards=1)
    world.tick()
    (first,) = world.leases.state().leases
    world.put("late", dueTime="5m1s")
    world.run_until(NOON + 4 * MINUTE_MS + 30_000, ticking=False)
    world.tick()
    (second,) = world.leases.state().leases
    assert (first.peak, second.peak) == (30, 30)


def test_a_tick_sweeps_though_no_function_can_be_woken_for_a_peak() -> None:
    world = herd(70)
    failing(world, "delivery_functions.wake")
    ticked = world.tick()
    assert ticked.swept is not None
    assert (ticked.swept.triggers, ticked.woken) == (70, 0)
