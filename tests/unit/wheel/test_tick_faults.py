"""A tick whose duty fails does all its other duties, and then its caller raises the error."""

import pytest
from tests.fakes.faults import failing, slow
from tests.fakes.shards import lease_of, sent, written
from tests.fakes.world import NOON, World

from sweephand.base.errors import NotFoundError, StoreError
from sweephand.model.timer import UnreadTimer, position_key
from sweephand.wheel.tick import TRIGGERS_PER_SWEEPER, Ticked

#: A minute in which tick wakes delivery functions for a peak only.
NOW = NOON + 60_000

DAMAGED = "a damaged timer"


def with_herds(shards: int) -> World:
    """A world with 40 triggers of one second in each shard, one minute ahead."""
    world = World(NOW, shards)
    for shard in range(shards):
        for number in range(40):
            written(world, f"job-{shard}-{number}", NOW + 60_000, shard)
    return world


def damage(world: World, shard: int = 0) -> None:
    """Put a timer that cannot be read into a shard."""
    key = f"{position_key(NOW)}#ns/job#1-a#occurrence#"
    world.timers.put([UnreadTimer(shard, key, {}, DAMAGED)])


def ticked(world: World) -> Ticked:
    """The result of a tick, the faults included."""
    return world.wheel().ticker.tick(owner=world.ids.token(), deadline=NOW + 55_000)


def test_a_timer_that_is_put_off_keeps_no_delivery_function_from_being_woken_for_a_peak() -> None:
    world = with_herds(1)
    damage(world)
    result = ticked(world)
    assert (result.woken, world.delivery_functions.woken) == (4, [4])
    assert DAMAGED in str(result.faults)
    with pytest.raises(ExceptionGroup) as caught:
        result.raise_faults()
    assert caught.value.exceptions == result.faults


def test_a_timer_that_is_put_off_keeps_no_shard_that_is_left_from_its_sweeper() -> None:
    world = with_herds(4)
    damage(world, shard=1)  # the tick of this minute begins with it
    slow(world, 15_000, "before jobs.briefs")
    result = ticked(world)
    assert result.swept is not None
    assert result.swept.left
    assert world.sweepers.started == list(result.swept.left)
    assert [DAMAGED in str(each) for each in result.faults] == [True]


@pytest.mark.parametrize("call", ["timers.page", "leases.claim", "queue.send", "leases.release"])
def test_a_shard_that_fails_keeps_the_other_shards_from_nothing_and_no_function_asleep(call: str) -> None:
    world = with_herds(2)
    failing(world, call, times=1)
    result = ticked(world)
    assert len(set(sent(world))) >= 40
    assert world.delivery_functions.woken == [4]
    assert [type(each) for each in result.faults] == [StoreError]


def busy(world: World) -> None:
    """Have the leases say that each shard needed a sweeper in the last minute."""
    for shard in range(len(world.leases.state().leases)):
        held = world.leases.claim(lease_of(world, shard), "before", NOON, NOON)
        assert held is not None
        world.leases.release(held, TRIGGERS_PER_SWEEPER, NOON)


def test_a_tick_that_cannot_start_other_sweepers_sweeps_by_itself_and_wakes_for_the_peak() -> None:
    world = with_herds(2)
    busy(world)
    failing(world, "sweepers.start")
    result = ticked(world)
    assert len(sent(world)) == 80
    assert world.delivery_functions.woken == [8]
    assert [type(each) for each in result.faults] == [StoreError]


def test_shards_that_are_left_and_get_no_sweeper_are_reported_with_what_else_failed() -> None:
    world = with_herds(4)
    damage(world, shard=1)  # the tick of this minute begins with it
    failing(world, "sweepers.start")
    announce = world.announce

    def slow_and_failing(call: str) -> None:
        if call == "before jobs.briefs":
            world.clock.time += 15_000
        announce(call)

    world.announce = slow_and_failing
    result = ticked(world)
    assert [DAMAGED in str(each) for each in result.faults] == [True, False]
    assert world.delivery_functions.woken


def test_a_heartbeat_that_cannot_be_written_keeps_the_wheel_from_nothing() -> None:
    world = with_herds(1)
    failing(world, "leases.beat")
    result = ticked(world)
    assert len(sent(world)) == 40
    assert (result.woken, [type(each) for each in result.faults]) == (4, [StoreError])


def test_shards_that_cannot_be_added_keep_those_that_exist_from_nothing() -> None:
    world = with_herds(1)
    world.shards = 3
    failing(world, "leases.raise_shards")
    result = ticked(world)
    assert len(sent(world)) == 40
    assert [type(each) for each in result.faults] == [StoreError]


def test_a_new_stack_whose_shards_cannot_be_written_has_nothing_to_sweep() -> None:
    world = World(NOON, shards=0)
    world.shards = 2
    failing(world, "leases.raise_shards")
    result = ticked(world)
    assert (result.sweepers, result.swept, result.woken) == (0, None, 2)
    assert len(result.faults) == 1


def test_a_tick_that_cannot_read_the_leases_fails() -> None:
    world = with_herds(1)
    failing(world, "leases.state")
    with pytest.raises(StoreError):
        ticked(world)


def test_a_tick_raises_an_error_that_is_no_store_error_at_once() -> None:
    world = with_herds(1)

    def announce(call: str) -> None:
        if call == "before leases.beat":
            raise NotFoundError("not an error of a store")

    world.announce = announce
    with pytest.raises(NotFoundError):
        ticked(world)


def test_a_tick_without_faults_raises_nothing() -> None:
    ticked(with_herds(1)).raise_faults()
