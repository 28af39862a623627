"""Splitting a range, which is many triggers of one revision in one message, into single triggers."""

from sweephand.base.instants import Instant
from sweephand.base.timing import QUEUE_DELAY_MAX_MS, UNKNOWN_GRACE_MS
from sweephand.jobs.expiry import JobExpiry
from sweephand.model.job import Revision
from sweephand.model.revisions import Liveness, liveness_of_retry, liveness_on_demand
from sweephand.model.run_id import is_exempt_from_pause
from sweephand.model.trigger import RangeMessage
from sweephand.ports.clock import Clock
from sweephand.ports.queue import Queue
from sweephand.ports.runs import RunStore
from sweephand.ports.wheel import TimerStore
from sweephand.runs.delivery import JobRead, JobReads
from sweephand.runs.received import Outcome
from sweephand.runs.requeue import Requeue, Retention
from sweephand.wheel.arm import delay_of, later_batch, split_range
from sweephand.wheel.catchup import OccurrenceRange, record_misfires, skipped_run


class TriggerRanges:
    """Splits ranges until their triggers are single. For skipped misfires it writes the record."""

    def __init__(
        self,
        *,
        job_reads: JobReads,
        runs: RunStore,
        timers: TimerStore,
        queue: Queue,
        requeue: Requeue,
        expiry: JobExpiry,
        retention: Retention,
        clock: Clock,
    ) -> None:
        self._job_reads = job_reads
        self._expiry = expiry
        self._retention = retention
        self._runs = runs
        self._timers = timers
        self._queue = queue
        self._requeue = requeue
        self._clock = clock

    def handle(self, message: RangeMessage) -> Outcome:
        """Handle a range. When this returns, its message may be acknowledged.

        StoreError: the message must come again.
        """
        now = self._clock.now()
        return self._skip(message, now) if message.are_skipped else self._split(message, now)

    def _split(self, message: RangeMessage, now: Instant) -> Outcome:
        """Split a range that is alive. Otherwise up to a million triggers would be put back one by one."""
        read = self._job_reads.reread(message.key)
        revision = self._job_reads.revision(message, read.job, message.first.due_at)
        job, liveness = read.job, _liveness_of(message, read, revision)
        if liveness == "unknown":
            return self._unknown(message, now)
        if liveness == "held" and job is not None and job.paused_at is not None:
            self._requeue.put_back(message, now + now - job.paused_at)
            return Outcome("held")
        if job is not None:
            last = message.last
            if last is not None:
                message = self._requeue.data.of_range(message, last.at)
            message, timer = later_batch(message, job.shard, now)
            if timer is not None and last is not None:
                # The job's expiry counts from the end of its series, which may be over.
                self._retention.keep_job(job, last.at + job.definition.run_time_max_ms)
                self._timers.put([timer])
        self._queue.send(
            [(part, min(delay_of(part, now), QUEUE_DELAY_MAX_MS)) for part in split_range(message)]
        )
        return Outcome("split")

    def _skip(self, message: RangeMessage, now: Instant) -> Outcome:
        """Record misfires that are skipped, if the revision that skips them was committed.

        They may have been the last triggers of the job, so the job may expire then.
        """
        job = self._job_reads.reread(message.key).job
        if job is None or self._job_reads.revision(message, job, message.first.due_at) is None:
            return self._unknown(message, now)
        skipped = OccurrenceRange(message.first, message.series.last_through(message.until, message.first))
        record_misfires(self._runs, skipped_run(message, skipped, job, message.armed_at), message.series)
        self._expiry.ended(job)
        return Outcome("skipped")

    def _unknown(self, message: RangeMessage, now: Instant) -> Outcome:
        if now - message.armed_at >= UNKNOWN_GRACE_MS:
            return Outcome("dropped")
        self._requeue.await_commit(message, message.armed_at)
        return Outcome("unknown")


def _liveness_of(message: RangeMessage, read: JobRead, revision: Revision | None) -> Liveness:
    """Whether a range has anything to deliver. Each of its triggers is checked again by itself."""
    if is_exempt_from_pause(message.demand):
        return liveness_on_demand(read.job, uid=message.uid)
    if revision is None and message.demand is None:
        return "unknown"
    return liveness_of_retry(read.job, uid=message.uid)
