"""A consumer that accepts a trigger with 202 and sends callbacks later."""

from dataclasses import dataclass, field
from typing import Any

from tests.fakes.deliveries import due, handle, run_of
from tests.fakes.world import NOON, World, key_of

from sweephand.model.attempt import Answer, Attempt
from sweephand.model.run import Run
from sweephand.model.trigger import TriggerMessage

ACCEPTED = Answer(succeeded=True, code=202, text="")
RUN = f"{NOON + 10_000}-0"


@dataclass
class Worker:
    """Answers every attempt with 202 and keeps its token.

    Sends callbacks for the run of the world's only job.
    """

    world: World
    tokens: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.world.consumers.answering = self.accept

    def accept(self, attempt: Attempt) -> Answer:
        assert attempt.run_token is not None, "the attempt has no token for callbacks"
        self.tokens.append(attempt.run_token)
        return ACCEPTED

    def heartbeat(self, token: str | None = None) -> Run:
        return self.world.callbacks().heartbeat(key_of(), RUN, token or self.tokens[-1])

    def complete(self, token: str | None = None) -> Run:
        return self.world.callbacks().complete(key_of(), RUN, token or self.tokens[-1])

    def fail(self, token: str | None = None, *, reason: str = "out of paper", is_final: bool = False) -> Run:
        callbacks = self.world.callbacks()
        return callbacks.fail(key_of(), RUN, token or self.tokens[-1], reason=reason, is_final=is_final)


def due_async(world: World, **written: Any) -> tuple[Worker, TriggerMessage]:
    """A job of asynchronous completion whose trigger is due now. Returns its consumer and the message."""
    return Worker(world), due(world, **{"completion": "async", **written})


def running(world: World, **written: Any) -> Worker:
    """The consumer of a run that it accepted ten seconds after noon and has not completed."""
    worker, message = due_async(world, **written)
    assert handle(world, message).name == "running"
    assert run_of(world).state == "running"
    return worker


def cancel(world: World) -> Run:
    return world.callbacks().cancel(key_of(), RUN, "k1")
