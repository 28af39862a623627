"""Keeping what a trigger needs for as long as the trigger waits: its job, and the record of its run."""

from dataclasses import replace
from typing import Final

from sweephand.base.errors import StoreError
from sweephand.base.instants import INSTANT_MAX, Instant
from sweephand.base.timing import ATTEMPT_DELAY_MAX_MS, TIMER_RETENTION_MS
from sweephand.jobs.draft import put_off_ms
from sweephand.model.job import Job
from sweephand.model.run import Run
from sweephand.ports import Clock, Ids, JobStore, RunStore

#: Others can write a job between reading and writing it; after so many the message comes again.
_WRITES_MAX: Final = 5


class Retention:
    """Puts off the end of what would go too early; several threads may share one."""

    def __init__(self, *, jobs: JobStore, runs: RunStore, clock: Clock, ids: Ids) -> None:
        self._jobs = jobs
        self._runs = runs
        self._clock = clock
        self._ids = ids

    def keep_job(self, job: Job, until: Instant) -> None:
        """Have a job whose end is known, and its name, stay for an hour after that instant at least.

        The hour is for an attempt that begins late.

        `expires_at` counts one run from the last due time, but runs that take turns come one after the other.
        One write puts it off for a day more than is needed, or for the job's retention if that is longer. A
        job that is gone or another one by now is left alone. StoreError: it may go too early.
        """
        stored: Job | None = job
        until = until + ATTEMPT_DELAY_MAX_MS
        for _ in range(_WRITES_MAX):
            if stored is None or stored.uid != job.uid or stored.expires_at is None:
                return
            if stored.expires_at >= until:
                return
            expires_at = min(until + put_off_ms(stored.definition), INSTANT_MAX)
            kept = replace(stored, version=self._ids.token(), expires_at=expires_at)
            if self._jobs.put(kept, stored.version):
                return
            stored = self._jobs.get(job.key)
        raise StoreError(f"{job.key} was written by others {_WRITES_MAX} times")

    def keep_run(self, run: Run | None) -> None:
        """Have the record of a run whose next attempt is held stay for two weeks more, if it would go sooner.

        Where somebody else changes it at the same moment, nothing is written.
        """
        if run is None or run.state != "retrying" or run.expires_at is None:
            return
        now = self._clock.now()
        if run.expires_at - now < TIMER_RETENTION_MS // 2:
            kept = replace(run, expires_at=now + TIMER_RETENTION_MS, version=self._ids.token())
            self._runs.move(kept, run)
