"""Several sweepers and many shards: what a sweeper reads of a shard that another one sweeps or has swept."""

from collections.abc import Callable

import pytest
from tests.fakes.faults import calls_of, meanwhile
from tests.fakes.shards import lease_of, sent, written
from tests.fakes.world import NOON, World

from sweephand.base.timing import LEASE_MS

SHARDS = 4


def busy() -> World:
    """A world in which each shard has three timers before the horizon."""
    world = World(shards=SHARDS)
    for shard in range(SHARDS):
        for number in range(3):
            written(world, f"job-{shard}-{number}", NOON + 60_000 + number, shard)
    return world


def calls_while(world: World, others: Callable[[], object]) -> list[str]:
    """The calls of a sweep that begins at shard 0, while other sweepers do something."""
    calls: list[str] = []

    def act() -> None:
        others()
        world.announce = calls.append

    meanwhile(world, "after queue.send", act)
    world.sweep()
    return [call.removeprefix("before ") for call in calls if call.startswith("before")]


def test_a_shard_that_another_sweeper_has_finished_costs_one_read_and_no_claim() -> None:
    world = busy()
    calls = calls_while(world, lambda: world.sweep(first_shard=1))
    own = ["timers.page", "leases.release"]
    assert calls == [*own, "leases.state", *["timers.page"] * (SHARDS - 1)]
    assert len(sent(world)) == len(set(sent(world))) == 3 * SHARDS


def test_a_shard_that_another_sweeper_holds_costs_nothing() -> None:
    world = busy()

    def hold() -> None:
        for shard in range(1, SHARDS):
            now = world.clock.time
            assert world.leases.claim(lease_of(world, shard), "another", now, now + LEASE_MS)

    assert calls_while(world, hold) == ["timers.page", "leases.release", "leases.state"]


def test_a_shard_that_nobody_swept_is_swept_after_its_lease_was_read_again() -> None:
    world = busy()
    assert world.sweep().triggers == 3 * SHARDS


def test_leases_that_are_just_read_are_not_read_again() -> None:
    world = World(shards=SHARDS)
    assert calls_of(world, world.sweep).count("before leases.state") == 0
    calls = calls_of(busy_world := busy(), lambda: busy_world.sweep(first_shard=SHARDS - 1))
    assert calls.count("before leases.state") == SHARDS - 1


def test_the_only_sweeper_of_a_minute_does_not_read_the_leases_again() -> None:
    world = busy()
    assert calls_of(world, world.tick).count("before leases.state") == 1
    assert len(sent(world)) == 3 * SHARDS


def test_leases_that_cannot_be_read_again_are_reported_and_the_next_sweep_finds_the_rest() -> None:
    world = busy()

    def announce(call: str) -> None:
        if call == "before leases.state" and sent(world):
            raise OSError

    world.announce = announce
    with pytest.raises(ExceptionGroup):
        world.sweep()
    world.announce = lambda _: None
    world.sweep()
    assert sorted(set(sent(world))) == sorted(sent(world))
    assert len(sent(world)) == 3 * SHARDS


@pytest.mark.parametrize("shards", [1, 4, 16])
def test_an_idle_minute_reads_all_leases_by_one_query_and_writes_no_lease(shards: int) -> None:
    """The heartbeat is one write. Each shard costs the read that shows that nothing is due in it."""
    world = World(NOON + 60_000, shards)  # not a minute in which tick wakes delivery functions
    world.put(dueTime="1h")
    for _ in range(2):
        calls = [call for call in calls_of(world, world.tick) if call.startswith("before")]
        assert calls == ["before leases.state", "before leases.beat", *["before timers.page"] * shards]
        world.clock.time += 60_000
