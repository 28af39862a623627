"""Handling a message about a gate: one invocation of the flow function handles one."""

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import Literal

from sweephand.base.errors import NewerError, PoisonError, StoreError
from sweephand.base.instants import Instant
from sweephand.base.timing import NEWER_MS
from sweephand.flow.permit import Permit
from sweephand.flow.server import Server, ServerOutcome
from sweephand.model.batch_mark import Mark
from sweephand.model.gate_message import decode_gate_message
from sweephand.model.job import JobKey
from sweephand.model.trigger import DeadLetter, LineWait, NewerMessage, TriggerMessage
from sweephand.ports.flow import FlowQueue
from sweephand.ports.queue import Queue
from sweephand.runs.batch_progress import BatchProgress
from sweephand.runs.delivery import UNREAD, JobRead, JobReads
from sweephand.runs.intake import Intake
from sweephand.runs.received import Handled, OutcomeName, Received


class LineDelivery:
    """turn.Deliver for one function. It counts what became of triggers, and keeps what is for the log.

    The runs that are over are marked in the progress of their batches together: before the worker deletes an
    entry of the line. Other workers deliver their neighbours, so marks of single runs would often meet.
    """

    def __init__(self, *, intake: Intake, progress: BatchProgress, job_reads: JobReads) -> None:
        self._intake = intake
        self._progress = progress
        self._job_reads = job_reads
        self._reads: dict[JobKey, JobRead] = {}
        self._lock = Lock()
        #: The runs that are over and not known to be marked, in the order in which they ended. The order of a
        #: set would differ from process to process, and with it that of the writes.
        self._ended: dict[Mark, None] = {}
        self.outcomes: Counter[OutcomeName] = Counter()
        self.noteworthy: list[Handled] = []
        #: Triggers that are handled now, and the most that were handled at once. Each has a permit.
        self._open = 0
        self.open_max = 0

    def __call__(self, message: TriggerMessage, permit: Permit, deadline: Instant) -> bool | LineWait:
        """As turn.Deliver promises. The triggers of one job share a read for a second."""
        key = message.trigger.key
        read = self._reads.get(key, UNREAD)
        # If the job cannot be read, the handler of the trigger finds out, and counts the fault.
        with suppress(Exception):
            read = self._reads[key] = self._job_reads.fresh(key, read)
        with self._lock:
            self._open += 1
            self.open_max = max(self.open_max, self._open)
        handled = self._intake.handle_permitted(message, read, permit, deadline)
        with self._lock:
            self._open -= 1
            self.outcomes[handled.outcome.name] += 1
            if handled.outcome.ended is not None:
                self._ended[handled.outcome.ended] = None
            if handled.is_noteworthy:
                self.noteworthy.append(handled)
        if not handled.is_done:
            raise StoreError(f"a trigger could not be taken out of its line: {handled.error}")
        return handled.outcome.into or handled.outcome.name != "kept"

    def flush(self) -> None:
        """Mark the runs that are over, also those of other threads.

        StoreError: any of them may be marked. The next call tries again, and until then no entry of theirs
        may be deleted.
        """
        # Two threads may mark the same runs, which is harmless. None waits for the other while it is away.
        with self._lock:
            ended = tuple(self._ended)
        failed = self._progress.record(ended) if ended else {}
        with self._lock:
            for each in ended:
                if each.batch not in failed:
                    self._ended.pop(each, None)
        if failed:
            raise next(iter(failed.values()))


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
