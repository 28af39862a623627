"""What a namespace may still write: the size of data, and the number of stored jobs.

A namespace never stores more jobs than its limit allows, once the limit is known to all processes and the
jobs were counted: some four minutes after the limit was set. A creation may be refused although a place is
free, because a job that has expired keeps its place until the jobs are counted anew. That takes up to seven
minutes, and needs a creation that asks for a place. If two callers delete one job at the same moment, both
may free its place. Then the namespace can have one job too many until the next count.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Final, NamedTuple

from sweephand.base.errors import InvalidError, QuotaError, StoreError, UnavailableError, Violation
from sweephand.flow_ports import NamespaceStore
from sweephand.jobs.settings_cache import CachedSettings
from sweephand.model.definition import Payload
from sweephand.model.namespace import JobCount
from sweephand.ports import Clock, Ids

#: How often a count is written again that another process has overtaken.
_TRIES_MAX: Final = 20


class Reserved(NamedTuple):
    """Places for so many jobs that are about to be created, in an epoch of the namespace's count.

    `epoch` is None if nothing is counted. `refusal` is there if fewer places were free than were wanted.
    """

    namespace: str
    places: int
    epoch: int | None
    refusal: QuotaError | None = None


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
                return Reserved(namespace, count, taken.epoch, refusal)
        raise UnavailableError(_BUSY)

    def before_deletion(self, namespace: str) -> Reserved:
        """What release() needs once a job is deleted."""
        if self._limits.of(namespace).jobs_max is None:
            return Reserved(namespace, 0, None)
        stored = self._namespaces.job_count(namespace)
        return Reserved(namespace, 0, None if stored is None else stored.epoch)

    def release(self, reserved: Reserved, count: int = 1) -> None:
        """Take jobs off the count that were deleted, or that certainly were not created.

        Nothing is taken off while the jobs are counted anew, or if they were since `reserved`, or if the
        store fails. The next count finds these places.
        """
        if reserved.epoch is None or not count:
            return
        with suppress(StoreError):
            for _ in range(_TRIES_MAX):
                stored = self._namespaces.job_count(reserved.namespace)
                if stored is None or stored.epoch != reserved.epoch or stored.marked_at is not None:
                    return
                left = stored.without(count, self._ids.token())
                if self._namespaces.put_job_count(reserved.namespace, left, stored.version):
                    return

    def begin(self, namespace: str) -> None:
        """Count the jobs of a namespace that gets a limit. UnavailableError if another process does so."""
        now = self._clock.now()
        stored = self._namespaces.job_count(namespace)
        jobs = self._namespaces.stored_jobs(namespace, now)
        first = JobCount("", 0) if stored is None else stored
        begun = first.begun(jobs, now, self._ids.token())
        if not self._namespaces.put_job_count(namespace, begun, stored.version if stored else None):
            raise UnavailableError(_BUSY)

    def _current(self, namespace: str, jobs_max: int) -> JobCount:
        """The count as it is stored, after a new one was begun or ended if it is time for that."""
        now, stored = self._clock.now(), self._namespaces.job_count(namespace)
        if stored is None:
            self.begin(namespace)
            return self._stored(namespace)
        if stored.is_countable(now):
            jobs = self._namespaces.stored_jobs(namespace, now)
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

    def _stored(self, namespace: str) -> JobCount:
        found = self._namespaces.job_count(namespace)
        assert found is not None, "a count is never removed"
        return found


_BUSY: Final = "Too many jobs of the namespace are created at once. Nothing was written. Try again."


def _refusal(namespace: str, jobs_max: int) -> QuotaError:
    return QuotaError(
        f"The namespace {namespace} may store {jobs_max} jobs (limits.jobs), and it has as many. Delete jobs "
        "that are not needed. Jobs that have expired since the last count make room within minutes."
    )
