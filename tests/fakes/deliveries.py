"""Hands messages to a world's delivery function one at a time."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from tests.fakes.faults import crashing, working
from tests.fakes.world import NOON, World, key_of

from sweephand.base.concurrency import always
from sweephand.base.instants import INSTANT_MAX, Instant
from sweephand.model.attempt import Answer
from sweephand.model.job import Job
from sweephand.model.run import Run
from sweephand.model.trigger import Message, TriggerMessage
from sweephand.runs.delivery import UNREAD, Delivery, JobRead
from sweephand.runs.received import Outcome

FAILED = Answer(succeeded=False, code=503, text="busy")
LARGE = '"' + "x" * 3_000 + '"'


def waiting(world: World) -> list[tuple[int, TriggerMessage]]:
    """The trigger messages in the queue, each with the ms after noon at which it can be received."""
    return [
        (at - NOON, message) for at, message in world.queue.waiting if isinstance(message, TriggerMessage)
    ]


def due(world: World, **written: Any) -> TriggerMessage:
    """Put a job that is due 10 s after noon, and move the clock there. Returns the message of its trigger."""
    world.put(**{"dueTime": "10s", **written})
    ((_, message),) = waiting(world)
    world.queue.waiting.clear()
    world.clock.time = NOON + 10_000
    return message


def handle(
    world: World, message: Message, read: JobRead = UNREAD, deadline: Instant = INSTANT_MAX
) -> Outcome:
    """Hand a message to the delivery function, with a read of its job if it is a trigger."""
    if isinstance(message, TriggerMessage):
        return world.deliveries().handlers.deliverer.deliver(Delivery.of(message, read, deadline))
    return world.deliveries().handlers.handle(message, deadline)


def run_of(world: World) -> Run:
    (run,) = world.runs.page(key_of(), None, "", 10).items
    return run


def fired(world: World, until: int) -> list[int]:
    """The due times in s after noon that are delivered up to then."""
    world.run_until(NOON + until)
    return sorted((each.trigger.due_at - NOON) // 1_000 for each in world.consumers.attempts)


def answers(world: World, *given: Answer) -> None:
    """Let the consumer give these answers in order, and 200 to every later attempt."""
    left: Iterator[Answer] = iter(given)
    world.consumers.answering = lambda _: next(left, Answer(succeeded=True, code=200))


def crash_until(world: World, end: int) -> None:
    """The function that delivers dies over the request; the queue shows its message again."""
    world.announce = crashing
    with pytest.raises(KeyboardInterrupt):
        world.run_until(end)
    working(world)
    (message,) = world.queue.in_flight.values()
    assert isinstance(message, TriggerMessage)
    world.queue.in_flight.clear()
    world.queue.send([(message._replace(crashes=1), 60_000)])


def change(world: World, **changes: Any) -> None:
    """Change the stored job, as another process does."""
    job = world.jobs.get(key_of())
    assert job is not None
    assert world.jobs.put(replace(job, version=world.ids.token(), **changes), job.version)


def put_repeated_after(world: World, between: Callable[[], object]) -> None:
    """The next write of a job is made twice, with something else between the two."""
    put = world.jobs.put

    def repeated(job: Job, replacing: str | None, in_time: Callable[[], bool] = always) -> bool:
        world.jobs.put = put  # type: ignore[method-assign]
        assert put(job, replacing, in_time)
        between()
        return put(job, replacing, in_time)

    world.jobs.put = repeated  # type: ignore[method-assign]
