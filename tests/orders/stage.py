"""A stack in memory on which every call of a store, a queue or a consumer is a step, and what judges it."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from tests.fakes.doubles import SkewedClock
from tests.fakes.ledger import Ledger
from tests.fakes.world import NOON, World
from tests.orders.engine import Actor, Scene, Steps

from sweephand.base.instants import MINUTE_MS, SECOND_MS
from sweephand.model.attempt import Answer, Attempt
from sweephand.runs.received import Handled, Received, finished
from sweephand.wheel.sweep import Swept

#: By then every lease and every claim of an actor that crashed is over.
PATIENCE_MS: Final = 6 * MINUTE_MS

#: The stores and queues of a world, and what was sent from it.
_SHARED: Final = (
    *("jobs", "changes", "timers", "leases", "runs", "flags", "batches", "lines", "payloads", "policies"),
    *("allowances", "gates", "gate_lines", "flow_queue", "admin_changes", "calendars", "namespaces"),
    *("queue", "sweepers"),
)


class OwnIds:
    """ports.Ids. Each actor counts by itself, so that its ids do not depend on what others have drawn."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._drawn: Counter[int] = Counter()

    def _next(self, width: int) -> str:
        actor = self._steps.actor
        self._drawn[actor] += 1
        return f"{actor}{self._drawn[actor]:0{width - 1}d}"

    def token(self) -> str:
        return self._next(16)

    def secret(self) -> str:
        return self._next(43)

    def fraction(self) -> float:
        return 0.5


class Stage(World):
    """A world for one order."""

    def __init__(self, steps: Steps) -> None:
        super().__init__(NOON, shards=1)
        self._steps = steps
        self.ids = OwnIds(steps)  # type: ignore[assignment]
        self.ledger = Ledger(self)
        #: The requests that are open now, and the most that were, if the consumer answers later.
        self.open = self.open_max = 0

    def _port(self, port: Any, called: str) -> Any:
        return self._steps.port(port, called)

    def sweep(self, first_shard: int = 0, *, seconds: int = 120, ahead_ms: int = 0) -> Swept:
        """Sweep by a clock that is so much ahead. The sweeper reads the leases in a step of its own."""
        clock = SkewedClock(self.clock, ahead_ms)
        deadline = clock.now() + seconds * SECOND_MS
        leases, owner = self._port(self.leases, "leases").state().leases, self.ids.token()
        swept = self.wheel(clock).sweeper.sweep(
            leases, owner=owner, first_shard=first_shard, deadline=deadline
        )
        swept.raise_faults()
        return swept

    def deliver(self, batch: Sequence[Received]) -> list[Handled]:
        """Hand messages to the delivery function. Acknowledge those that are done, in another step."""
        handled = self.deliveries().intake.handle(batch, deadline=self.clock.time + 90 * SECOND_MS)
        self._port(self.queue, "queue").acknowledge([each.receipt for each in finished(handled)])
        return handled

    def pass_time(self, ms: int) -> None:
        """Let time pass, as a step of the actor that calls this."""

        def move() -> None:
            self.clock.time += ms

        self._steps.step("clock.move", move)

    def answer_later(self, _: Attempt) -> Answer:
        """What a consumer answers in a step of its own. A request is over when its function crashes."""
        self.open += 1
        self.open_max = max(self.open_max, self.open)
        try:
            self._steps.step("consumers.answer", lambda: None)
        finally:
            self.open -= 1
        return Answer(succeeded=True, code=204)

    def scene(self, *actors: Actor, judge: Callable[[bool], None]) -> Scene:
        """The scene with these actors, beginning with the world as it is now."""
        return Scene(actors, lambda: self.clock.time, self.shared, judge)

    def shared(self) -> str:
        """All that actors and judges can find in this world."""
        requests = [
            (each.id, each.number, each.body, at)
            for each, at in zip(self.consumers.attempts, self.consumers.times, strict=True)
        ]
        known = {name: each for name, each in vars(self.ledger).items() if name != "world"}
        stores = [_text(_contents(getattr(self, name))) for name in _SHARED]
        return f"{self.clock.time} {self.open} {self.open_max} {requests} {_text(known)} {stores}"

    def rest(self, minutes: int = 6) -> None:
        """Let time pass without faults until every promise is due. SQS shows again what a crash left."""
        self.run_until(self.clock.time + PATIENCE_MS)
        self.queue.reappear()
        self.run_until(self.clock.time + minutes * MINUTE_MS)

    def check(self, *, may_repeat: bool) -> None:
        """Assert that what was owed was delivered, that nothing else was, and, without a crash, only once."""
        self.ledger.check(self.clock.time)
        self.check_repetitions(may_repeat=may_repeat)

    def check_repetitions(self, *, may_repeat: bool) -> None:
        """Assert that no request was sent twice without a crash."""
        sent = Counter((each.id, each.number) for each in self.consumers.attempts)
        repeated = [each for each, times in sent.items() if times > 1]
        assert may_repeat or not repeated, f"sent twice without a crash: {repeated}"


def _contents(port: object) -> Mapping[str, object]:
    """What a port in memory holds, without its lock, its clock and other ports."""
    return {name: each for name, each in vars(port).items() if not _is_part(each)}


def _is_part(value: object) -> bool:
    return callable(value) or type(value).__module__.startswith(("tests.", "_thread"))


def _text(value: object) -> str:
    """A text that is the same for equal values, in whichever order a dictionary was filled."""
    if isinstance(value, dict):
        return "{" + ", ".join(sorted(f"{key!r}: {_text(each)}" for key, each in value.items())) + "}"
    if isinstance(value, set):
        return repr(sorted(map(repr, value)))
    return repr(value)
