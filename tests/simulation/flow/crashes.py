"""The use of a limit while one worker has crashed, in a world in which nothing else goes wrong."""

from typing import Final

from tests.simulation.flow.consumer import KEY
from tests.simulation.flow.platform import NOON
from tests.simulation.flow.world import FlowWorld
from tests.simulation.world.processes import Process

from sweephand.base.instants import SECOND_MS
from sweephand.jobs.policies import PolicyLimits
from sweephand.model.policy import Policy, holder_size_of, workers_max_of

#: A worker crashes so long after the backlog has come.
_BEFORE_MS: Final = 5 * SECOND_MS

#: The permits of the crashed worker are not used for three minutes. The use is measured for a minute of them.
_AFTER_MS: Final = 60 * SECOND_MS

#: How often the world is looked at.
_SAMPLE_MS: Final = 50

#: The triggers of one entry.
_PACK: Final = 10


def use_after_a_crash(seed: int, limit: int, functions: int, consumer_ms: int = 500) -> float:
    """The share of the permits that no crashed worker holds which is in use while work waits.

    It is the mean of the minute from the crash on. In a stack with few functions, the crashed worker also
    counts as one of those that the policy may have (decision 172).
    """
    world = FlowWorld(
        seed, mishaps=0, consumer_ms=(consumer_ms * 4 // 5, consumer_ms * 6 // 5), functions_max=functions
    )
    world.watch_limits()
    world.change(PolicyLimits(limit, None))
    scheduler, consumer = world.scheduler, world.consumer
    scheduler.run(NOON + SECOND_MS)
    size = holder_size_of(limit)
    usable = min(limit, workers_max_of(functions) * size)
    owners = _owners(world)
    for _ in range(usable * (_BEFORE_MS + _AFTER_MS) * 5 // (4 * consumer_ms * _PACK) + 1):
        world.put([consumer.trigger(scheduler.now) for _ in range(_PACK)], "normal", world.ids.token())
    scheduler.run(scheduler.now + _BEFORE_MS)
    policy = world.memory_policies.get(KEY)
    assert policy is not None
    usable -= _crash(world, policy, owners)
    begun_at, open_sum, samples = scheduler.now, 0, 0
    while scheduler.now < begun_at + _AFTER_MS:
        scheduler.run(scheduler.now + _SAMPLE_MS)
        assert len(consumer.triggers) - len(consumer.begun_at) >= 2 * limit, "too little waits"
        open_sum += len(consumer.open)
        samples += 1
    assert not world.complaints, world.complaints
    scheduler.end()
    return open_sum / samples / usable


def _owners(world: FlowWorld) -> dict[str, Process]:
    """The process of each worker that takes a holder from now on, by the owner that the holder has then."""
    owners: dict[str, Process] = {}
    take = world.memory_permits.take

    def noted(*arguments: object) -> object:
        taken = take(*arguments)  # type: ignore[arg-type]
        if taken is not None and taken.owner is not None:
            owners[taken.owner] = world.scheduler.strand.process
        return taken

    world.memory_permits.take = noted  # type: ignore[method-assign, assignment]
    return owners


def _crash(world: FlowWorld, policy: Policy, owners: dict[str, Process]) -> int:
    """Kill one of the workers that have permits, and return how many permits it had."""
    groups = range(policy.groups)
    holders = [each for group in groups for each in world.memory_permits.holders(KEY, group)]
    alive = [each for each in holders if each.owner is not None and not owners[each.owner].is_over]
    assert alive, "no worker has permits"
    crashed = world.random.choice(alive)
    assert crashed.owner is not None
    world.scheduler.kill(owners[crashed.owner], "the test asks")
    return policy.share(crashed.slot)
