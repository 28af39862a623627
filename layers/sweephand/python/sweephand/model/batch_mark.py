"""What the end of a run adds to the progress of its batch: a mark.

Every run that ends is asked for its mark. Only the run of a batch has one.
"""

from typing import Literal, NamedTuple

from sweephand.base.instants import Instant
from sweephand.model.job import JobKey
from sweephand.model.run import Run
from sweephand.model.run_id import Demand, batch_id, batch_position
from sweephand.model.trigger import BatchPlace, Trigger

#: How the run of a trigger ended. `cancelled` also stands for `skipped`: no attempt follows in either case.
RunEnd = Literal["failed", "cancelled", "succeeded"]


class BatchName(NamedTuple):
    """Which batch: the job that has it, the due time of its occurrence, and the demand that asked for it."""

    key: JobKey
    uid: str
    due_at: Instant
    demand: Demand | None = None

    def __str__(self) -> str:
        """The batch's name within its job."""
        return batch_id(self.due_at, self.demand)

    @property
    def position(self) -> str:
        """The sort key of the batch among those of its job's key: by due time, then as runs are sorted."""
        return batch_position(self.due_at, self.demand, self.uid)


class BatchSize(NamedTuple):
    """How many triggers a batch has, and over how many ms they are spread."""

    total: int
    window_ms: int


class Mark(NamedTuple):
    """The end of the run of that index of a batch; None if it is not known.

    `expires_at` is until when the run's record is kept at least. `started_at` is when its first attempt
    began, or None if there was none.
    """

    batch: BatchName
    size: BatchSize
    run_index: int
    end: RunEnd | None
    expires_at: Instant
    started_at: Instant | None = None


def batch_name_of(trigger: Trigger) -> BatchName:
    """The name of the batch of a trigger."""
    return BatchName(trigger.key, trigger.uid, trigger.due_at, trigger.demand)


def mark_of(run: Run | None) -> Mark | None:
    """What a run adds to the progress of its batch; None if it is not over, or its batch is not counted."""
    if run is None or run.batch is None or not run.batch.is_counted:
        return None
    match run.state:
        case "succeeded" | "failed" | "cancelled":
            end: RunEnd = run.state
        case "skipped":
            end = "cancelled"
        case _:
            return None
    name = BatchName(run.key, run.uid, run.due_at, run.demand)
    return Mark(name, _size_of(run.batch), run.index, end, run.expires_at or 0, run.started_at)


def mark_of_trigger(trigger: Trigger, end: RunEnd | None, expires_at: Instant) -> Mark | None:
    """What a trigger whose run has no record adds to the progress of its batch."""
    place = trigger.batch
    if place is None or not place.is_counted:
        return None
    return Mark(batch_name_of(trigger), _size_of(place), trigger.index, end, expires_at)


def _size_of(place: BatchPlace) -> BatchSize:
    return BatchSize(place.size, place.window_ms)
