"""What is left of a timer: the triggers that it still owes, and where its successor begins."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Final, TypeAlias

from sweephand.base.instants import MINUTE_MS, Instant
from sweephand.base.timing import BUCKET_MS
from sweephand.model.job import Job, JobBrief, JobKey, Revision
from sweephand.model.revisions import revision_of
from sweephand.model.run_id import is_exempt_from_pause
from sweephand.model.timer import OccurrenceTimer, Place, bucket_of
from sweephand.schedules import Occurrence, Series
from sweephand.schedules.triggers import last_trigger_of, trigger_after, trigger_following, triggers_from
from sweephand.wheel.catchup import Misfires, OccurrenceRange, misfires_of_timer

#: A successor is found by walking through the triggers of its timer's bucket if these are so few. They are
#: then kept until they are sent. A job that fires every second has 60.
WALK_MAX: Final = 64

#: A timer that cannot be expanded is put off by this time. It then lies beyond the horizon, so one sweep
#: meets it only once. The time is also short enough for a fault that is being repaired.
PUT_OFF_MS: Final = 5 * MINUTE_MS

#: A timer keeps its first judgement until it was put off by more than this. A fault that lasts longer is an
#: outage, about which `catchup` decides (decision 037).
JUDGEMENT_KEPT_MS: Final = 3 * PUT_OFF_MS


@dataclass(slots=True, eq=False, repr=False)
class Span:
    """What is left of a timer: its triggers whose occurrences belong to its revision, from `first` on.

    Those up to `end` are sent, except for those of the occurrences in `skipped`. `until` is the end of the
    revision. If the span `is_held`, `first` belongs to a batch that has begun, and the job is paused. Then
    nothing is sent. `known` is what walked() has returned.
    """

    job: Job | JobBrief
    first: Occurrence
    end: Instant
    until: Instant | None
    skipped: OccurrenceRange | None
    is_held: bool = False
    known: Sequence[Occurrence] | None = None

    def walked(self, series: Series) -> Sequence[Occurrence] | None:
        """The triggers up to and including the first one beyond `end`; None if they are too many.

        If the series ends before `end`, these are all of its triggers.
        """
        if self.skipped is not None:
            return None
        if series.batch is None and self.first.at < self.end:
            # Nearly every timer has one trigger before `end`, and the next one lies beyond.
            following = series.following(self.first)
            if following is None:
                return [self.first]
            if following.at >= self.end:
                return [self.first, following]
        walked: list[Occurrence] = []
        for trigger in triggers_from(series, self.first):
            walked.append(trigger)
            if trigger.at >= self.end:
                return walked
            if len(walked) == WALK_MAX:
                return None
        return walked

    def following(self, series: Series) -> Occurrence | None:
        """The first trigger beyond `end`, with which the successor begins; None if there is no successor.

        It is found without walking through the triggers before it, unless these are few.
        """
        if self.known is not None:
            last = self.known[-1]
            return self._owed(last if last.at >= self.end else None)
        if self.skipped is not None:
            found = series.next_after(self.skipped.last.due_at, self.skipped.last)
        else:
            found = self.first
        if found is not None and found.at < self.end:
            found = trigger_after(series, self.end - 1, found)
        return self._owed(found)

    def _owed(self, found: Occurrence | None) -> Occurrence | None:
        is_owed = found is not None and (self.until is None or found.due_at <= self.until)
        return found if is_owed else None

    def triggers(self, series: Series) -> Iterable[Occurrence]:
        """The triggers that are not skipped, from the first on; at least up to the first beyond `end`."""
        return self._all(series) if self.known is None else self.known

    def _all(self, series: Series) -> Iterator[Occurrence]:
        skipped = self.skipped
        if skipped is None:
            yield from triggers_from(series, self.first)
            return
        if self.first.due_at < skipped.first.due_at:
            # The batch of the first trigger has begun, so it is completed.
            yield from takewhile(
                lambda each: each.due_at == self.first.due_at, triggers_from(series, self.first)
            )
        following = series.next_after(skipped.last.due_at, skipped.last)
        if following is not None:
            yield from triggers_from(series, following)


def copy_of(timer: OccurrenceTimer, first: Occurrence, judged_at: Instant) -> OccurrenceTimer:
    """The copy of a timer that is put off, from its trigger `first` on.

    Another sweeper may have sent triggers of the timer, and may have crashed before its commit. So the copy
    keeps the instant by which the timer was judged. Judged anew, these triggers could become misfires.
    """
    put_off_to = timer.due_at + PUT_OFF_MS
    kept = judged_at if timer.judged_at is None else timer.judged_at
    is_outage = put_off_to - first.at > JUDGEMENT_KEPT_MS
    return timer._replace(
        first=first, put_off_to=put_off_to, stored_key=None, judged_at=None if is_outage else kept
    )


def span_of(
    timer: OccurrenceTimer, job: Job | JobBrief | None, within: Occurrence | None, judged_at: Instant
) -> Span | None:
    """What is left of a timer; None if nothing is."""
    if timer.demand is not None:
        return _span_on_demand(timer, job, within)
    revision = revision_of(job, timer.uid, timer.rev)
    if job is None or revision is None:
        return None
    # The resume decides about the occurrences after the pause.
    until = job.paused_at if revision.until is None else revision.until
    first = _first(timer, revision, within)
    if first is None:
        return None
    end = bucket_of(timer.due_at) + BUCKET_MS
    if first.due_at >= judged_at and not first.batch_index and timer.judged_at is None:
        # No occurrence is late yet, which holds for nearly every timer.
        return Span(job, first, end, until, None)
    if first.batch_index:
        # A misfire that fires is sent whatever its bucket (below). So is the part of its batch that is due at
        # once.
        end = max(end, first.due_at + 1)
    misfires = _misfires(timer, first, until, end, judged_at)
    if misfires.fire is not None and timer.catchup.mode == "latest":
        # The newest misfire fires for all the skipped ones, so it is sent with them, whatever its bucket. In
        # a timer of its own it would be judged again, and might no longer be the newest.
        end = max(end, misfires.fire.last.due_at + 1)
    is_held = first.batch_index > 0 and job.paused_at is not None
    return Span(job, first, end, until, misfires.skipped, is_held)


def _span_on_demand(
    timer: OccurrenceTimer, job: Job | JobBrief | None, within: Occurrence | None
) -> Span | None:
    """What is left of the timer of a batch on demand. It asks for the job's `uid` only, and is never late."""
    first = timer.first if within is None else trigger_following(timer.series, within)
    if job is None or job.uid != timer.uid or first is None:
        return None
    is_held = job.paused_at is not None and not is_exempt_from_pause(timer.demand)
    return Span(job, first, bucket_of(timer.due_at) + BUCKET_MS, None, None, is_held)


def _misfires(
    timer: OccurrenceTimer, first: Occurrence, until: Instant | None, end: Instant, judged_at: Instant
) -> Misfires:
    """The decision about the misfires of a timer from its trigger `first` on.

    A batch that has begun is completed, however late it is. So only the occurrences after it can be misfires.
    A later timer decides about them if the batch goes on after `end`.
    """
    if timer.judged_at is not None:
        judged_at = timer.judged_at
    else:
        # A timer waits for five minutes after each failed expansion. The last of these waits does not count
        # as an outage, because the fault may have been over at once.
        judged_at -= min(timer.put_off_by_ms, PUT_OFF_MS)
    if first.due_at >= judged_at:
        return Misfires()
    series = timer.series
    judged: Occurrence | None = first
    if first.batch_index:
        if last_trigger_of(series, first).at >= end:
            return Misfires()
        judged = series.next_after(first.due_at, first)
    if judged is None:
        return Misfires()
    return misfires_of_timer(
        series,
        judged,
        until=until,
        judged_at=judged_at,
        policy=timer.catchup,
        followed_at=timer.followed_at,
    )


def _first(timer: OccurrenceTimer, revision: Revision, within: Occurrence | None) -> Occurrence | None:
    """The first trigger of a timer that is not yet expanded and belongs to the revision; None if none."""
    series = timer.series
    first = timer.first if within is None else trigger_following(series, within)
    if first is None or first.due_at > revision.since:
        return first
    return series.next_after(revision.since, first)


#: The job and the revision of a timer, its first trigger by due time and index, and who asked for it.
_Name: TypeAlias = tuple[JobKey, str, str, Instant, int, str | None]


@dataclass(slots=True, eq=False, repr=False)
class Seen:
    """The occurrence timers of one bucket that one sweeper has met.

    A crash or a timer that was put off can leave two timers of one revision with the same first trigger in
    one bucket. The second one would yield the same triggers and the same successor again, for ever if both
    are in packs. So a sweeper skips it.
    """

    _places: dict[_Name, Place] = field(default_factory=dict)

    def is_double(self, place: Place, timer: OccurrenceTimer) -> bool:
        """Note a timer, and return whether its revision and first trigger were met at another place."""
        return self._places.setdefault(_name(timer), place) != place


def _name(timer: OccurrenceTimer) -> _Name:
    first, demand = timer.first, timer.demand
    asked_by = None if demand is None else demand.token
    return timer.key, timer.uid, timer.rev, first.due_at, first.batch_index, asked_by
