"""One message at a time through a world's delivery function."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from tests.fakes.world import NOON, World, key_of

from sweephand.model.run import Run
from sweephand.model.trigger import TriggerMessage
from sweephand.ports import Answer
from sweephand.runs.job_reads import JobRead
from sweephand.runs.outcome import Outcome

UNREAD = JobRead(None, 0)
FAILED = Answer(succeeded=False, code=503, text="busy")
LARGE = '"' + "x" * 3_000 + '"'


def waiting(world: World) -> list[tuple[int, TriggerMessage]]:
    """What is in the queue: in how many ms after noon it is to be received."""
    return [
        (at - NOON, message) for at, message in world.queue.waiting if isinstance(message, TriggerMessage)
    ]


def due(world: World, **written: Any) -> TriggerMessage:
    """Put a job that is due 10 s after noon and move the clock there; its message."""
    world.put(**{"dueTime": "10s", **written})
    ((_, message),) = waiting(world)
    world.queue.waiting.clear()
    world.clock.time = NOON + 10_000
    return message


def handle(world: World, message: TriggerMessage, read: JobRead = UNREAD) -> Outcome:
    return world.handlers().handle(message, read)


def run_of(world: World) -> Run:
    (run,) = world.runs.page(key_of(), None, "", 10).items
    return run


def answers(world: World, *given: Answer) -> None:
    """Have the consumer give these answers, and succeed from then on."""
    left: Iterator[Answer] = iter(given)
    world.consumers.answering = lambda _: next(left, Answer(succeeded=True, code=200))


def change(world: World, **changes: Any) -> None:
    """Write a stored job as somebody else would."""
    job = world.jobs.get(key_of())
    assert job is not None
    assert world.jobs.put(replace(job, version=world.ids.token(), **changes), job.version)


def meanwhile(world: World, call: str, action: Callable[[], object]) -> None:
    """Do something from outside when a call is announced first."""

    def announce(announced: str) -> None:
        if announced == call:
            world.announce = lambda _: None
            action()

    world.announce = announce
