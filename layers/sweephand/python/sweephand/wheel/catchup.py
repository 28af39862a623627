"""Which misfires still fire; the time to decide this does not grow with their number."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from sweephand.base.instants import Instant
from sweephand.model.definition import CatchUpMode, CatchUpPolicy
from sweephand.model.job import Job, JobKey
from sweephand.model.run_id import AFTER_UIDS, RunName, run_position
from sweephand.model.trigger import HasRevision
from sweephand.ports.runs import RunStore
from sweephand.schedules import Occurrence, Series

if TYPE_CHECKING:
    # Most sweeps record no misfires.
    from collections.abc import Iterator

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


class Misfires(NamedTuple):
    """The decision about a range of misfires. Those in `skipped` come first, and those in `fire` follow."""

    fire: OccurrenceRange | None = None
    skipped: OccurrenceRange | None = None


class Skipped(NamedTuple):
    """The record of misfires that do not fire, and their series."""

    record: "Run"
    series: Series


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

    A repetition of the decision at the same instant makes the same record.
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


def record_misfires(runs: RunStore, skipped: "Run", series: Series) -> None:
    """Write the record of misfires of `series` that do not fire; a repetition is harmless. StoreError.

    A store refuses a record if its first misfire has a run already, since it was delivered after all. That
    happens around a pause: the delivery function reads a job up to a second before it sends a request. It
    also happens if a rebuild or an audit arms a job from before its last run on. Then the record begins after
    the last of these misfires that has a run.
    """
    left: Run | None = skipped
    while left is not None and not runs.record(left):
        left = _after_last_run(runs, left, series)


def _after_last_run(runs: RunStore, skipped: "Run", series: Series) -> "Run | None":
    """The same record of the misfires after those that have a run; None if all of them have."""
    last = last_run(runs, skipped.key, skipped.uid, skipped.through)
    first = series.next_after(skipped.due_at if last is None else max(last.through, skipped.due_at))
    if first is None or first.due_at > skipped.through:
        return None
    passed = first.sequence - skipped.sequence
    return replace(skipped, due_at=first.due_at, sequence=first.sequence, count=skipped.count - passed)


def last_run(runs: RunStore, key: JobKey, uid: str, through: Instant) -> "Run | None":
    """The last run of a job's schedule that was due up to an instant; None if there is none. StoreError."""
    own = (run for run in runs_before(runs, key, through + 1) if run.uid == uid and run.demand is None)
    return next(own, None)


#: Runs that are read at once, and how often. A caller that looks for a record of misfires may have to pass
#: as many runs on demand of later due times.
_RUNS_MAX: Final = 100
_PAGES_MAX: Final = 100


def runs_before(runs: RunStore, key: JobKey, until: Instant) -> "Iterator[Run]":
    """The runs of a key that were due before an instant, the latest first. Of a batch it is the first run.

    There can be many runs on demand of one due time. Those that the page which meets them does not hold are
    passed over by their position. At most 100 pages are read. StoreError.
    """
    before: str | None = run_position(RunName(until, 0), "")
    for _ in range(_PAGES_MAX):
        if before is None:
            return
        page = runs.page(key, None, before, _RUNS_MAX, with_batches=False)
        yield from page.items
        before = page.next
        last = page.items[-1] if page.items else None
        if before is not None and last is not None and last.demand is not None:
            before = run_position(RunName(last.due_at, 0), AFTER_UIDS)
