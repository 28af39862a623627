"""One queue as Lambda polls it: it begins a delivery function for the messages that it receives."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Final

from tests.simulation.traces.chronicle import Chronicle
from tests.simulation.world.delivery_queues import DeliveryQueues
from tests.simulation.world.faults import mixed
from tests.simulation.world.gate import Gate
from tests.simulation.world.processes import NEVER, Scheduler
from tests.simulation.world.sqs import Sqs

from sweephand.base.instants import Instant
from sweephand.runs.received import Received

#: How many messages SQS hands to a function at most (template.yaml: 10).
_BATCHES: Final = (1, 3, 10, 10)

#: Begins a function with these messages and a code of its own. The last argument is called when it is over.
Begin = Callable[[Sequence[Received], int, Callable[[], None]], None]


class Poller(ABC):
    """Lambda as it polls a queue. It receives while its queue has fewer than `functions_max` functions."""

    def __init__(self, sqs: Sqs, functions_max: int, scheduler: Scheduler, gate: Gate) -> None:
        self._sqs = sqs
        self._functions_max = functions_max
        self._scheduler = scheduler
        self._gate = gate
        self._working = 0
        self._is_waited_for = False
        self._poll_at: Instant = NEVER
        self.is_enabled = True
        sqs.seen = self.seen

    def seen(self, at: Instant) -> None:
        """Poll the queue at that instant, unless an earlier poll is planned."""
        if at < self._poll_at:
            self._poll_at = max(at, self._scheduler.now)
            self._scheduler.call_at(self._poll_at, self._poll)

    def _poll(self) -> None:
        if self._scheduler.now < self._poll_at:
            return
        self._poll_at = NEVER
        if not self.is_enabled:
            return
        down_until = self._gate.down.get("queue", 0)
        if down_until > self._scheduler.now:
            self.seen(down_until)
            return
        while (next_at := self._sqs.next_at()) is not None:
            if next_at > self._scheduler.now:
                self.seen(next_at)
                return
            if self._is_full():
                self._is_waited_for = True
                return
            self._receive(next_at)

    @abstractmethod
    def _receive(self, visible_at: Instant) -> None:
        """Receive messages, and begin a function with them. The first one became visible at that instant."""

    def _is_full(self) -> bool:
        """Whether the queue has no function left."""
        return self._working >= self._functions_max

    def _is_over(self) -> None:
        self._working -= 1
        if self._is_waited_for:
            self._is_waited_for = False
            self.seen(self._scheduler.now)


class Deliveries(Poller):
    """The functions that one queue has at once, up to a number. No other queue uses them."""

    def __init__(
        self,
        url: str,
        queues: DeliveryQueues,
        functions_max: int,
        *,
        scheduler: Scheduler,
        chronicle: Chronicle,
        gate: Gate,
        begin: Begin,
    ) -> None:
        super().__init__(queues.by_url[url], functions_max, scheduler, gate)
        self._url = url
        self._queues = queues
        self._chronicle = chronicle
        self._begin = begin
        self.short_until: Instant = 0

    def _receive(self, visible_at: Instant) -> None:
        batch = self._queues.receive(self._url, _BATCHES[mixed(visible_at) % len(_BATCHES)])
        if batch and self._scheduler.now < self.short_until:
            self._chronicle.figures["not begun"] += len(batch)
            self._chronicle.mishap("received in vain", "Lambda")
        elif batch:
            self._deliver(batch)

    def _deliver(self, batch: Sequence[Received]) -> None:
        self._working += 1
        self._chronicle.figures["batches"] += 1
        self._chronicle.figures["bundles"] += self._sqs.bundles_of(batch)
        self._begin(batch, self._queues.code_of(self._url, batch[0]), self._is_over)
