"""Reading the jobs of triggers that fall due together, in one call shortly before the first is due."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from sweephand.base.concurrency import Once
from sweephand.base.instants import Instant
from sweephand.model.job import JobKey
from sweephand.ports import Clock, JobStore
from sweephand.runs.job_reads import UNREAD, JobRead

#: The jobs of a group are read this long before its first trigger is due, so that no trigger waits for them.
READ_LEAD_MS: Final = 200

#: The triggers of a group fall due within this. Together with the lead that is less than JOB_READ_AGE_MAX_MS.
#: So the read is still fresh when the last of them is due, and when its connection stands.
GROUP_SPAN_MS: Final = 700


class ReadGroup:
    """The jobs of triggers of which the first is due at `first_at`. Safe to use from many threads at once."""

    def __init__(self, first_at: Instant, *, jobs: JobStore, clock: Clock) -> None:
        self._first_at = first_at
        self._jobs = jobs
        self._clock = clock
        self._keys: set[JobKey] = set()
        self._reads = Once(self._read)

    def takes(self, due_at: Instant) -> bool:
        """Whether a trigger that is due then, and not before the first, belongs to the group."""
        return due_at - self._first_at <= GROUP_SPAN_MS

    def add(self, key: JobKey) -> None:
        """Add the job of a trigger, before anybody asks for a read."""
        self._keys.add(key)

    def read_if_due(self) -> None:
        """Read the jobs in the calling thread if the group's time has come, and else do nothing.

        Threads that begin together would all wait for one of them to read. To wake each takes longer.
        """
        if self._clock.now() >= self._first_at - READ_LEAD_MS:
            self._reads()

    def read_of(self, key: JobKey) -> JobRead:
        """The read of that job. The first caller waits until the group's time and reads all of its jobs.

        UNREAD if the read failed: one of the jobs may be the cause, so each handler reads its own.
        """
        return self._reads().get(key, UNREAD)

    def _read(self) -> Mapping[JobKey, JobRead]:
        self._clock.wait_until(self._first_at - READ_LEAD_MS)
        now = self._clock.now()
        try:
            jobs = self._jobs.get_many(sorted(self._keys))
        except Exception:  # noqa: BLE001 - the docstring of read_of() says why
            return {}
        return {key: JobRead(jobs.get(key), now) for key in self._keys}


def read_groups(
    wanted: Iterable[tuple[Instant, JobKey]], *, jobs: JobStore, clock: Clock
) -> Iterator[ReadGroup]:
    """The group of each trigger, given by its due time and its job, in the order of the due times."""
    groups: list[ReadGroup] = []
    for due_at, key in wanted:
        if not groups or not groups[-1].takes(due_at):
            groups.append(ReadGroup(due_at, jobs=jobs, clock=clock))
        groups[-1].add(key)
        yield groups[-1]
