"""The events of few seeds: alerts, batches, bulk writes, limits, windows, and losses in the Timers table."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sweephand.base.instants import Instant


@dataclass(frozen=True, slots=True)
class Alerted:
    """An alert left for its consumer (`onAlert`), under an id of its own.

    It is about `missed` triggers of a revision, due from `first_due_at` to `last_due_at`.
    """

    at: Instant
    name: str
    uid: str
    rev: str
    alert_id: str
    attempt: int
    missed: int
    first_due_at: Instant
    last_due_at: Instant


@dataclass(frozen=True, slots=True)
class LimitSet:
    """From now on, so many triggers a minute may leave."""

    at: Instant
    per_minute: int


@dataclass(frozen=True, slots=True)
class ChainBound:
    """In this seed, a chain of jobs has at most so many links."""

    at: Instant
    links: int


@dataclass(frozen=True, slots=True)
class WindowSet:
    """A window is open in these spans from now on, for jobs whose names begin so. Without any, it is removed.

    If it `is_recurring`, a schedule says when it opens.
    """

    at: Instant
    name: str
    then: Literal["hold", "skip"]
    prefix: str
    openings: tuple[tuple[Instant, Instant], ...]
    spread_ms: int
    is_recurring: bool = False


@dataclass(frozen=True, slots=True)
class Marked:
    """The progress of a batch shows from now on how the run of an index ended."""

    at: Instant
    name: str
    uid: str
    batch: str
    index: int
    end: str


@dataclass(frozen=True, slots=True)
class BatchEnded:
    """The head of a batch says that all of its `total` runs are over, and how many had succeeded then."""

    at: Instant
    name: str
    uid: str
    batch: str
    total: int
    succeeded: int
    was_told: bool


@dataclass(frozen=True, slots=True)
class BatchTold:
    """The notification of a batch's end left for its consumer, with these counts, or triggered a job.

    `counts` are those of runs that succeeded, failed and were cancelled.
    """

    at: Instant
    name: str
    uid: str
    batch: str
    notice_id: str
    state: str
    total: int
    counts: tuple[int, int, int]


BatchEvent: TypeAlias = Marked | BatchEnded | BatchTold


@dataclass(frozen=True, slots=True)
class EntryAnswered:
    """The answer for one job of the call.

    The client sent the job under `name` with `data`, either of which may be missing. `is_valid` says whether
    the API has to accept the job. The answer has `told_name`, a status, and a revision or the `detail` of a
    problem.
    """

    name: str | None
    data: str | None
    is_valid: bool
    told_name: str | None
    status: int
    rev: str | None = None
    detail: str = ""

    @property
    def is_acknowledged(self) -> bool:
        """Whether the client was told that the job is written."""
        return self.status in (200, 201)

    @property
    def is_refused(self) -> bool:
        """Whether the client was told to change the job."""
        return 400 <= self.status < 500


@dataclass(frozen=True, slots=True)
class BulkWriteAnswered:
    """The answer to a call that writes many jobs. `process` served it from `asked_at` on.

    `written` are the revisions that the call wrote.
    """

    at: Instant
    process: str
    asked_at: Instant
    entries: tuple[EntryAnswered, ...]
    written: tuple[str, ...] = ()

    def told(self) -> str:
        """Return the line of a story."""
        answers = " ".join(f"{each.told_name}={each.rev or each.status}" for each in self.entries)
        return f"< client told of the bulk write that {self.process} served: {answers}"


@dataclass(frozen=True, slots=True)
class CalendarStored:
    """A calendar was written or deleted. `written` is what a client wrote, and None after a deletion.

    `closed` is the text by which jobs carry its days. The oracle compares such texts and reads none.
    """

    at: Instant
    name: str
    closed: str | None
    written: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class TimersLost:
    """The Timers table is as it was at `back_to` from now on: timers, packs, cursors and all.

    If it was emptied, `back_to` is 0.
    """

    at: Instant
    back_to: Instant = 0


@dataclass(frozen=True, slots=True)
class TimerLost:
    """The timers of a job that are due at `since` or later are gone from now on, without a trace."""

    at: Instant
    name: str
    since: Instant


Loss = TimersLost | TimerLost
