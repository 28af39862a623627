"""What the jobs of a world owe, from every version that was committed, and what was delivered of it."""

from dataclasses import dataclass, field
from itertools import pairwise, takewhile

from tests.fakes.world import World

from sweephand.instants import Instant
from sweephand.jobs.job import Job
from sweephand.timing import CLOCK_SKEW_MAX_MS

#: How long before a request leaves its job may have been read (promise 3).
CANCEL_MS = 1_000


@dataclass
class Ledger:
    """Watches the jobs of a world from the beginning on.

    A revision owes what its series has in `since < due <= until`, as the versions of its job say that were
    committed; of a job that was deleted nothing is owed, and nothing may be delivered a second later.
    """

    world: World
    versions: dict[str, list[Job]] = field(default_factory=dict)
    deleted_at: dict[str, Instant] = field(default_factory=dict)

    def __post_init__(self) -> None:
        jobs = self.world.jobs
        put, delete = jobs.put, jobs.delete

        def watched_put(job: Job, replacing: str | None) -> bool:
            before = jobs.get(job.key)
            is_written = put(job, replacing)
            if is_written and jobs.get(job.key) is not before:
                self.versions.setdefault(job.uid, []).append(job)
            return is_written

        def watched_delete(job: Job) -> bool:
            is_deleted = delete(job)
            if is_deleted:
                self.deleted_at.setdefault(job.uid, self.world.clock.time)
            return is_deleted

        jobs.put = watched_put  # type: ignore[method-assign]
        jobs.delete = watched_delete  # type: ignore[method-assign]

    def owed(self, uid: str, through: Instant) -> set[Instant]:
        """The due times up to an instant that the revisions of a job have owned, one after the other."""
        versions = self.versions.get(uid, [])
        untils = [latter.earlier[-1].until for _, latter in pairwise(versions)]
        owed: set[Instant] = set()
        for version, until in zip(versions, [*untils, through], strict=True):
            end = through if until is None else min(until, through)
            coming = version.series.occurrences(version.current.since)
            owed |= {each.due_at for each in takewhile(lambda each: each.due_at <= end, coming)}  # noqa: B023 - used up within this turn
        return owed

    def check(self, through: Instant) -> None:
        """Everything that is owed up to then was delivered, and nothing that was not."""
        consumers = self.world.consumers
        delivered: dict[str, set[Instant]] = {}
        for attempt, at in zip(consumers.attempts, consumers.times, strict=True):
            trigger = attempt.trigger
            delivered.setdefault(trigger.uid, set()).add(trigger.due_at)
            assert at <= self.deleted_at.get(trigger.uid, at) + CANCEL_MS, f"{trigger.id} after the deletion"
        # A delivery function whose clock is ahead delivers what is not due yet by the true time.
        latest = self.world.clock.time + CLOCK_SKEW_MAX_MS
        for uid in delivered.keys() | self.versions.keys():
            owed, done = self.owed(uid, latest), delivered.get(uid, set())
            assert done <= owed, f"{uid} never owed {sorted(done - owed)}"
            if uid not in self.deleted_at:
                missing = {due for due in owed if due <= through} - done
                assert not missing, f"{uid} still owes {sorted(missing)}"
