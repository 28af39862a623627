"""Keeping a job and the record of a run for as long as a trigger that waits needs them."""

from dataclasses import replace
from typing import Final

from sweephand.base.errors import StoreError
from sweephand.base.instants import INSTANT_MAX, Instant
from sweephand.base.timing import ATTEMPT_DELAY_MAX_MS, TIMER_RETENTION_MS
from sweephand.model.job import Job
from sweephand.model.run import Run
from sweephand.ports import Clock, Ids, JobStore, RunStore

#: Others can write a job between a read and a write. After so many tries the message comes again.
_WRITES_MAX: Final = 5


class Retention:
    """Extends the retention of jobs and runs. Several threads may share one object."""

    def __init__(self, *, jobs: JobStore, runs: RunStore, clock: Clock, ids: Ids) -> None:
        self._jobs = jobs
        self._runs = runs
        self._clock = clock
        self._ids = ids

    def keep_job(self, job: Job, until: Instant) -> None:
        """Keep a job that is going to expire, and its name, for at least an hour after that instant.

        The hour is for an attempt that begins late. The stored `expires_at` counts one run after the last due
        time, but runs that may not overlap come one after the other. One write adds a day more than needed,
        or the job's retention if that is longer. A job that is gone, or replaced by another of its name, is
        left alone.

        StoreError: the job may expire too early.
        """
        stored: Job | None = job
        until = until + ATTEMPT_DELAY_MAX_MS
        for _ in range(_WRITES_MAX):
            if stored is None or stored.uid != job.uid or stored.expires_at is None:
                return
            if stored.expires_at >= until:
                return
            expires_at = min(until + stored.definition.put_off_ms, INSTANT_MAX)
            kept = replace(stored, version=self._ids.token(), expires_at=expires_at)
            if self._jobs.put(kept, stored.version):
                return
            stored = self._jobs.get(job.key)
        raise StoreError(f"{job.key} was changed {_WRITES_MAX} times between a read and a write")

    def keep_run(self, run: Run | None) -> None:
        """Keep the record of a run whose next attempt a pause holds back, for two weeks from now.

        It writes only when less than half of that time is left. If another invocation changes the run at the
        same moment, nothing is written.
        """
        if run is None or run.state != "retrying" or run.expires_at is None:
            return
        now = self._clock.now()
        if run.expires_at - now < TIMER_RETENTION_MS // 2:
            kept = replace(run, expires_at=now + TIMER_RETENTION_MS, version=self._ids.token())
            self._runs.move(kept, run)
