"""A limit that is changed while it is in use, in a world in which nothing goes wrong."""

from collections.abc import Sequence
from typing import Final

from tests.simulation.flow.platform import NOON
from tests.simulation.flow.world import FlowWorld

from sweephand.base.instants import SECOND_MS, Instant
from sweephand.jobs.policy_fields import PolicyLimits

#: The consumer answers after half a second, a fifth more or less.
_ANSWER_MS: Final = (400, 600)

#: How long the first limit is in use before it is changed, and how long the world goes on after that.
_BEFORE_MS: Final = 10 * SECOND_MS
_AFTER_MS: Final = 20 * SECOND_MS

#: How often the world is looked at.
_SAMPLE_MS: Final = 50

#: The triggers of one entry.
_PACK: Final = 10


def open_after_a_resume(seed: int, limit: int) -> Sequence[tuple[Instant, int]]:
    """How many requests are open while work waits, and how many ms after the resume of the policy that is."""
    world = _in_use(seed, limit, limit)
    world.switch(pauses=True)
    world.scheduler.run(world.scheduler.now + _BEFORE_MS)
    assert not world.consumer.open, "the policy is paused"
    world.switch(pauses=False)
    return _open_from(world, writes=3)


def open_after_a_change(seed: int, first: int, then: int) -> Sequence[tuple[Instant, int]]:
    """How many requests are open while work waits, and how many ms after the change of a limit that is.

    Nothing says when the write of the new limit is stored, other than the instant from which it counts here.
    """
    world = _in_use(seed, first, max(first, then))
    world.change(PolicyLimits(then, None))
    return _open_from(world, writes=2)


def _in_use(seed: int, limit: int, largest: int) -> FlowWorld:
    """A world whose limit is in use, with enough work for the largest one."""
    world = FlowWorld(seed, mishaps=0, consumer_ms=_ANSWER_MS)
    world.watch_limits()
    world.change(PolicyLimits(limit, None))
    scheduler, consumer = world.scheduler, world.consumer
    scheduler.run(NOON + SECOND_MS)
    enough = largest * (_BEFORE_MS + _AFTER_MS) // _ANSWER_MS[0]
    for _ in range(enough // _PACK):
        world.put([consumer.trigger(scheduler.now) for _ in range(_PACK)], "normal", world.ids.token())
    scheduler.run(scheduler.now + _BEFORE_MS)
    assert len(consumer.open) >= 0.9 * limit, "the first limit is not in use"
    return world


def _open_from(world: FlowWorld, writes: int) -> Sequence[tuple[Instant, int]]:
    """How many requests are open, and how many ms after so many writes of the policy were stored."""
    scheduler, consumer = world.scheduler, world.consumer
    while len(consumer.limits) < writes:
        scheduler.run(scheduler.now + 1)
    changed_at, _ = consumer.limits[-1]
    opened = []
    while scheduler.now < changed_at + _AFTER_MS:
        scheduler.run(scheduler.now + _SAMPLE_MS)
        opened.append((scheduler.now - changed_at, len(consumer.open)))
    waiting = len(consumer.triggers) - len(consumer.begun_at)
    assert waiting > max(limit for _, limit in consumer.limits), "too little waits"
    assert not world.complaints, world.complaints
    assert not world.figures["duplicates"], "a trigger was delivered twice though nothing went wrong"
    scheduler.end()
    return opened
