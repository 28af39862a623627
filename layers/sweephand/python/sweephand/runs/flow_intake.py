"""Handling a message about a gate: one invocation of the flow function handles one."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from sweephand.base.errors import NewerError, PoisonError
from sweephand.base.instants import Instant
from sweephand.base.timing import NEWER_MS
from sweephand.flow.server import Server, ServerOutcome
from sweephand.model.gate_message import decode_gate_message
from sweephand.model.trigger import DeadLetter, NewerMessage
from sweephand.ports.flow import FlowQueue
from sweephand.ports.queue import Queue
from sweephand.runs.line_delivery import LineDelivery
from sweephand.runs.received import Handled, OutcomeName, Received


@dataclass(frozen=True, slots=True)
class Worked:
    """What became of a message, and of the triggers that its server has met.

    `noteworthy` has the triggers for which the log has a line. `open_max` is how many permits were in use at
    once. `refusal` is why the message itself could not be handled. `error` is that of the server itself. If
    there is one, the message must come again. `namespace` is that of the policy, if it is
    known.
    """

    outcome: ServerOutcome | Literal["newer", "buried", "fault"]
    triggers: Counter[OutcomeName] = field(default_factory=Counter)
    noteworthy: Sequence[Handled] = ()
    open_max: int = 0
    refusal: Exception | None = None
    error: Exception | None = None
    namespace: str | None = None

    @property
    def errors(self) -> list[Exception]:
        """All errors, those of triggers included."""
        found = (*(each.error for each in self.noteworthy), self.refusal, self.error)
        return [each for each in found if each is not None]

    @property
    def is_done(self) -> bool:
        """Whether the queue need not deliver the message again."""
        return self.error is None


class FlowIntake:
    """Handles the messages about gates that the flow function receives."""

    def __init__(
        self,
        *,
        make_server: Callable[[LineDelivery], Server],
        make_delivery: Callable[[], LineDelivery],
        flow_queue: FlowQueue,
        queue: Queue,
    ) -> None:
        self._make_server = make_server
        self._make_delivery = make_delivery
        self._flow_queue = flow_queue
        self._queue = queue

    def handle(self, received: Received, *, deadline: Instant) -> Worked:
        """Handle a message. Nothing raises; at `deadline` the function's time is up."""
        delivery, namespace = self._make_delivery(), None
        outcome: ServerOutcome | Literal["fault"] = "fault"
        fault: Exception | None = None
        try:
            message = decode_gate_message(received.body)
            namespace = message.namespace
            outcome = self._make_server(delivery).handle(
                message, deadline, lambda: self._flow_queue.acknowledge(received.receipt)
            )
        except NewerError as error:
            return self._put_back(received, error)
        except PoisonError as error:
            return self._bury(received, error)
        except Exception as error:  # noqa: BLE001 - SQS shows the message again
            fault = error
        return Worked(
            outcome,
            delivery.outcomes,
            delivery.noteworthy,
            delivery.open_max,
            error=fault,
            namespace=namespace,
        )

    def _put_back(self, received: Received, error: NewerError) -> Worked:
        """Send a message again that only a newer version can handle, however often it comes."""
        try:
            self._flow_queue.send(NewerMessage(received.body), NEWER_MS)
        except Exception as worse:  # noqa: BLE001 - same
            return Worked("fault", error=worse)
        return Worked("newer", refusal=error)

    def _bury(self, received: Received, error: PoisonError) -> Worked:
        try:
            self._queue.bury([(DeadLetter(received.body, str(error)), None)])
        except Exception as worse:  # noqa: BLE001 - same
            return Worked("fault", error=worse)
        return Worked("buried", refusal=error)
