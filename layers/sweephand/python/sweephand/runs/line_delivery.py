"""Delivering the triggers of a line by the code that delivers without a policy."""

from collections import Counter
from contextlib import suppress
from threading import Lock

from sweephand.base.errors import StoreError
from sweephand.base.instants import Instant
from sweephand.flow.permit import Permit
from sweephand.model.batch_mark import Mark
from sweephand.model.job import JobKey
from sweephand.model.trigger import LineWait, TriggerMessage
from sweephand.runs.batch_progress import BatchProgress
from sweephand.runs.delivery import UNREAD, JobRead, JobReads
from sweephand.runs.intake import Intake
from sweephand.runs.received import Handled, OutcomeName


class LineDelivery:
    """line_worker.Delivery for one worker. It counts what became of triggers, and keeps what is for the log.

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
        """As line_worker.Delivery promises. The triggers of one job share a read for a second."""
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
