"""How Sweephand pauses a job by itself, because of what became of one of its triggers."""

from dataclasses import replace

from sweephand.jobs.job import JobKey
from sweephand.ports import Clock, Ids, JobStore


class JobPauses:
    """settle.Pauses over the jobs; of several who write one job, each reads what the other wrote."""

    def __init__(self, *, jobs: JobStore, clock: Clock, ids: Ids) -> None:
        self._jobs = jobs
        self._clock = clock
        self._ids = ids

    def pause(self, key: JobKey, *, uid: str, reason: str) -> None:
        """Pause the job if it is there, the one of that uid, and not paused yet."""
        while True:
            job = self._jobs.get(key)
            if job is None or job.uid != uid or job.paused_at is not None:
                return
            paused_at = max(self._clock.now(), job.cut)
            paused = replace(job, version=self._ids.token(), paused_at=paused_at, pause_reason=reason)
            if self._jobs.put(paused, job.version):
                return
