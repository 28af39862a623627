"""What becomes of a span: many triggers of one revision in one message."""

from sweephand.base.instants import Instant
from sweephand.base.timing import QUEUE_DELAY_MAX_MS, UNKNOWN_DELAY_MS, UNKNOWN_GRACE_MS
from sweephand.jobs.expiry import JobExpiry
from sweephand.model.job import Revision
from sweephand.model.liveness import (
    Liveness,
    live_again,
    live_by_hand,
)
from sweephand.model.run_id import is_exempt
from sweephand.model.trigger import RangeMessage
from sweephand.ports import Clock, Queue, RunStore
from sweephand.runs.job_reads import JobRead, JobReads
from sweephand.runs.outcome import Outcome
from sweephand.runs.requeue import Requeue
from sweephand.wheel.arm import delay_of, split
from sweephand.wheel.catchup import OccurrenceRange
from sweephand.wheel.misfires import record_skipped


class TriggerRanges:
    """Splits spans until their triggers are single, or records those that do not fire."""

    def __init__(
        self,
        *,
        job_reads: JobReads,
        runs: RunStore,
        queue: Queue,
        requeue: Requeue,
        expiry: JobExpiry,
        clock: Clock,
    ) -> None:
        self._job_reads = job_reads
        self._expiry = expiry
        self._runs = runs
        self._queue = queue
        self._requeue = requeue
        self._clock = clock

    def handle(self, span: RangeMessage) -> Outcome:
        """Deal with a span; returns when it may be acknowledged. StoreError: it must come again."""
        now = self._clock.now()
        return self._skip(span, now) if span.are_skipped else self._split(span, now)

    def _split(self, span: RangeMessage, now: Instant) -> Outcome:
        """Split a span that is alive: what could not be delivered now would come round a million times."""
        read = self._job_reads.reread(span.key)
        revision = self._job_reads.revision(span, read.job, span.first.due_at)
        job, liveness = read.job, _liveness_of(span, read, revision)
        if liveness == "unknown":
            return self._unknown(span, now)
        if liveness == "held" and job is not None and job.paused_at is not None:
            self._requeue.put_back(span, now + now - job.paused_at)
            return Outcome("held")
        self._queue.send([(part, min(delay_of(part, now), QUEUE_DELAY_MAX_MS)) for part in split(span)])
        return Outcome("split")

    def _skip(self, span: RangeMessage, now: Instant) -> Outcome:
        """Record misfires that do not fire, if the revision that skips them was committed.

        They may have been the last that the job had to come: then it may go.
        """
        job = self._job_reads.reread(span.key).job
        if job is None or self._job_reads.revision(span, job, span.first.due_at) is None:
            return self._unknown(span, now)
        skipped = OccurrenceRange(span.first, span.series.last_through(span.until, span.first))
        record_skipped(self._runs, span, skipped, span.series, job, decided_at=span.armed_at)
        self._expiry.ended(job)
        return Outcome("skipped")

    def _unknown(self, span: RangeMessage, now: Instant) -> Outcome:
        if now - span.armed_at >= UNKNOWN_GRACE_MS:
            return Outcome("dropped")
        self._requeue.put_back(span, now + UNKNOWN_DELAY_MS)
        return Outcome("unknown")


def _liveness_of(span: RangeMessage, read: JobRead, revision: Revision | None) -> Liveness:
    """Whether there is anything to deliver in a span; each of its triggers is asked for itself again."""
    if is_exempt(span.demand):
        return live_by_hand(read.job, uid=span.uid)
    if not span.is_owed and revision is None:
        return "unknown"
    return live_again(read.job, uid=span.uid)
