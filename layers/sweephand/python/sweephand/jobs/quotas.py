"""What a namespace may still write: the size of data, and the number of stored jobs.

A namespace never stores more jobs than its limit allows, once the limit is known to all processes and the
jobs were counted: some four minutes after the limit was set. A deleted job frees its place at once, where it
is certain that the job is counted (JobCount.has_counted). A creation may be refused although a place is free,
because a job that has expired keeps its place until the jobs are counted anew. That takes up to ten minutes,
and needs creations that ask for a place. If two callers delete one job at the same moment, both may free its
place. The SDK may repeat a creation whose answer was lost, and bring back a job that was deleted meanwhile.
In both cases the namespace can have one job too many, until a count that begins later has ended.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Final, NamedTuple

from sweephand.base.errors import InvalidError, QuotaError, StoreError, UnavailableError, Violation
from sweephand.base.instants import Instant
from sweephand.base.timing import REQUEST_OVER_MS
from sweephand.jobs.settings_cache import CachedSettings
from sweephand.model.definition import Payload
from sweephand.model.job import Job
from sweephand.model.namespace import JobCount
from sweephand.ports.clock import Clock, Ids
from sweephand.ports.flow import NamespaceStore

#: How often a count is written again that another process has overtaken.
_TRIES_MAX: Final = 20


class Reserved(NamedTuple):
    """Places for so many jobs that are about to be created, in a generation of the namespace's count.

    The jobs store it as `counted_in`. It is None if nothing is counted. `refusal` is there if fewer places
    were free than were wanted.
    """

    namespace: str
    places: int
    counted_in: int | None
    refusal: QuotaError | None = None


class Deletion(NamedTuple):
    """A job that is about to be deleted, and the count of its namespace before that."""

    job: Job
    before: JobCount


class Quotas:
    """Refuses what the limits of a namespace do not allow."""

    def __init__(self, *, namespaces: NamespaceStore, limits: CachedSettings, clock: Clock, ids: Ids) -> None:
        self._namespaces = namespaces
        self._limits = limits
        self._clock = clock
        self._ids = ids

    def check_payload(self, namespace: str, payload: Payload | None) -> None:
        """Raise InvalidError if the data is larger than the namespace's limit."""
        if payload is None:
            return
        most = self._limits.of(namespace).payload_bytes_max
        if most is not None and payload.size > most:
            detail = f"{payload.size} bytes of compact JSON; this namespace allows {most} (limits.payload)."
            raise InvalidError([Violation("/data", detail)])

    def reserve(self, namespace: str, wanted: int = 1) -> Reserved:
        """Count jobs that are about to be created: `wanted` of them, or as many as have a place.

        The namespace is listed among those that were used. UnavailableError if too many processes create jobs
        at once.
        """
        self._limits.enlist(namespace)
        jobs_max = self._limits.of(namespace).jobs_max
        if jobs_max is None:
            return Reserved(namespace, wanted, None)
        for _ in range(_TRIES_MAX):
            stored = self._current(namespace, jobs_max)
            count = min(wanted, jobs_max - stored.used)
            refusal = None if count >= wanted else _refusal(namespace, jobs_max)
            if count <= 0:
                return Reserved(namespace, 0, None, refusal)
            taken = self._namespaces.add_jobs(namespace, count, jobs_max, self._ids.token())
            if taken is not None:
                return Reserved(namespace, count, taken.generation, refusal)
        raise UnavailableError(_BUSY)

    def release(self, reserved: Reserved, count: int = 1) -> None:
        """Give back places of jobs that certainly were not created.

        They stay taken if a new count has begun since they were taken, or if the store fails. The next count
        finds them.
        """
        generation = reserved.counted_in
        if generation is not None and count:
            self._take_off(reserved.namespace, count, generation, lambda now: now.generation == generation)

    def before_deletion(self, job: Job) -> Deletion | None:
        """What after_deletion() needs once a job is deleted; None if the job has no place.

        A job that took a place has one, also where this process does not know the limit yet.
        """
        namespace = job.key.namespace
        if job.counted_in is None and self._limits.of(namespace).jobs_max is None:
            return None
        before = self._namespaces.job_count(namespace)
        return None if before is None else Deletion(job, before)

    def after_deletion(self, deletion: Deletion) -> None:
        """Free the place of a job that was deleted, if it is certain that the job is counted.

        Otherwise, or if the store fails, the next count finds the place.
        """
        job, before = deletion
        self._take_off(job.key.namespace, 1, job.counted_in, lambda now: now.has_counted(job, before))

    def _take_off(
        self, namespace: str, count: int, generation: int | None, is_counted: Callable[[JobCount], bool]
    ) -> None:
        """Take places of that generation off the count, as long as they are counted in it."""
        with suppress(StoreError):
            for _ in range(_TRIES_MAX):
                stored = self._stored(namespace)
                if not is_counted(stored):
                    return
                left = stored.without(count, generation, self._ids.token())
                if self._namespaces.put_job_count(namespace, left, stored.version):
                    return

    def begin(self, namespace: str) -> None:
        """Count the jobs of a namespace that gets a limit. UnavailableError if another process does so."""
        stored = self._namespaces.job_count(namespace)
        begun = self._begun(namespace, stored, self._clock.now())
        if not self._namespaces.put_job_count(namespace, begun, stored.version if stored else None):
            raise UnavailableError(_BUSY)

    def _begun(self, namespace: str, stored: JobCount | None, now: Instant) -> JobCount:
        count = JobCount("", 0) if stored is None else stored
        return count.begun(self._stored_jobs(namespace, now), now, self._ids.token())

    def _current(self, namespace: str, jobs_max: int) -> JobCount:
        """The count as it is stored, after a new one was begun or ended if it is time for that."""
        now, stored = self._clock.now(), self._namespaces.job_count(namespace)
        if stored is None:
            # If another process was faster, creations have taken places in its count by now.
            self._namespaces.put_job_count(namespace, self._begun(namespace, None, now), None)
            return self._stored(namespace)
        if stored.is_countable(now):
            jobs = self._stored_jobs(namespace, now, besides=stored.generation)
            return self._changed(namespace, stored, lambda each: each.counted(jobs, now, self._ids.token()))
        if stored.should_be_marked(jobs_max, now):
            return self._changed(namespace, stored, lambda each: each.marked(now, self._ids.token()))
        return stored

    def _changed(self, namespace: str, stored: JobCount, change: Callable[[JobCount], JobCount]) -> JobCount:
        """The count after a change, unless another process has begun or ended a new count meanwhile."""
        epoch = stored.epoch
        for _ in range(_TRIES_MAX):
            changed = change(stored)
            if self._namespaces.put_job_count(namespace, changed, stored.version):
                return changed
            stored = self._stored(namespace)
            if stored.epoch != epoch:
                return stored
        raise UnavailableError(_BUSY)

    def _stored_jobs(self, namespace: str, now: Instant, besides: int | None = None) -> int:
        """As NamespaceStore.stored_jobs(). Jobs that a request of another clock may still keep count too."""
        return self._namespaces.stored_jobs(namespace, now - REQUEST_OVER_MS, besides)

    def _stored(self, namespace: str) -> JobCount:
        found = self._namespaces.job_count(namespace)
        assert found is not None, "a count is never removed"
        return found


_BUSY: Final = "Too many jobs of the namespace are created at once. Nothing was written. Try again."


def _refusal(namespace: str, jobs_max: int) -> QuotaError:
    return QuotaError(
        f"The namespace {namespace} may store {jobs_max} jobs (limits.jobs), and it has as many. Delete jobs "
        "that are not needed. A job that has expired keeps its place until the jobs are counted again, for "
        "up to ten minutes."
    )
