"""Whether the last run of a job is over, after which the job may be deleted (`deleteAfterCompletion`)."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Final

from sweephand.base.errors import StoreError
from sweephand.base.instants import MINUTE_MS, Instant
from sweephand.base.timing import BULK_TIME_LIMIT_MS, CLOCK_SKEW_MAX_MS
from sweephand.model.job import Job
from sweephand.model.run import Run
from sweephand.ports.clock import Clock, Ids
from sweephand.ports.jobs import JobStore
from sweephand.ports.runs import LineStore, RunStore

#: Runs that are read at once.
_PAGE_MAX: Final = 1_000

#: A trigger is due at most this long before its job's creation, because a `dueTime` just past counts as now.
_PAST_MS: Final = MINUTE_MS + CLOCK_SKEW_MAX_MS

#: After this many lost writes, the job is left to its retention.
_WRITES_MAX: Final = 5


class JobExpiry:
    """Lets jobs expire when all their runs are over. It judges by the stored runs, so callers may repeat it.

    It is called when the end of a run is recorded, and again when that run's message comes again. It is also
    called when misfires are recorded as skipped, and by a resume. So if several runs end at once, the last
    call sees all of them. If a function crashes in between, a later call follows.
    """

    def __init__(self, *, jobs: JobStore, runs: RunStore, lines: LineStore, clock: Clock, ids: Ids) -> None:
        self._jobs = jobs
        self._runs = runs
        self._lines = lines
        self._clock = clock
        self._ids = ids

    def ended(self, job: Job | None, run: Run | None = None) -> None:
        """Let the job expire now if it asks for that and its last run is over; `run` may have no record.

        Like every expired job, its item stays for two weeks more, so that a late trigger is still delivered.
        If the job cannot be written now, it is left to its retention.
        """
        if job is None or not job.definition.deletes_after_completion:
            return
        stored: Job | None = job
        with suppress(StoreError):
            now = self._clock.now()
            for _ in range(_WRITES_MAX):
                if stored is None or not _is_ending(stored, now) or not self._are_over(stored, run, now):
                    return
                expired = replace(stored, version=self._ids.token(), expires_at=now)
                if self._jobs.put(expired, stored.version):
                    return
                stored = self._jobs.get(job.key)

    def _are_over(self, job: Job, run: Run | None, now: Instant) -> bool:
        """Whether the records say that every run of the job is over; they are read from newest to oldest.

        It is also False if reading takes too long. Then the job is left to its retention.
        """
        until, has_run = now + BULK_TIME_LIMIT_MS, run is None
        due: dict[Instant, Instant] = {}
        before: str | None = ""
        while before is not None:
            page = self._runs.page(job.key, None, before, _PAGE_MAX, with_batches=job.has_batches)
            for each in page.items:
                if each.uid != job.uid:
                    continue
                if not each.is_over:
                    return False
                has_run = has_run or (run is not None and each.run_id == run.run_id)
                if each.demand is None:
                    due[each.due_at] = each.through
            # Runs before its creation are those of earlier jobs of its name, and its own backfilled runs.
            is_before = bool(page.items) and page.items[-1].due_at < job.created_at - _PAST_MS
            is_all = not page.items or (is_before and (job.late_until or 0) < now)
            before = None if is_all else page.next
            if before is not None and self._clock.now() >= until:
                return False
        if run is not None and not has_run and run.uid == job.uid and run.demand is None:
            due[run.due_at] = run.through
        if not due or job.series.next_after(max(due.values())) is not None:
            return False
        # Without records of successes, only the last run has one. Otherwise each run under way lacks a
        # record.
        if job.definition.records_successes and not _have_records(job, due, now):
            return False
        return not self._is_line_used(job)

    def _is_line_used(self, job: Job) -> bool:
        """Whether a trigger holds the job's line, or waits in it, whose run is not over.

        The run of such a trigger may have no record yet. Its end calls ended() again.
        """
        stored = self._lines.get(job.key)
        if stored is None or stored.uid != job.uid or stored.line.holder is None:
            return False
        messages = (stored.line.holder.message, *stored.line.waiting)
        found = (self._runs.of(each.trigger) for each in messages)
        return any(each is None or not each.is_over for each in found)


def _have_records(job: Job, due: Mapping[Instant, Instant], now: Instant) -> bool:
    """Whether each occurrence of the present revision has a record, as far back as records are kept.

    `due` has the due times of the records, each with the last due time that the record stands for. When the
    run of an occurrence without a record is over, its end calls this again.
    """
    kept_since = now - job.definition.history_retention_ms + CLOCK_SKEW_MAX_MS
    ranges = [(first, last) for first, last in due.items() if last > first]
    following = job.series.next_after(max(job.current.since, kept_since))
    while following is not None and following.due_at <= now:
        at = following.due_at
        ends = [last for first, last in ranges if first <= at <= last]
        if at not in due and not ends:
            return False
        # A record of skipped misfires may stand for millions, so the loop leaps over them.
        following = job.series.next_after(max([at, *ends]))
    return True


def is_last(job: Job, run: Run) -> bool:
    """Whether the run is that of the job's last occurrence, and the job is to be deleted after it."""
    return (
        job.definition.deletes_after_completion
        and run.batch is None
        and run.demand is None
        and job.series.next_after(run.due_at) is None
    )


def _is_ending(job: Job, now: Instant) -> bool:
    """Whether the job is to be deleted after its last run, has no occurrence left, and has not expired."""
    wants = job.definition.deletes_after_completion
    return wants and job.paused_at is None and not job.is_gone(now) and job.series.has_ended(now)
