"""A sweep says when the oldest timer was due that it found and did not pass."""

from tests.fakes.faults import failing, slow, working
from tests.fakes.shards import written
from tests.fakes.world import NOON, World

from sweephand.wheel.sweep import Swept
from sweephand.wheel.tick import Ticked

MINUTE = 60_000


def swept(world: World) -> Swept:
    """What a sweep found, without raising its faults."""
    return world.wheel().sweeper.sweep(
        world.leases.state().leases,
        owner=world.ids.token(),
        first_shard=0,
        deadline=world.clock.now() + 120_000,
    )


def ticked(world: World) -> Ticked:
    ticker = world.wheel().ticker
    return ticker.tick(owner=world.ids.token(), deadline=world.clock.now() + 55_000)


def test_a_sweep_that_passes_every_timer_leaves_none() -> None:
    world = World(shards=2)
    written(world, "one", NOON, shard=0)
    written(world, "two", NOON + MINUTE, shard=1)
    assert swept(world).left_at is None
    assert ticked(world).left_at is None


def test_a_shard_that_fails_leaves_its_oldest_timer() -> None:
    world = World(shards=2)
    written(world, "newer", NOON + 5_000, shard=0)
    written(world, "older", NOON + 2_000, shard=1)
    failing(world, "queue.send")
    assert swept(world).left_at == NOON + 2_000


def test_a_tick_tells_what_its_own_sweep_left_until_a_sweep_passes_it() -> None:
    world = World(shards=1)
    written(world, "job", NOON + 2_000)
    failing(world, "queue.send")
    for _ in range(3):
        assert ticked(world).left_at == NOON + 2_000
        world.clock.time += MINUTE
    working(world)
    assert ticked(world).left_at is None


def test_a_shard_of_which_only_a_part_fails_leaves_what_follows_that_part() -> None:
    world = World(shards=1)
    written(world, "first", NOON)
    written(world, "next minute", NOON + MINUTE)
    sends = 0

    def announce(call: str) -> None:
        nonlocal sends
        sends += call == "before queue.send"
        if sends == 2:
            raise RuntimeError("the second page cannot be sent")

    world.announce = announce
    assert swept(world).left_at == NOON + MINUTE


def test_a_shard_that_cannot_be_read_leaves_nothing_that_is_known() -> None:
    world = World(shards=1)
    written(world, "job", NOON)
    failing(world, "timers.page")
    found = swept(world)
    assert (found.left_at, len(found.faults)) == (None, 1)


def test_a_sweeper_that_has_no_time_leaves_the_first_timer_of_the_rest() -> None:
    world = World(shards=1)
    written(world, "first", NOON)
    written(world, "next minute", NOON + MINUTE)
    slow(world, 110_000, "before queue.send")
    found = swept(world)
    assert (found.left, found.left_at) == ((0,), NOON + MINUTE)


def test_a_tick_that_only_starts_sweepers_tells_what_earlier_sweeps_left() -> None:
    world = World(shards=2)
    lease = world.leases.state().leases[0]
    claimed = world.leases.claim(lease, "earlier", NOON, NOON + 30_000)
    assert claimed is not None
    world.leases.release(claimed, 60_000, NOON, left_at=NOON - MINUTE)
    found = ticked(world)
    assert world.sweepers.started
    assert found.left_at == NOON - MINUTE
