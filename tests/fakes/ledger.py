"""The due times that the jobs of a world owe by their committed versions, and those that were delivered."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise, takewhile

from tests.fakes.world import World

from sweephand.base.concurrency import always
from sweephand.base.instants import Instant
from sweephand.model.attempt import Attempt
from sweephand.model.job import Job

#: How long before a request the delivery function may have read its job, in ms (promise 3).
READ_AGE_MS = 1_000


@dataclass
class Ledger:
    """Keeps every committed version of the jobs of a world, with the true time of the commit.

    A revision owes the due times of its series in `since < due <= until`, by the versions of its job. A first
    attempt is right if its due time was owed when the delivery function read the job. A deleted job owes
    nothing.
    """

    world: World
    versions: dict[str, list[Job]] = field(default_factory=dict)
    deleted_at: dict[str, Instant] = field(default_factory=dict)
    _committed_at: dict[str, list[Instant]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        jobs = self.world.jobs
        put, delete = jobs.put, jobs.delete

        def watched_put(job: Job, replacing: str | None, in_time: Callable[[], bool] = always) -> bool:
            before = jobs.get(job.key)
            is_written = put(job, replacing, in_time)
            if is_written and jobs.get(job.key) is not before:
                self.versions.setdefault(job.uid, []).append(job)
                self._committed_at.setdefault(job.uid, []).append(self.world.clock.time)
            return is_written

        def watched_delete(job: Job, in_time: Callable[[], bool] = always) -> bool:
            is_deleted = delete(job, in_time)
            if is_deleted:
                self.deleted_at.setdefault(job.uid, self.world.clock.time)
            return is_deleted

        jobs.put = watched_put  # type: ignore[method-assign]
        jobs.delete = watched_delete  # type: ignore[method-assign]

    def owed(self, uid: str, through: Instant) -> set[Instant]:
        """The due times up to an instant that the revisions of a job have owed."""
        versions = self.versions.get(uid, [])
        owed: set[Instant] = set()
        for version, latter in zip(versions, [*versions[1:], None], strict=True):
            if latter is not None and latter.rev == version.rev:
                continue  # a pause, which leaves the revision as it is
            until = version.paused_at if latter is None else latter.earlier[-1].until
            end = through if until is None else min(until, through)
            coming = version.series.occurrences(version.current.since)
            owed |= {each.due_at for each in takewhile(lambda each: each.due_at <= end, coming)}  # noqa: B023 - used up within this turn
        return owed

    def skipped(self, uid: str) -> set[Instant]:
        """The due times that the records of skipped misfires stand for.

        Asserts that no two stand for the same.
        """
        versions = {version.rev: version for version in reversed(self.versions.get(uid, []))}
        runs = {run.key: None for run in self.versions.get(uid, [])}
        skipped: set[Instant] = set()
        for key in runs:
            for run in self.world.runs.page(key, "skipped", "", 1_000_000).items:
                if run.uid != uid or run.reason != "misfire" or run.last_due_at is None:
                    continue
                last_at = run.last_due_at
                coming = versions[run.rev].series.occurrences(run.due_at - 1)
                dues = {each.due_at for each in takewhile(lambda each: each.due_at <= last_at, coming)}  # noqa: B023 - used up within this turn
                assert len(dues) == run.count, f"{run.run_id} stands for {len(dues)}, not for {run.count}"
                assert not dues & skipped, f"{run.run_id} was skipped twice"
                skipped |= dues
        return skipped

    def check(self, through: Instant) -> None:
        """Everything that is owed up to then was delivered or skipped, never both, and nothing else was."""
        delivered: dict[str, set[Instant]] = {}
        consumers = self.world.consumers
        for attempt, at in zip(consumers.attempts, consumers.times, strict=True):
            trigger = attempt.trigger
            delivered.setdefault(trigger.uid, set()).add(trigger.due_at)
            assert at <= self.deleted_at.get(trigger.uid, at) + READ_AGE_MS, f"{trigger.id} of a deleted job"
            assert attempt.number > 1 or self._was_owed(attempt, at), f"{trigger.id} was never owed"
            assert any(each.paused_at is None for each in self._seen(trigger.uid, at)), "paused"
        for uid in self.versions.keys() - self.deleted_at.keys():
            owed, skipped = self.owed(uid, through), self.skipped(uid)
            missing = owed - delivered.get(uid, set()) - skipped
            assert not missing, f"{uid} still owes {sorted(missing)}"
            astray = skipped - owed - self._missed(uid)
            assert not astray, f"{uid} skipped what it never owed: {sorted(astray)}"
            both = skipped & delivered.get(uid, set())
            assert not both, f"{uid} delivered what it says it skipped: {sorted(both)}"

    def _missed(self, uid: str) -> set[Instant]:
        """The due times that fell into a pause, up to its resume: what of them fires is the resume's."""
        missed: set[Instant] = set()
        for before, version in pairwise(self.versions[uid]):
            if before.paused_at is not None and version.paused_at is None:
                end = version.updated_at
                coming = version.series.occurrences(before.paused_at)
                missed |= {each.due_at for each in takewhile(lambda each: each.due_at <= end, coming)}  # noqa: B023 - used up within this turn
        return missed

    def _seen(self, uid: str, at: Instant) -> list[Job]:
        """The versions of a job as which it may have been read at most a second before an instant."""
        versions, from_ = self.versions[uid], self._committed_at[uid]
        spans = zip(versions, from_, [*from_[1:], at], strict=True)
        return [each for each, begun_at, ended_at in spans if begun_at <= at <= ended_at + READ_AGE_MS]

    def _was_owed(self, attempt: Attempt, at: Instant) -> bool:
        """Whether the job as it stood at most a second before a request let that trigger leave."""
        trigger = attempt.trigger
        for version in self._seen(trigger.uid, at):
            revision = version.revision(trigger.rev)
            if revision is None or version.paused_at is not None:
                continue
            made_by = next(each for each in self.versions[trigger.uid] if each.rev == trigger.rev)
            coming = made_by.series.next_after(trigger.due_at - 1)
            until = at + trigger.due_at if revision.until is None else revision.until
            if revision.since < trigger.due_at <= until and coming and coming.due_at == trigger.due_at:
                return True
        return False
