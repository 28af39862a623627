"""The settings of a namespace, and how its stored jobs are counted against their limit.

The count is an upper bound of the jobs that are stored. A creation is counted before it is committed. A
deletion is taken off where it is certain that the job was counted (`has_counted`). Jobs that expire are not
taken off. So now and then the jobs are counted anew (`is_countable`).
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from sweephand.base.instants import Instant
from sweephand.base.timing import RECOUNT_AFTER_MS, REQUEST_OVER_MS
from sweephand.model.job import Job

#: From this part of the limit on, the jobs are counted anew.
_NEARLY_FULL: Final = 0.9


class NamespaceLimits(NamedTuple):
    """What an admin allows a namespace. None stands for no limit besides those of the stack.

    `payload_bytes_max` is the size of a job's data, or of a trigger's own, in bytes of compact JSON.
    """

    jobs_max: int | None = None
    payload_bytes_max: int | None = None
    triggers_per_minute: int | None = None


class NamespaceDefaults(NamedTuple):
    """What jobs of a namespace have that do not say it themselves, as an admin wrote it. None: no default.

    `target` is read at each delivery, and `retry` is copied into a job that is written (decision 080).
    """

    target: Mapping[str, Any] | None = None
    retry: Mapping[str, Any] | None = None


NO_DEFAULTS: Final = NamespaceDefaults()


class AllowedTargets(NamedTuple):
    """Where the HTTP targets of a namespace may be: in these hosts, and in these networks.

    An empty list stands for every host or every network that the stack allows. targets/destinations.py says
    how both are written.
    """

    hosts: tuple[str, ...] = ()
    networks: tuple[str, ...] = ()


EVERYWHERE: Final = AllowedTargets()


class NamespaceSettings(NamedTuple):
    """The stored settings of a namespace. `version` changes with every write; `owner` made the last one."""

    namespace: str
    version: str
    limits: NamespaceLimits
    updated_at: Instant
    owner: str
    defaults: NamespaceDefaults = NO_DEFAULTS
    allowed: AllowedTargets = EVERYWHERE


class JobCount(NamedTuple):
    """How many jobs of a namespace are counted. `version` changes with every write.

    `used` is at least the number of stored jobs. A new count begins with a mark, and ends a while after it:
    then every creation from before the mark is committed, or never will be. `since_mark` is how many places
    were taken after the mark and not given back. `epoch` goes up by one whenever a count begins or ends.
    `counted_at` is the instant of the last new count, or 0 before the first one of a limit.
    """

    version: str
    used: int
    since_mark: int = 0
    marked_at: Instant | None = None
    counted_at: Instant = 0
    epoch: int = 0

    @property
    def generation(self) -> int:
        """The epoch of the last mark. A job stores the generation in which it took its place.

        The next count reads the jobs of earlier generations, and adds the places of this one (`since_mark`).
        """
        return self.epoch if self.marked_at is not None else self.epoch - 1

    def has_counted(self, job: Job, before: "JobCount") -> bool:
        """Whether it is certain that a job is counted that was deleted after the count was read as `before`.

        A place of the present generation is counted, whatever happens meanwhile. A job of an earlier one is
        counted until the next count ends, which may not have seen it any more. The first count of a limit
        knows only the jobs that were stored when it began. Functions that did not know the limit have
        created others.
        """
        if job.counted_in == self.generation:
            return True
        if self.counted_at != before.counted_at:
            return False
        if self.counted_at or self.marked_at is None:
            return True
        return self.epoch == before.epoch and job.created_at + REQUEST_OVER_MS < self.marked_at

    def without(self, count: int, generation: int | None, version: str) -> "JobCount":
        """The count without so many places that were taken in a generation. None: without a limit."""
        since_mark = self.since_mark - count if generation == self.generation else self.since_mark
        return self._replace(version=version, used=max(0, self.used - count), since_mark=max(0, since_mark))

    def marked(self, now: Instant, version: str) -> "JobCount":
        """The count with the mark of a new one."""
        return self._replace(version=version, since_mark=0, marked_at=now, epoch=self.epoch + 1)

    def begun(self, stored: int, now: Instant, version: str) -> "JobCount":
        """The count for a new limit. It is marked, because some processes do not know the limit yet."""
        return JobCount(version, stored, marked_at=now, epoch=self.epoch + 1)

    def counted(self, stored: int, now: Instant, version: str) -> "JobCount":
        """The count after `stored` jobs of earlier generations were found."""
        used = stored + self.since_mark
        return JobCount(version, used, counted_at=now, epoch=self.epoch + 1)

    def should_be_marked(self, jobs_max: int, now: Instant) -> bool:
        """Whether a new count should begin: the limit is nearly reached, and the last count is not new."""
        is_old = now - self.counted_at > RECOUNT_AFTER_MS
        return self.marked_at is None and is_old and self.used >= jobs_max * _NEARLY_FULL

    def is_countable(self, now: Instant) -> bool:
        """Whether the new count can end, because the mark is old enough."""
        return self.marked_at is not None and now - self.marked_at > RECOUNT_AFTER_MS
