"""Showing how far a batch is, and when it will probably be over."""

from dataclasses import dataclass
from typing import Literal

from sweephand.base.errors import ConflictError, NotFoundError
from sweephand.base.instants import INSTANT_MAX, Instant
from sweephand.base.timing import CLOCK_SKEW_MAX_MS, PENDING_MAX_MS, TIMER_RETENTION_MS
from sweephand.jobs.change_history import ChangeHistory
from sweephand.jobs.policy_check import PolicyCheck
from sweephand.model.batch_mark import BatchName, BatchSize
from sweephand.model.batch_progress import BatchHead
from sweephand.model.job import Job, JobKey
from sweephand.model.page import Page
from sweephand.model.run import Run
from sweephand.model.run_id import Counts, RunName, batch_id, is_exempt_from_pause
from sweephand.ports.jobs import JobStore
from sweephand.ports.runs import BatchStore, RunStore
from sweephand.runs.batch_progress import counts_of
from sweephand.runs.pending import may_come, series_at
from sweephand.schedules import Occurrence, Series
from sweephand.schedules.triggers import last_trigger_of
from sweephand.wheel.catchup import runs_before

#: `scheduled`: its first trigger is due in the future. `waiting`: its job is paused. `succeeded`, `failed`:
#: all of its runs are over. `cancelled`: its job was deleted before that.
BatchState = Literal["scheduled", "running", "waiting", "succeeded", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class BatchView:
    """A batch as it is now. `estimated_end_at` is None if it has ended or waits, or cannot be estimated."""

    head: BatchHead
    state: BatchState
    counts: Counts
    estimated_end_at: Instant | None


class BatchReader:
    """Reads the progress of batches."""

    def __init__(
        self,
        *,
        batches: BatchStore,
        jobs: JobStore,
        runs: RunStore,
        changes: ChangeHistory,
        policies: PolicyCheck,
    ) -> None:
        self._batches = batches
        self._jobs = jobs
        self._runs = runs
        self._changes = changes
        self._policies = policies

    def get(self, key: JobKey, first: RunName, now: Instant) -> BatchView:
        """The batch whose first run has that name. It reads one item for each 1,000 triggers.

        Raises NotFoundError if the job has no such batch, or none that is known. Raises ConflictError if it
        keeps no progress.
        """
        head, job = self._batches.find(key, first.due_at, first.demand), self._jobs.get(key)
        if head is None:
            head, counts = self._begun(job, key, first, now), Counts()
        else:
            counts = counts_of(self._batches, head)
        state = _state_of(head, counts, job, now)
        is_going_on = state in ("scheduled", "running")
        return BatchView(head, state, counts, _estimated_end(head, counts, now) if is_going_on else None)

    def _begun(self, job: Job | None, key: JobKey, first: RunName, now: Instant) -> BatchHead:
        """The head of a batch of which no run is over yet, by the definition that the batch belongs to."""
        missing = f"The job {key.name} has no batch {batch_id(first.due_at, first.demand)}"
        if job is None or job.is_gone(now):
            raise NotFoundError(f"{missing}.")
        record = self._record(job, first, now)
        if record is not None and record.last_due_at is not None:
            raise NotFoundError(
                f"{missing}. It was skipped as a misfire, for which the run {record.run_id} has the record."
            )
        series = self._series(job, first)
        batch = None if series is None else series.batch
        if series is None or batch is None or not self._has(job, series, first, now, record):
            raise NotFoundError(f"{missing}.")
        if not batch.is_counted:
            raise ConflictError(
                f'The job {key.name} keeps no progress of its batches, because its history is "failures" and '
                "it has no onComplete."
            )
        size = BatchSize(batch.size, batch.window_ms)
        return BatchHead(BatchName(key, job.uid, first.due_at, first.demand), size)

    def _series(self, job: Job, first: RunName) -> Series | None:
        """The series of the batch; None if it is not known."""
        series = series_at(job, first.due_at, self._changes)
        # A batch by hand in a pause belongs to no revision.
        return series or (job.series if first.demand is not None else None)

    def _record(self, job: Job, first: RunName, now: Instant) -> Run | None:
        """A record of the schedule's batch of that due time, or the record of the misfires with it.

        None if there is no record.
        """
        if first.demand is not None or first.due_at > now:
            return None
        found = runs_before(self._runs, job.key, first.due_at + 1)
        own = (each for each in found if each.uid == job.uid and each.demand is None)
        latest = next(own, None)
        return latest if latest is not None and latest.through >= first.due_at else None

    def _has(self, job: Job, series: Series, first: RunName, now: Instant, record: Run | None) -> bool:
        """Whether the job has, or will have, a batch of that name, by the series of its due time."""
        if first.demand is None:
            coming = series.next_after(first.due_at - 1)
            if coming is None or coming.due_at != first.due_at:
                return False
            return record is not None or self._may_come(job, series, coming, now)
        # Nothing but its name exists of a batch by hand before its first run is over.
        is_recent = now - PENDING_MAX_MS < first.due_at <= now + CLOCK_SKEW_MAX_MS
        return first.demand.kind == "manual" and is_recent and first.due_at >= job.created_at

    def _may_come(self, job: Job, series: Series, occurrence: Occurrence, now: Instant) -> bool:
        """Whether a batch of which there is no record may still come.

        Timers and messages last for 14 days, not counting a pause. Under a policy that is missing, triggers
        may wait for longer. A batch that is older had records and marks, which have expired.
        """
        at = max(last_trigger_of(series, occurrence).at, job.resumed_at or 0)
        reached_at = now if job.paused_at is None else job.paused_at
        if reached_at - at < TIMER_RETENTION_MS:
            return True
        if job.definition.policy is None:
            return False
        return may_come(job, at, reached_at)

    def page(self, key: JobKey, before: str, limit: int) -> Page[BatchHead]:
        """The batches of a job of which at least one run is over, newest due time first."""
        return self._batches.page(key, before, limit)


def _state_of(head: BatchHead, counts: Counts, job: Job | None, now: Instant) -> BatchState:
    if head.ended_at is not None:
        return "succeeded" if counts.succeeded == head.size.total else "failed"
    if job is None or job.uid != head.name.uid:
        return "cancelled"
    if job.paused_at is not None and not is_exempt_from_pause(head.name.demand):
        return "waiting"
    return "scheduled" if head.name.due_at > now else "running"


def _estimated_end(head: BatchHead, counts: Counts, now: Instant) -> Instant | None:
    """When the batch is over if it goes on at the pace that it has had since it began.

    That is not before its last trigger is due. None if no run is over and all triggers are due, and for an
    instant that no answer can show.
    """
    total, window_ms = head.size
    due_at = head.name.due_at
    last_due_at = due_at + (total - 1) * window_ms // total
    if not counts.over:
        end_at = last_due_at if last_due_at >= now else None
    else:
        began_at = due_at if head.began_at is None else head.began_at
        left_ms = (total - counts.over) * max(now - began_at, 0) // counts.over
        end_at = max(last_due_at, now + left_ms)
    # A batch of millions that has begun slowly may need longer than years have four digits.
    return None if end_at is None or end_at > INSTANT_MAX else end_at
