"""Shards of a world in memory: timers that a test writes itself, and the triggers that a sweep sends."""

from dataclasses import replace

from tests.fakes.world import NOON, World

from sweephand.base.instants import Instant
from sweephand.model.timer import Lease, OccurrenceTimer
from sweephand.model.trigger import Trigger, TriggerMessage
from sweephand.schedules import Occurrence


def lease_of(world: World, shard: int = 0) -> Lease:
    return world.leases.state().leases[shard]


def written(world: World, name: str, due_at: Instant, shard: int = 0) -> TriggerMessage:
    """Store a job, and a timer of it at an instant in a shard. Returns the message that a sweep will send."""
    job = world.put(name, dueTime="24h").job
    occurrence = Occurrence(due_at, 1)
    series = job.series._replace(due_at=due_at)
    job = replace(job, series=series, current=job.current._replace(since=0))
    assert world.jobs.put(job, job.version)
    timer = OccurrenceTimer(shard, job.key, job.uid, job.rev, series, occurrence, NOON)
    world.timers.put([timer])
    return TriggerMessage(Trigger(job.key, job.uid, job.rev, due_at, 1, NOON), due_at)


def sent(world: World) -> list[str]:
    """The names of the jobs whose triggers are in the queue, in the order of sending."""
    return [
        message.trigger.key.name for _, message in world.queue.waiting if isinstance(message, TriggerMessage)
    ]


def crowded(number: int) -> World:
    """A world with that many one-offs, one after the other, in one bucket of shard 0."""
    world = World(shards=1)
    for each in range(number):
        written(world, f"job-{each:02d}", NOON + 300_000 + each * 60_000 // max(60, number))
    world.clock.time = NOON + 240_000
    return world
