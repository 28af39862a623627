"""The events of a batch's progress: a run that is marked as over, the batch's end, and its notification."""

from dataclasses import dataclass
from typing import TypeAlias

from sweephand.base.instants import Instant


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
