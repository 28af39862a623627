"""Whether a run that ends is its job's last, with which the job may want to go (`deleteAfterCompletion`)."""

from contextlib import suppress
from dataclasses import replace
from typing import Final

from sweephand.errors import StoreError
from sweephand.instants import Instant
from sweephand.jobs.job import Job
from sweephand.ports import Clock, Ids, JobStore, RunStore
from sweephand.runs.run import Run

#: The newest runs, among which one that is not over is looked for: what lies behind them had its time.
_RUNS_MAX: Final = 50

#: A job that others keep writing is left to its retention.
_WRITES_MAX: Final = 5


class Completions:
    """Lets jobs expire with their last run. Others do no harm: what a job still owes is owed as ever."""

    def __init__(self, *, jobs: JobStore, runs: RunStore, clock: Clock, ids: Ids) -> None:
        self._jobs = jobs
        self._runs = runs
        self._clock = clock
        self._ids = ids

    def ended(self, job: Job, run: Run) -> None:
        """Let the job expire now if it wants that and this run, which is about to be recorded, is the last.

        Its item stays for two weeks more, as that of every job that has expired: a trigger that comes late is
        delivered all the same. What cannot be written now is left to the job's retention.
        """
        if not job.definition.deletes_after_completion:
            return
        with suppress(StoreError):
            now = self._clock.now()
            if _is_ending(job, now) and self._is_last(job, run):
                self._expire(job, now)

    def _is_last(self, job: Job, run: Run) -> bool:
        others = [
            each
            for each in self._runs.page(job.key, None, "", _RUNS_MAX).items
            if each.uid == job.uid and each.run_id != run.run_id
        ]
        if not all(each.is_over for each in others):
            return False
        dues = [each.due_at for each in (*others, run) if each.demand is None]
        # Where successes leave no record, nobody can say whether the last one is still on its way.
        is_known = job.definition.records_successes
        return not is_known or (bool(dues) and job.series.next_after(max(dues)) is None)

    def _expire(self, job: Job, now: Instant) -> None:
        stored: Job | None = job
        for _ in range(_WRITES_MAX):
            if stored is None or stored.uid != job.uid or not _is_ending(stored, now):
                return
            if self._jobs.put(replace(stored, version=self._ids.token(), expires_at=now), stored.version):
                return
            stored = self._jobs.get(job.key)


def _is_ending(job: Job, now: Instant) -> bool:
    """Whether the job wants to go, has nothing to come, and has not gone yet."""
    wants = job.definition.deletes_after_completion
    return wants and job.paused_at is None and not job.is_gone(now) and job.series.next_after(now) is None
