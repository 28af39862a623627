"""Which occurrences that were found too late still fire; no walk through those that do not."""

from dataclasses import dataclass, replace
from typing import NamedTuple

from sweephand.base.instants import Instant
from sweephand.model.definition import CatchUpMode, CatchUpPolicy
from sweephand.model.job import Job
from sweephand.model.run import Run
from sweephand.model.trigger import HasRevision
from sweephand.schedules import Occurrence, Series


@dataclass(frozen=True, slots=True)
class OccurrenceRange:
    """Occurrences of one series from `first` to `last`, both included, and every one between them."""

    first: Occurrence
    last: Occurrence

    @property
    def count(self) -> int:
        """How many they are: the numbers of a series leave none out."""
        return self.last.sequence - self.first.sequence + 1

    def after_first(self, series: Series) -> "OccurrenceRange | None":
        """The same without its first, if there are others; `series` is the one that they are of."""
        if self.count == 1:
            return None
        return replace(self, first=series.numbered(self.first.sequence + 1, self.first))


class Misfires(NamedTuple):
    """What becomes of a span of misfires: those in `skipped` come first, those in `fire` after them."""

    fire: OccurrenceRange | None = None
    skipped: OccurrenceRange | None = None


def misfires(series: Series, *, after: Instant, through: Instant, mode: CatchUpMode) -> Misfires:
    """What becomes of the occurrences after the one instant and up to the other, all of them misfires.

    So a resume asks, of what fell due from the pause until now. Neither its time nor what it returns grows
    with the number of occurrences: those that fire are the last of the span, so whoever arms the series
    goes on after `skipped.last`.
    """
    first = series.next_after(after)
    if first is None or first.due_at > through:
        return Misfires()
    return _decided(OccurrenceRange(first, series.last_through(through, first)), series, mode)


def late_misfires(
    series: Series,
    first: Occurrence,
    *,
    until: Instant | None,
    judged_at: Instant,
    policy: CatchUpPolicy,
    followed_at: Instant | None = None,
) -> Misfires:
    """What becomes of the occurrences from `first` on and up to `until` that were found too late.

    So a sweep asks: a misfire is what is due more than the policy's window before the instant at which
    that is judged. What is not is no part of the answer: all of it fires. Where the series goes on in another
    timer, from `followed_at` on, the newest misfire may be one of those.
    """
    through = judged_at - policy.window_ms - 1
    if until is not None:
        through = min(through, until)
    if first.due_at > through:
        return Misfires()
    has_newer = followed_at is not None and followed_at <= through
    mode = "none" if has_newer and policy.mode == "latest" else policy.mode
    return _decided(OccurrenceRange(first, series.last_through(through, first)), series, mode)


def skipped_run(source: HasRevision, skipped: OccurrenceRange, job: Job, decided_at: Instant) -> Run:
    """The record of a span of misfires that do not fire: one run, named after the first of them.

    Whoever decides again at the same instant makes the same record. A store refuses it if that first one was
    delivered after all, which can be around a pause.
    """
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


def _decided(span: OccurrenceRange, series: Series, mode: CatchUpMode) -> Misfires:
    if mode == "all":
        return Misfires(fire=span)
    if mode == "none":
        return Misfires(skipped=span)
    if span.count == 1:
        return Misfires(fire=span)
    before = series.numbered(span.last.sequence - 1, span.first)
    return Misfires(fire=replace(span, first=span.last), skipped=replace(span, last=before))
