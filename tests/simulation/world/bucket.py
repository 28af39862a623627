"""The payload bucket of a simulation: its objects, the jobs that use them, and the lifecycle rule."""

from collections.abc import Callable, Iterator

from tests.fakes.memory import MemoryPayloads
from tests.simulation.oracle.lives import told
from tests.simulation.oracle.runs import DATA_GONE

from sweephand.base.instants import MINUTE_MS, Instant
from sweephand.model.job import Job, JobKey
from sweephand.model.run import Run

Place = tuple[str, str]

#: The audit passes over objects that are younger than this, since a write of their job may still be under
#: way.
YOUNG_MS = 4 * MINUTE_MS


class _Expiring(MemoryPayloads):
    """A store whose lifecycle rule removes each object in time."""

    def get(self, uid: str, ref: str) -> str | None:
        self.remove_old(self._now())
        return super().get(uid, ref)

    def renew(self, uid: str, ref: str) -> bool:
        self.remove_old(self._now())
        return super().renew(uid, ref)


class Bucket:
    """Follows the objects and the jobs that refer to them, by true time."""

    def __init__(self, now: Callable[[], Instant]) -> None:
        self._now = now
        self._discarded_at: dict[Place, Instant] = {}
        self._failed: list[str] = []
        self._of_jobs: dict[JobKey, Place] = {}
        self._let_go_at: dict[Place, Instant] = {}
        self.written_at: dict[Place, Instant] = {}
        self.discarded: set[Place] = set()
        self.objects: dict[Place, str] = {}
        self.referred: set[Place] = set()
        #: When the last audit began that went through all objects.
        self.audited_at: Instant = 0

    def store(self) -> MemoryPayloads:
        """ports.PayloadPlace over these objects."""
        store = _Expiring(self._now)
        store._payloads, store.discarded, store.written_at = self.objects, self.discarded, self.written_at
        store._discarded_at = self._discarded_at
        return store

    def run_changed(self, run: Run | None) -> None:
        """Note a run that failed because its data was gone. A run may be redriven when its data is gone."""
        has_failed = run is not None and run.state == "failed" and not run.is_redriven
        if run is not None and has_failed and DATA_GONE in (run.reason or ""):
            self._failed.append(f"{run.key.name}: {run.run_id} failed, because its data was gone")

    def job_changed(self, before: Job | None, after: Job | None) -> None:
        """Note that a job's item was written or removed."""
        job = after or before
        assert job is not None, "what changed is or was there"
        payload = after.definition.payload if after is not None else None
        former = self._of_jobs.pop(job.key, None)
        if former is not None:
            self._let_go_at[former] = self._now()
        if after is not None and payload is not None and payload.ref is not None:
            place = self._of_jobs[job.key] = (after.uid, payload.ref)
            self.referred.add(place)

    def expire(self) -> None:
        """Run the lifecycle rule for data of jobs: none that is marked can be read any more, as after weeks.

        The data of triggers is removed in time.
        """
        for place in self.discarded & self.referred:
            self.objects.pop(place, None)

    def complaints(self) -> Iterator[str]:
        """Return complaints: about objects that are needed and that expire, and about those that should."""
        yield from self._failed
        for key, place in self._of_jobs.items():
            if place not in self.objects or place in self.discarded:
                yield f"{key.name}: the job is there, and its data was let go of"
        for place in self.objects.keys() - set(self._of_jobs.values()) - self.discarded:
            left_at = max(self.written_at[place], self._let_go_at.get(place, 0))
            if left_at < self.audited_at - YOUNG_MS:
                yield f"no job refers to the data {'/'.join(place)} since {told(left_at)}, and it is kept"
