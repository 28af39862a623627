"""Which misfires still fire; the time to decide this does not grow with their number."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from sweephand.base.instants import Instant
from sweephand.model.definition import CatchUpMode, CatchUpPolicy
from sweephand.model.job import Job
from sweephand.model.trigger import HasRevision
from sweephand.ports.runs import RunStore
from sweephand.schedules import Occurrence, Series

if TYPE_CHECKING:
    # Most sweeps record no misfires.
    from sweephand.model.run import Run


@dataclass(frozen=True, slots=True)
class OccurrenceRange:
    """All occurrences of one series from `first` to `last`, both included."""

    first: Occurrence
    last: Occurrence

    @property
    def count(self) -> int:
        """The number of occurrences. The numbers of a series have no gaps."""
        return self.last.sequence - self.first.sequence + 1

    def after_first(self, series: Series) -> "OccurrenceRange | None":
        """The range without its first occurrence; None if it has only one. `series` is the range's series."""
        if self.count == 1:
            return None
        return replace(self, first=series.numbered(self.first.sequence + 1, self.first))


class Misfires(NamedTuple):
    """The decision about a range of misfires. Those in `skipped` come first, and those in `fire` follow."""

    fire: OccurrenceRange | None = None
    skipped: OccurrenceRange | None = None


def misfires_between(series: Series, *, after: Instant, through: Instant, mode: CatchUpMode) -> Misfires:
    """The decision about the occurrences after `after` and up to `through`, all of them misfires.

    A resume calls this for the occurrences from the pause until now. Neither the time that this takes nor the
    size of the answer grows with the number of occurrences. Those that fire are the last of the range. So the
    caller that arms the series continues after `skipped.last`.
    """
    first = series.next_after(after)
    if first is None or first.due_at > through:
        return Misfires()
    return _decided(OccurrenceRange(first, series.last_through(through, first)), series, mode)


def misfires_of_timer(
    series: Series,
    first: Occurrence,
    *,
    until: Instant | None,
    judged_at: Instant,
    policy: CatchUpPolicy,
    followed_at: Instant | None = None,
) -> Misfires:
    """The decision about the misfires of a timer: its late occurrences from `first` on, up to `until`.

    The sweeper calls this. A misfire was due more than the policy's window before `judged_at`. The answer
    contains misfires only, and all other occurrences fire. If the series continues in another timer, from
    `followed_at` on, the newest misfire may belong to that timer.
    """
    through = judged_at - policy.window_ms - 1
    if until is not None:
        through = min(through, until)
    if first.due_at > through:
        return Misfires()
    has_newer = followed_at is not None and followed_at <= through
    mode = "none" if has_newer and policy.mode == "latest" else policy.mode
    return _decided(OccurrenceRange(first, series.last_through(through, first)), series, mode)


def skipped_run(source: HasRevision, skipped: OccurrenceRange, job: Job, decided_at: Instant) -> "Run":
    """The record of a range of misfires that do not fire: one run, named after the first of them.

    A repetition of the decision at the same instant makes the same record. A store refuses the record if the
    first misfire was delivered after all, which can happen around a pause.
    """
    from sweephand.model.run import Run  # noqa: PLC0415 - takes 2 ms, and few sweeps record any

    return Run(
        key=source.key,
        uid=source.uid,
        due_at=skipped.first.due_at,
        index=0,
        state="skipped",
        attempts=0,
        rev=source.rev,
        sequence=skipped.first.sequence,
        ended_at=decided_at,
        reason="misfire",
        owner=source.rev,
        count=skipped.count,
        last_due_at=skipped.last.due_at,
        expires_at=decided_at + job.definition.history_retention_ms,
    )


def _decided(found: OccurrenceRange, series: Series, mode: CatchUpMode) -> Misfires:
    if mode == "all":
        return Misfires(fire=found)
    if mode == "none":
        return Misfires(skipped=found)
    if found.count == 1:
        return Misfires(fire=found)
    before = series.numbered(found.last.sequence - 1, found.first)
    return Misfires(fire=replace(found, first=found.last), skipped=replace(found, last=before))


def record_skipped(
    runs: RunStore,
    source: HasRevision,
    skipped: OccurrenceRange,
    series: Series,
    job: Job,
    *,
    decided_at: Instant,
) -> None:
    """Write one record of a range of `series` that does not fire; a repetition is harmless. StoreError.

    The delivery function reads a job up to a second before it sends a request. So the first occurrences that
    fell due in a pause may have been delivered. A store refuses a record only if its first occurrence has a
    run already. Such an occurrence is taken out of the range.
    """
    left: OccurrenceRange | None = skipped
    while left is not None and not runs.record(skipped_run(source, left, job, decided_at)):
        left = left.after_first(series)
