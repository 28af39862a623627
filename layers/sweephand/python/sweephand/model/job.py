"""What a job is: the definition its user wrote, the revision that rules, and those that ruled before."""

from dataclasses import dataclass
from typing import NamedTuple

from sweephand.base.instants import Instant
from sweephand.model.change import Change
from sweephand.model.definition import Definition
from sweephand.schedules import Series

#: Earlier revisions kept in the job itself, which every trigger reads. Those before them are filed apart
#: (model/earlier.py): that costs a write each, and a read for each trigger that is so late.
EARLIER_REVISIONS_MAX = 20


class JobKey(NamedTuple):
    """What names a job to its user; a job of the same key created later has another uid."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


class RevisionName(NamedTuple):
    """What names a revision of a job among those of all jobs."""

    key: JobKey
    uid: str
    rev: str


class Revision(NamedTuple):
    """The span in which one written version of a job rules: `since < due <= until`.

    `until` is None for the revision that rules now. `since` is the revision's cut. It lies before that
    where nobody else would fire what this revision makes due until then: just before the request if it
    began a series, at the last trigger of the revision before it if that one's series had ended. Where an
    update changes the jitter, `since` lies as much later or earlier as the series was moved.
    """

    rev: str
    since: Instant
    until: Instant | None = None

    def owns(self, due_at: Instant) -> bool:
        """Whether a trigger due at that instant belongs to this revision."""
        return self.since < due_at and (self.until is None or due_at <= self.until)


@dataclass(frozen=True, slots=True)
class Job:
    """One stored job. `version` changes with every write, `rev` with every definition and resume.

    `cut` is the instant at which `rev` was written, never less than the cut before it. `series` is the
    definition's schedule with its relative times resolved. `expires_at` is set from the moment the end
    of the series is known, unless the job is paused; past it the job is as good as gone. `change` is what
    made this version; it is None in a job that an earlier release wrote. `resumed_at` is when it was resumed
    last, or its first cut if it never was; None before its first update.
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

    @property
    def rev(self) -> str:
        """The name of the revision that rules."""
        return self.current.rev

    @property
    def moved_to(self) -> Instant:
        """Where the revision that rules begins, if more jitter put that after its cut; else 0.

        Up to there the times of its schedule belong to the revision before it, and have been dealt with.
        """
        return self.current.since if self.current.since > self.cut else 0

    def revision(self, rev: str) -> Revision | None:
        """The revision of that name, ruling or earlier; None if this job never heard of it."""
        if rev == self.current.rev:
            return self.current
        return next((each for each in self.earlier if each.rev == rev), None)

    def is_gone(self, now: Instant) -> bool:
        """Whether its time to live is over, though DynamoDB may not have removed it yet."""
        return self.expires_at is not None and self.expires_at <= now
