"""A policy with more holders than the stack has flow functions, and what its workers cost the others."""

from dataclasses import dataclass
from typing import Final

from tests.simulation.flow.platform import NOON
from tests.simulation.flow.world import FlowWorld

from sweephand.base.instants import MINUTE_MS, SECOND_MS
from sweephand.jobs.policies import PolicyLimits

#: How often the world is looked at.
_SAMPLE_MS: Final = 100

#: Workers that begin together may be too many, and find that before this is over.
_FIRST_MS: Final = 5 * SECOND_MS

#: The triggers of one entry.
_PACK: Final = 100


@dataclass(frozen=True, slots=True)
class Crowd:
    """What a backlog under such a policy led to, in a world without mishaps.

    `use` is the mean number of open requests while work waits. `workers` is how many had permits in nearly
    all of the time after the first moments, at most. `messages` is how many work messages were sent, and
    `drained_ms` how long after the last trigger no function worked any more.
    """

    use: float
    workers: int
    messages: int
    drained_ms: int


def crowd(seed: int, limit: int, functions: int, triggers: int, consumer_ms: int = 2_000) -> Crowd:
    """Let so many triggers come due at once, and every message about them wait for a function."""
    world = FlowWorld(
        seed, mishaps=0, consumer_ms=(consumer_ms * 4 // 5, consumer_ms * 6 // 5), functions_max=functions
    )
    world.watch_limits()
    world.change(PolicyLimits(limit, None))
    scheduler = world.scheduler
    scheduler.run(NOON + 30 * SECOND_MS)
    for _ in range(triggers // _PACK):
        world.put([world.consumer.trigger(scheduler.now) for _ in range(_PACK)], "normal", world.ids.token())
    begun_at, ended_at = scheduler.now, 0
    opened: list[int] = []
    workers: list[int] = []
    while not ended_at or world.kept_waiting or world.working:
        scheduler.run(scheduler.now + _SAMPLE_MS)
        assert scheduler.now < NOON + 90 * MINUTE_MS, "the queue is never empty"
        if scheduler.now > begun_at + _FIRST_MS:
            workers.append(world.workers_with_permits())
        left = triggers - len(world.consumer.begun_at)
        if left > min(2 * limit, triggers // 2):
            opened.append(len(world.consumer.open))
        if not ended_at and not any(world.consumer.undelivered()):
            ended_at = scheduler.now
    scheduler.end()
    assert not world.complaints, world.complaints
    assert not world.figures["duplicates"], "a trigger was delivered twice though nothing went wrong"
    drained_ms = scheduler.now - ended_at
    nearly_most = sorted(workers)[len(workers) * 95 // 100]
    return Crowd(sum(opened) / len(opened), nearly_most, world.figures["messages"], drained_ms)
