"""What is left of a timer: the occurrences that it still owes, and where its successor begins."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from sweephand.base.instants import MINUTE_MS, Instant
from sweephand.base.timing import BUCKET_MS
from sweephand.model.job import Job, JobBrief, Revision
from sweephand.model.liveness import revision_of
from sweephand.model.timer import OccurrenceTimer, bucket_of, occurrences_from
from sweephand.schedules import Occurrence, Series
from sweephand.wheel.catchup import OccurrenceRange, misfires_of_timer

#: A successor is found by walking through the occurrences of its timer's bucket if these are so few. They
#: are then kept until they are sent. A job that fires every second has 60.
WALK_MAX: Final = 64

#: A timer that cannot be expanded is put off by this time. It then lies beyond the horizon, so one sweep
#: meets it only once. The time is also short enough for a fault that is being repaired.
PUT_OFF_MS = 5 * MINUTE_MS


@dataclass(frozen=True, slots=True)
class Span:
    """What is left of a timer: its occurrences that belong to its revision, from `first` on.

    Those up to `end` become triggers; `reached` is the last one that needs none, because it was sent before
    or is skipped. `until` is the end of the revision. `known` is what walked() has returned.
    """

    job: Job | JobBrief
    first: Occurrence
    end: Instant
    until: Instant | None
    reached: Occurrence | None
    skipped: OccurrenceRange | None
    known: Sequence[Occurrence] | None = None

    def walked(self, series: Series) -> Sequence[Occurrence] | None:
        """The occurrences up to and including the first one beyond `end`; None if they are too many.

        If the series ends before `end`, these are all of its occurrences.
        """
        if self.skipped is not None:
            return None
        walked: list[Occurrence] = []
        for occurrence in self.occurrences(series):
            walked.append(occurrence)
            if occurrence.due_at >= self.end:
                return walked
            if len(walked) == WALK_MAX:
                return None
        return walked

    def following(self, series: Series) -> Occurrence | None:
        """The first occurrence beyond `end`, with which the successor begins; None if there is no successor.

        It is found without walking through the occurrences before it, unless these are few.
        """
        if self.known is not None:
            last = self.known[-1]
            return self._owed(last if last.due_at >= self.end else None)
        known = self.first if self.skipped is None else self.skipped.last
        if self.skipped is None and known.due_at >= self.end:
            found: Occurrence | None = known
        else:
            found = series.next_after(max(self.end - 1, known.due_at), known)
        return self._owed(found)

    def _owed(self, found: Occurrence | None) -> Occurrence | None:
        is_owed = found is not None and (self.until is None or found.due_at <= self.until)
        return found if is_owed else None

    def occurrences(self, series: Series) -> Iterator[Occurrence]:
        """The occurrences that are not skipped, from the first on; at least up to the first beyond `end`."""
        if self.known is not None:
            return iter(self.known)
        if self.skipped is None:
            return occurrences_from(series, self.first)
        last = self.skipped.last
        return series.occurrences(last.due_at, last)


def span_of(
    timer: OccurrenceTimer, job: Job | JobBrief | None, within: Occurrence | None, judged_at: Instant
) -> Span | None:
    """What is left of a timer; None if nothing is."""
    revision = revision_of(job, timer.uid, timer.rev)
    if job is None or revision is None:
        return None
    # The resume decides about the occurrences after the pause.
    until = job.paused_at if revision.until is None else revision.until
    first = _first(timer, revision, within)
    if first is None:
        return None
    misfires = misfires_of_timer(
        timer.series,
        first,
        until=until,
        # A timer waits for five minutes after each failed expansion. The last of these waits does not count
        # as an outage, because the fault may have been over at once.
        judged_at=judged_at - min(timer.put_off_by_ms, PUT_OFF_MS),
        policy=timer.catchup,
        followed_at=timer.followed_at,
    )
    end = bucket_of(timer.due_at) + BUCKET_MS
    if misfires.fire is not None and timer.catchup.mode == "latest":
        # The newest misfire fires for all the skipped ones, so it is sent with them, whatever its bucket. In
        # a timer of its own it would be judged again, and might no longer be the newest.
        end = max(end, misfires.fire.last.due_at + 1)
    reached = within if misfires.skipped is None else misfires.skipped.last
    return Span(job, first, end, until, reached, misfires.skipped)


def _first(timer: OccurrenceTimer, revision: Revision, within: Occurrence | None) -> Occurrence | None:
    """The first occurrence of a timer that is not yet expanded and belongs to the revision; None if none."""
    series = timer.series
    first = timer.first if within is None else series.next_after(within.due_at, within)
    if first is None or first.due_at > revision.since:
        return first
    return series.next_after(revision.since, first)
