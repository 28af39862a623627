"""The bucket of payloads in a simulation: what jobs refer to, and what its lifecycle removes."""

from collections.abc import Callable, Iterator

from tests.fakes.memory import MemoryPayloads
from tests.simulation.oracle.lives import told

from sweephand.base.instants import MINUTE_MS, Instant
from sweephand.model.job import Job, JobKey

Place = tuple[str, str]

#: What the audit leaves alone: what is so young that a write of its job may still be under way.
YOUNG_MS = 4 * MINUTE_MS


class Bucket:
    """Follows the objects and the jobs that refer to them, by the true clock."""

    def __init__(self, now: Callable[[], Instant]) -> None:
        self._now = now
        self._of_jobs: dict[JobKey, Place] = {}
        self._let_go_at: dict[Place, Instant] = {}
        self.written_at: dict[Place, Instant] = {}
        self.discarded: set[Place] = set()
        self.objects: dict[Place, str] = {}
        self.referred: set[Place] = set()
        #: When the last audit began that went through all objects.
        self.audited_at: Instant = 0

    def store(self) -> MemoryPayloads:
        """ports.PayloadStore over these objects."""
        store = MemoryPayloads(self._now)
        store._payloads, store.discarded, store.written_at = self.objects, self.discarded, self.written_at
        return store

    def job_changed(self, before: Job | None, after: Job | None) -> None:
        """A job's item was written, or is gone."""
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
        """The lifecycle: what jobs let go of can no longer be read, as after two weeks.

        What a trigger by hand was given is let go of at once: it has two weeks, which no seed outlasts.
        """
        for place in self.discarded & self.referred:
            self.objects.pop(place, None)

    def complaints(self) -> Iterator[str]:
        """Objects that a job needs and that expire, and objects that nobody needs and that do not."""
        for key, place in self._of_jobs.items():
            if place not in self.objects or place in self.discarded:
                yield f"{key.name}: the job is there, and its data was let go of"
        for place in self.objects.keys() - set(self._of_jobs.values()) - self.discarded:
            left_at = max(self.written_at[place], self._let_go_at.get(place, 0))
            if left_at < self.audited_at - YOUNG_MS:
                yield f"no job refers to the data {'/'.join(place)} since {told(left_at)}, and it is kept"
