"""A policy with more slots than the stack's flow functions can have, and what it costs the other policies."""

from dataclasses import dataclass
from typing import Final

from tests.simulation.flow.platform import NOON
from tests.simulation.flow.world import FlowWorld

from sweephand.base.instants import MINUTE_MS, SECOND_MS
from sweephand.jobs.policy_fields import PolicyLimits

#: How often the world is looked at.
_SAMPLE_MS: Final = 100

#: The use of the limit is measured from so long after the triggers came.
_FIRST_MS: Final = 3 * SECOND_MS

#: Triggers that come together. They stand in entries of twenty at most.
_PACK: Final = 100


@dataclass(frozen=True, slots=True)
class Crowd:
    """What a backlog under such a policy led to, in a world without mishaps.

    `use` is the mean number of open requests while work waits. `waiting` is how many batons waited for a
    function at once, at most: another policy's baton waits behind them. `messages` is how
    many were sent, and `drained_ms` how long after the last trigger no function worked any more.
    """

    use: float
    waiting: int
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
    waiting = 0
    while not ended_at or world.kept_waiting or world.working:
        scheduler.run(scheduler.now + _SAMPLE_MS)
        assert scheduler.now < NOON + 90 * MINUTE_MS, "the queue is never empty"
        waiting = max(waiting, world.batons_waiting)
        left = triggers - len(world.consumer.begun_at)
        if scheduler.now > begun_at + _FIRST_MS and left > min(2 * limit, triggers // 2):
            opened.append(len(world.consumer.open))
        if not ended_at and not any(world.consumer.undelivered()):
            ended_at = scheduler.now
    scheduler.end()
    assert not world.complaints, world.complaints
    assert not world.figures["duplicates"], "a trigger was delivered twice though nothing went wrong"
    drained_ms = scheduler.now - ended_at
    return Crowd(sum(opened) / len(opened), waiting, world.figures["messages"], drained_ms)
