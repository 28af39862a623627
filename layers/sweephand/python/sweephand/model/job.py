"""What a job is: its user's definition, its present revision, and its earlier revisions."""

from dataclasses import dataclass
from typing import NamedTuple

from sweephand.base.instants import Instant
from sweephand.base.timing import CHANGE_RETENTION_MS, TIMER_RETENTION_MS
from sweephand.model.change import Change
from sweephand.model.definition import CatchUpMode, Definition
from sweephand.model.policy_names import PRIORITY_DEFAULT, Lane, Priority, lane_of
from sweephand.model.trace import Origin
from sweephand.schedules import Series

#: Earlier revisions that the job's item keeps. Every trigger reads that item. Older revisions are filed
#: (model/revisions.py), which costs a write for each, and a read for each of their late triggers.
EARLIER_REVISIONS_MAX = 20


class JobKey(NamedTuple):
    """The name of a job to its user. A job that is later created under the same key has another uid."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


class RevisionName(NamedTuple):
    """The name of a revision of a job, unique among the revisions of all jobs."""

    key: JobKey
    uid: str
    rev: str


class Revision(NamedTuple):
    """The period in which one version of a job's definition applies: `since < due <= until`.

    `until` is None for the present revision. `since` is usually the revision's cut. It lies before the cut
    where no other revision would fire the occurrences in between. If the revision began a series, `since` is
    just before the request. If the series of the revision before it had ended, `since` is that series' last
    trigger. If an update changes the jitter, `since` moves by as much as the series does, later or earlier.
    """

    rev: str
    since: Instant
    until: Instant | None = None

    def owns(self, due_at: Instant) -> bool:
        """Whether a trigger due at that instant belongs to this revision."""
        return self.since < due_at and (self.until is None or due_at <= self.until)


class PauseEnd(NamedTuple):
    """When a pause ends by itself, and which misfires of it fire then; None: as the job's `catchup` says."""

    at: Instant
    mode: CatchUpMode | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """One stored job. `version` changes with every write, `rev` with every definition and resume.

    `cut` is the instant at which `rev` was written, never less than the cut before it. `series` is the
    definition's schedule with its relative times resolved. `expires_at` is set once the end of the series is
    known, unless the job is paused. After it, readers treat the job as deleted. `change` is the write that
    made this version. `resumed_at` is the instant of the last
    resume, or the first cut if the job was never resumed. It is None before the first update. `counted_in` is
    the generation of its namespace's count in which the job took its place (model/namespace.py). It is None
    if the job took none, because its creator knew no limit. A job `has_batches` if any of its definitions
    since its creation has had one: it may then have runs with an index over 0. Runs that are listed far from
    the present may be under way until `late_until`: they began more than an hour after they were due, or
    before an update that gave runs less time. It is None if there was no such run. `origin` is the trace
    context of the request that wrote the definition, if it had one. It is no part of the definition.
    `pause_end` is that of a pause with an `until`.
    """

    key: JobKey
    uid: str
    version: str
    current: Revision
    cut: Instant
    earlier: tuple[Revision, ...]
    shard: int
    definition: Definition
    series: Series
    created_at: Instant
    updated_at: Instant
    owner: str
    paused_at: Instant | None = None
    pause_reason: str | None = None
    expires_at: Instant | None = None
    change: Change | None = None
    resumed_at: Instant | None = None
    counted_in: int | None = None
    has_batches: bool = False
    late_until: Instant | None = None
    origin: Origin | None = None
    pause_end: PauseEnd | None = None

    @property
    def rev(self) -> str:
        """The name of the present revision."""
        return self.current.rev

    @property
    def moved_to(self) -> Instant:
        """The start of the present revision, if a longer jitter put it after the cut; else 0.

        Occurrences of its schedule up to that instant belong to the revision before it, which has fired them.
        """
        return self.current.since if self.current.since > self.cut else 0

    def revision(self, rev: str) -> Revision | None:
        """The revision of that name, present or earlier; None if the job does not keep it."""
        if rev == self.current.rev:
            return self.current
        return next((each for each in self.earlier if each.rev == rev), None)

    @property
    def removed_at(self) -> Instant | None:
        """When a store may remove the job: when its last timers have been removed. None if it has no end.

        Readers treat it as gone before. An outage can last longer than the job was to be kept. What the job
        owes is then still delivered.
        """
        if self.expires_at is None:
            return None
        removed_at = self.expires_at + TIMER_RETENTION_MS
        if self.change is not None and self.change.what != "created":
            # The latest change is stored in the job. It has to be kept for as long as the changes that were
            # filed.
            removed_at = max(removed_at, self.change.at + CHANGE_RETENTION_MS)
        return removed_at

    def fires_from(self, at: Instant) -> Instant | None:
        """From when on its schedule fires: `at`, or when its pause ends; None if a caller has to end it."""
        if self.paused_at is None:
            return at
        return None if self.pause_end is None else max(at, self.pause_end.at)

    def is_gone(self, now: Instant) -> bool:
        """Whether the job has expired, even if DynamoDB has not removed it yet."""
        return self.expires_at is not None and self.expires_at <= now


class JobBrief(NamedTuple):
    """What a sweep needs of a job whose present revision rules: that revision, and whether the job is paused.

    It is read instead of the whole job, and the read may be stale. `paused_at` is the instant of the pause.
    `policy` and `priority` are those of the definition.
    """

    key: JobKey
    uid: str
    current: Revision
    paused_at: Instant | None = None
    policy: str | None = None
    priority: Priority = PRIORITY_DEFAULT

    @property
    def rev(self) -> str:
        """The name of the present revision."""
        return self.current.rev

    @property
    def lane(self) -> Lane:
        """The lane in which the job's triggers travel."""
        return lane_of(self.policy, self.priority)

    def revision(self, rev: str) -> Revision | None:
        """The present revision if it has that name. A brief does not know any other."""
        return self.current if rev == self.current.rev else None


def is_result_of(stored: Job, written: Job) -> bool:
    """Whether the stored job shows that this write was made: it is the write itself, or was made from it.

    A write that brings a revision gives it its own version as the end of its name. If the stored job still
    has that revision, a later write was made from this one. A write that keeps the revision, as a pause
    does, leaves no such trace.
    """
    brings_revision = written.rev.endswith(written.version) and stored.uid == written.uid
    has_followed = brings_revision and stored.revision(written.rev) is not None
    return stored.version == written.version or has_followed
