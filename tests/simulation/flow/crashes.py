"""The use of a limit while one function has crashed, in a world in which nothing else goes wrong."""

from typing import Final, NamedTuple

from tests.simulation.flow.platform import NOON
from tests.simulation.flow.world import FlowWorld
from tests.simulation.world.processes import Process

from sweephand.base.instants import SECOND_MS
from sweephand.jobs.policy_fields import PolicyLimits
from sweephand.model.gate import Changed, GateChange, GateName, server_slots_of

#: A function crashes so long after the backlog has come.
_BEFORE_MS: Final = 5 * SECOND_MS

#: The slots of the crashed function are not used for three minutes. The use is measured for a minute of them.
_AFTER_MS: Final = 60 * SECOND_MS

#: How often the world is looked at.
_SAMPLE_MS: Final = 50

#: The triggers of one entry.
_PACK: Final = 10


class Crash(NamedTuple):
    """How many slots a crashed function had, and which share of the others is in use while work waits."""

    slots: int
    use: float


def after_a_crash(seed: int, limit: int, functions: int, consumer_ms: int = 500) -> Crash:
    """Kill one of the functions that serve a backlog.

    The use is the mean of the minute from the crash on. In a stack with few functions, these are the bound:
    another one takes the place of the crashed function, and has slots of its own.
    """
    world = FlowWorld(
        seed, mishaps=0, consumer_ms=(consumer_ms * 4 // 5, consumer_ms * 6 // 5), functions_max=functions
    )
    world.watch_limits()
    world.change(PolicyLimits(limit, None))
    scheduler, consumer = world.scheduler, world.consumer
    scheduler.run(NOON + SECOND_MS)
    usable = min(limit, functions * server_slots_of(limit))
    owners = _owners(world)
    for _ in range(usable * (_BEFORE_MS + _AFTER_MS) * 5 // (4 * consumer_ms * _PACK) + 1):
        world.put([consumer.trigger(scheduler.now) for _ in range(_PACK)], "normal", world.ids.token())
    scheduler.run(scheduler.now + _BEFORE_MS)
    crashed = _crash(world, owners)
    usable = min(limit - crashed, usable)
    begun_at, open_sum, samples = scheduler.now, 0, 0
    while scheduler.now < begun_at + _AFTER_MS:
        scheduler.run(scheduler.now + _SAMPLE_MS)
        assert len(consumer.triggers) - len(consumer.begun_at) >= 2 * limit, "too little waits"
        open_sum += len(consumer.open)
        samples += 1
    assert not world.complaints, world.complaints
    scheduler.end()
    return Crash(crashed, open_sum / samples / usable)


def _owners(world: FlowWorld) -> dict[str, Process]:
    """The process of each function that takes slots from now on, by the token of its holder."""
    owners: dict[str, Process] = {}
    write = world.memory_gates.change

    def noted(name: GateName, change: GateChange) -> Changed:
        for token, swap in change.holders.items():
            if swap.was is None:
                owners[token] = world.scheduler.strand.process
        return write(name, change)

    world.memory_gates.change = noted  # type: ignore[method-assign]
    return owners


def _crash(world: FlowWorld, owners: dict[str, Process]) -> int:
    """Kill one of the functions that have slots, and return how many it had."""
    holders = [pair for gate in world.memory_gates.everything().values() for pair in gate.holders.items()]
    alive = [(token, holder) for token, holder in holders if not owners[token].is_over]
    assert alive, "no function has slots"
    token, holder = world.random.choice(alive)
    world.scheduler.kill(owners[token], "the test asks")
    return holder.slots
