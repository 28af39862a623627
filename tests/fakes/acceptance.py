"""A consumer that accepts what it is sent and reports on it later."""

from dataclasses import dataclass, field
from typing import Any

from tests.fakes.deliveries import due, handle, run_of
from tests.fakes.world import NOON, World, key_of

from sweephand.model.run import Run
from sweephand.model.trigger import TriggerMessage
from sweephand.ports import Answer, Attempt

ACCEPTED = Answer(succeeded=True, code=202, text="")
RUN = f"{NOON + 10_000}-0"


@dataclass
class Worker:
    """Answers every attempt with 202 and keeps its token; reports on the run of the world's one job."""

    world: World
    tokens: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.world.consumers.answering = self.accept

    def accept(self, attempt: Attempt) -> Answer:
        assert attempt.run_token is not None, "an attempt that nobody can report on"
        self.tokens.append(attempt.run_token)
        return ACCEPTED

    def heartbeat(self, token: str | None = None) -> Run:
        return self.world.callbacks().heartbeat(key_of(), RUN, token or self.tokens[-1])

    def complete(self, token: str | None = None) -> Run:
        return self.world.callbacks().complete(key_of(), RUN, token or self.tokens[-1])

    def fail(self, token: str | None = None, *, reason: str = "out of paper", is_final: bool = False) -> Run:
        reporter = self.world.callbacks()
        return reporter.fail(key_of(), RUN, token or self.tokens[-1], reason=reason, is_final=is_final)


def due_async(world: World, **written: Any) -> tuple[Worker, TriggerMessage]:
    """A job of asynchronous completion whose trigger is due now, and its consumer."""
    return Worker(world), due(world, **{"completion": "async", **written})


def running(world: World, **written: Any) -> Worker:
    """A run that its consumer works on, accepted ten seconds after noon."""
    worker, message = due_async(world, **written)
    assert handle(world, message).name == "running"
    assert run_of(world).state == "running"
    return worker


def cancel(world: World) -> Run:
    return world.callbacks().cancel(key_of(), RUN, "k1")
