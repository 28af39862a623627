"""The settings of a namespace, and how its stored jobs are counted against their limit.

The count is an upper bound of the jobs that are stored. A creation is counted before it is committed. Jobs
that expire are not taken off, and a deletion is taken off only if nothing can go wrong with that. So now and
then the jobs are counted anew (`is_countable`).
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from sweephand.base.instants import Instant
from sweephand.base.timing import RECOUNT_AFTER_MS

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

    `target` is read at each delivery, and `retry` is copied into a job that is written (decision 056).
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
    then every creation from before the mark is committed, or never will be. `since_mark` is how many
    creations were counted after the mark. `epoch` goes up by one whenever a count begins or ends. What was
    counted in an earlier epoch cannot be taken off any more.
    """

    version: str
    used: int
    since_mark: int = 0
    marked_at: Instant | None = None
    counted_at: Instant = 0
    epoch: int = 0

    def with_more(self, count: int, version: str) -> "JobCount":
        """The count with so many more jobs."""
        return self._replace(version=version, used=self.used + count, since_mark=self.since_mark + count)

    def without(self, count: int, version: str) -> "JobCount":
        """The count with so many fewer jobs."""
        return self._replace(version=version, used=max(0, self.used - count))

    def marked(self, now: Instant, version: str) -> "JobCount":
        """The count with the mark of a new one."""
        return self._replace(version=version, since_mark=0, marked_at=now, epoch=self.epoch + 1)

    def begun(self, stored: int, now: Instant, version: str) -> "JobCount":
        """The count for a new limit. It is marked, because some processes do not know the limit yet."""
        return JobCount(version, stored, marked_at=now, epoch=self.epoch + 1)

    def counted(self, stored: int, now: Instant, version: str) -> "JobCount":
        """The count after `stored` jobs were found."""
        used = stored + self.since_mark
        return JobCount(version, used, counted_at=now, epoch=self.epoch + 1)

    def should_be_marked(self, jobs_max: int, now: Instant) -> bool:
        """Whether a new count should begin: the limit is nearly reached, and the last count is not new."""
        is_old = now - self.counted_at > RECOUNT_AFTER_MS
        return self.marked_at is None and is_old and self.used >= jobs_max * _NEARLY_FULL

    def is_countable(self, now: Instant) -> bool:
        """Whether the new count can end, because the mark is old enough."""
        return self.marked_at is not None and now - self.marked_at > RECOUNT_AFTER_MS
