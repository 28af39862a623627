"""Expanding: what a page of timers yields. It depends only on the timers, their jobs and the lease."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from sweephand.base.errors import NewerError, StoreError
from sweephand.base.instants import Instant
from sweephand.model.job import Job, JobBrief, JobKey
from sweephand.model.orders import ResumeMessage
from sweephand.model.timer import (
    Chunk,
    Cursor,
    DeadlineTimer,
    Lease,
    OccurrenceTimer,
    Place,
    PlacedTimer,
    ResumeTimer,
    RetryTimer,
    TimerPack,
    UnreadTimer,
    WatchTimer,
)
from sweephand.model.trigger import DeadlineMessage, RangeMessage, TriggerMessage, message_of
from sweephand.model.watch import WatchMessage
from sweephand.schedules import Occurrence
from sweephand.schedules.triggers import last_trigger_of
from sweephand.wheel.arm import range_message
from sweephand.wheel.catchup import Skipped, skipped_run
from sweephand.wheel.packing import Successor, packed
from sweephand.wheel.span import PUT_OFF_MS, Seen, Span, copy_of, span_of
from sweephand.wheel.watch import next_check

#: At most this many triggers and skipped ranges come between two commits. A crash repeats as many, and memory
#: holds as many.
TRIGGERS_MAX = 1_000


@dataclass(slots=True)
class Expansion:
    """All that must be written and sent before the cursor may move to `cursor`; `faults` is for the log.

    `skipped` has one record for each range of misfires that do not fire. `ranges` has the ranges that end the
    series of a job which is deleted after its last run. `checks` are those of watches, and the ends of
    pauses. `watches` are the timers of the next checks, by their sort keys. `copies` are copies of timers of
    occurrences that are put off, or whose batch waits for the end of a pause. They must be written before
    `successors` and `packs`. `timers` is how many timers are done.
    """

    cursor: Cursor
    messages: list[TriggerMessage | DeadlineMessage] = field(default_factory=list)
    ranges: list[RangeMessage] = field(default_factory=list)
    checks: list[WatchMessage | ResumeMessage] = field(default_factory=list)
    watches: dict[str, WatchTimer] = field(default_factory=dict)
    skipped: list[Skipped] = field(default_factory=list)
    successors: list[OccurrenceTimer] = field(default_factory=list)
    packs: list[TimerPack] = field(default_factory=list)
    copies: list[OccurrenceTimer | UnreadTimer] = field(default_factory=list)
    timers: int = 0
    faults: list[Exception] = field(default_factory=list)
    _succeeded: set[str] = field(default_factory=set)

    def add_successor(self, successor: OccurrenceTimer) -> None:
        """Add a successor, unless one with its key is there: DynamoDB refuses a repeated key in one call.

        If one sweeper puts a timer off and the next one expands it, the timer continues as two chains. The
        chains meet at their next successor and continue as one.
        """
        if successor.sort_key not in self._succeeded:
            self._succeeded.add(successor.sort_key)
            self.successors.append(successor)

    def put_off(self, timer: OccurrenceTimer, why: Exception, judged_at: Instant) -> None:
        """Add a copy of a timer that cannot be expanded, and record the reason.

        The copy is a timer of its own, also if the timer is in a pack.
        """
        self._is_put_off(timer, why)
        self.copies.append(copy_of(timer, timer.first, judged_at))

    def put_watch_off(self, timer: WatchTimer, why: Exception) -> None:
        """Make the check of a watch, which cannot be expanded, a later one that covers more triggers."""
        self._is_put_off(timer, why)
        later = timer.message._replace(check_at=timer.due_at + PUT_OFF_MS)
        self.watch(timer._replace(message=later, stored_key=None))

    def watch(self, timer: WatchTimer) -> None:
        """Add the timer of a watch's next check."""
        self.watches[timer.sort_key] = timer

    def _is_put_off(self, timer: OccurrenceTimer | WatchTimer, why: Exception) -> None:
        why.add_note(f"timer {timer.sort_key} was put off by {PUT_OFF_MS} ms")
        self.faults.append(why)

    def hold(self, timer: OccurrenceTimer, first: Occurrence, judged_at: Instant) -> None:
        """Add a copy of a timer whose batch has begun and whose job is paused. Its triggers begin at `first`.

        The copy is looked at again after PUT_OFF_MS. So the rest of a batch waits as one timer, however many
        triggers it has.
        """
        self.copies.append(copy_of(timer, first, judged_at))

    @property
    def size(self) -> int:
        """The number of triggers and records, which TRIGGERS_MAX limits."""
        return len(self.messages) + len(self.skipped) + len(self.checks)


def expand(
    timers: Sequence[PlacedTimer],
    jobs: Mapping[JobKey, Job | JobBrief],
    lease: Lease,
    *,
    unreadable: Mapping[JobKey, Exception] = MappingProxyType({}),
    triggers_max: int = TRIGGERS_MAX,
    seen: Seen | None = None,
) -> Expansion:
    """The triggers, skipped ranges and successors of the timers at the lease's cursor, up to `triggers_max`.

    The timers are of one bucket, as placed_timers() returns them. The lease's `judged_at` decides which
    occurrences are late, or that of the cursor's chunk. So a later expansion of the same page has the same
    result. A brief suffices for a job whose present revision rules for all of its timers, none of them late.
    The copy of a timer that was put off keeps the instant of its first judgement. `unreadable` has the jobs
    that cannot be read, or whose policy cannot be, each with the reason. Their timers are put off. `seen` has
    the timers of this bucket that the sweeper has met; the timers are added to it.

    The timers that are not yet in a chunk become one. The expansion then has the successors of all of them,
    although there may not be room for all of their triggers.
    """
    assert lease.judged_at is not None, "the lease of a held shard has judged_at"
    expander = _Expander(
        expansion=Expansion(lease.cursor),
        jobs=jobs,
        unreadable=unreadable,
        begun_at=lease.cursor,
        judged_at=lease.judged_at,
        triggers_max=triggers_max,
        seen=Seen() if seen is None else seen,
        chunk=lease.cursor.chunk,
    )
    expansion = expander.expansion
    for number, each in enumerate(timers):
        if not expander.is_succeeded(each.place):
            expander.begin_chunk(timers[number:])
        if not expander.add(each):
            return expansion
        expansion.timers += 1
        if expansion.size >= triggers_max:
            break
    expander.reach(timers[expansion.timers - 1])
    return expansion


@dataclass(slots=True, eq=False, repr=False)
class _Expander:
    """One expansion while timers are added to it."""

    expansion: Expansion
    jobs: Mapping[JobKey, Job | JobBrief]
    unreadable: Mapping[JobKey, Exception]
    begun_at: Cursor
    judged_at: Instant
    triggers_max: int
    seen: Seen
    chunk: Chunk | None
    spans: dict[Place, Span] = field(default_factory=dict)
    put_off: set[Place] = field(default_factory=set)

    def begin_chunk(self, timers: Sequence[PlacedTimer]) -> None:
        """Make these timers a chunk: add the successors of all of them to the expansion.

        Suppose that each turn packed the successors of the timers that it had done. A repetition could end at
        another timer. It would then write a pack of the same name with fewer timers, and their chains would
        end (decision 037).
        """
        self.chunk = None
        successors = [
            Successor(number, successor)
            for number, placed in enumerate(timers)
            if (successor := self._successor_or_put_off(placed)) is not None
        ]
        singles, packs = packed([each.place for each in timers], successors)
        for single in singles:
            self.expansion.add_successor(single)
        self.expansion.packs += packs
        self.chunk = Chunk(timers[-1].place, self.judged_at)

    def _successor_or_put_off(self, placed: PlacedTimer) -> OccurrenceTimer | None:
        place, timer, _ = placed
        if not isinstance(timer, OccurrenceTimer) or self.seen.is_double(place, timer):
            return None
        if (why := self.unreadable.get(timer.key)) is not None:
            # A later turn may be able to read the job, and would not write a successor any more.
            self.put_off.add(place)
            self.expansion.put_off(timer, why, self._judged_at(place))
            return None
        try:
            span = span_of(timer, self.jobs.get(timer.key), self._within(place), self.judged_at)
            if span is None:
                return None
            span.known = span.walked(timer.series)
            following = span.following(timer.series)
        except Exception as error:  # noqa: BLE001 - as in _expand_or_put_off
            self.put_off.add(place)
            self.expansion.put_off(timer, error, self._judged_at(place))
            return None
        if span.is_held:
            self.put_off.add(place)
            self.expansion.hold(timer, span.first, self._judged_at(place))
            return None
        self.spans[place] = span
        return None if following is None else _succeeding(timer, following)

    def add(self, placed: PlacedTimer) -> bool:
        """Add a timer. False if there was no room for all of it, and the cursor says how far it is done."""
        place, timer, _ = placed
        if isinstance(timer, OccurrenceTimer):
            is_known = place in self.spans
            is_passed_over = not is_known and (self.seen.is_double(place, timer) or place in self.put_off)
            return is_passed_over or self._expand_or_put_off(placed, timer)
        if isinstance(timer, UnreadTimer):
            self._put_off_unread(timer)
        elif isinstance(timer, RetryTimer | DeadlineTimer):
            # A run outlives its job: the run of a deleted job still needs an end in its record.
            self.expansion.messages.append(timer.message)
        elif isinstance(timer, ResumeTimer):
            self.expansion.checks.append(timer.message)
        else:
            self._check_or_put_off(place, timer)
        return True

    def is_succeeded(self, place: Place) -> bool:
        """Whether the successor of the timer at that place is written or in the expansion."""
        return self.chunk is not None and place <= self.chunk.last

    def _within(self, place: Place) -> Occurrence | None:
        """The last trigger of the timer at that place that was sent in an earlier turn."""
        within = self.begun_at.within
        return within if within is not None and place == self.begun_at.place else None

    def reach(self, placed: PlacedTimer, within: Occurrence | None = None) -> None:
        """Move the cursor to a timer that is done, or done up to and including `within`."""
        chunk = self.chunk
        if chunk is not None and within is None and placed.place >= chunk.last:
            chunk = None
        entry = "" if placed.is_last and within is None else placed.place.entry
        self.expansion.cursor = Cursor(placed.place.key, within, entry, chunk)

    def _put_off_unread(self, timer: UnreadTimer) -> None:
        later = timer.put_off(PUT_OFF_MS)
        self.expansion.copies.append(later)
        of = "is of a newer version" if timer.why is None else f"cannot be read ({timer.why})"
        error = StoreError if timer.why else NewerError
        self.expansion.faults.append(error(f"timer {timer.sort_key} {of}: put off to {later.sort_key}"))

    def _check_or_put_off(self, place: Place, timer: WatchTimer) -> None:
        why = self.unreadable.get(timer.key)
        if why is not None and timer.key not in self.jobs:  # a watch asks for its job, and for no policy
            self.expansion.put_watch_off(timer, why)
            return
        try:
            found = next_check(timer, self.jobs.get(timer.key), self._judged_at(place))
        except Exception as error:  # noqa: BLE001 - as in _expand_or_put_off
            self.expansion.put_watch_off(timer, error)
            return
        if found.check is not None:
            self.expansion.checks.append(found.check)
        if found.successor is not None:
            self.expansion.watch(found.successor)

    def _judged_at(self, place: Place) -> Instant:
        """The instant by which the timer at that place is judged: that of its chunk, if it is in one."""
        chunk = self.chunk
        return chunk.judged_at if chunk is not None and place <= chunk.last else self.judged_at

    def _expand_or_put_off(self, placed: PlacedTimer, timer: OccurrenceTimer) -> bool:
        expansion = self.expansion
        if (why := self.unreadable.get(timer.key)) is not None:
            expansion.put_off(timer, why, self._judged_at(placed.place))
            return True
        sent, ranges, skipped = len(expansion.messages), len(expansion.ranges), len(expansion.skipped)
        try:
            return self._expand(placed, timer)
        except Exception as error:  # noqa: BLE001 - one job's schedule must not keep a whole shard waiting
            # Zone data may have lost a zone, or an older version may not know a notation. The timer continues
            # as a copy, so that a later sweep can expand it and nothing is lost. The copy yields the whole
            # timer, so what this expansion has made of it is removed. It would otherwise be sent again with
            # each copy.
            del expansion.messages[sent:]
            del expansion.ranges[ranges:]
            del expansion.skipped[skipped:]
            expansion.put_off(timer, error, self._judged_at(placed.place))
            return True

    def _expand(self, placed: PlacedTimer, timer: OccurrenceTimer) -> bool:
        """Expand one timer; False if there was no room for all of it, and the cursor says how far."""
        expansion, place = self.expansion, placed.place
        judged_at, messages = self._judged_at(place), expansion.messages
        span = self.spans.pop(place, None) or span_of(
            timer, self.jobs.get(timer.key), self._within(place), judged_at
        )
        if span is None:
            return True
        if span.is_held:
            expansion.hold(timer, span.first, judged_at)
            return True
        skipped, reached, until, end = span.skipped, self._within(place), span.until, span.end
        # After a fault, the delivery function looks for a record of the run before it makes the attempt.
        # Another sweeper may have expanded a timer that has a copy, and its chain goes on.
        is_repeated = timer.may_be_repeated or timer.judged_at is not None
        for trigger in span.triggers(timer.series):
            if skipped is not None and trigger.due_at > skipped.last.due_at:
                _skip(expansion, timer, span, judged_at)
                reached = last_trigger_of(timer.series, skipped.last)
                skipped = None
            if trigger.at >= end or (until is not None and trigger.due_at > until):
                return True
            if expansion.size >= self.triggers_max:
                assert reached is not None, "an expansion begins with room for a trigger"
                self.reach(placed, reached)
                return False
            reached = trigger
            message = message_of(timer, trigger, timer.armed_at, timer.demand, timer.payload)
            messages.append(message._replace(faults=1) if is_repeated else message)
        if skipped is not None:
            _skip(expansion, timer, span, judged_at)
        return True


def _succeeding(timer: OccurrenceTimer, first: Occurrence) -> OccurrenceTimer:
    """The timer that follows another one of its series, and begins with `first`."""
    return OccurrenceTimer(
        timer.shard,
        timer.key,
        timer.uid,
        timer.rev,
        timer.series,
        first,
        timer.armed_at,
        timer.catchup,
        timer.followed_at,
        demand=timer.demand,
        payload=timer.payload,
    )


def _skip(expansion: Expansion, timer: OccurrenceTimer, span: Span, judged_at: Instant) -> None:
    """Record the misfires of a span that do not fire."""
    skipped, job = span.skipped, span.job
    decided_at = judged_at if timer.judged_at is None else timer.judged_at
    assert skipped is not None, "the caller has looked"
    assert isinstance(job, Job), "the job of a late timer is read whole"
    expansion.skipped.append(Skipped(skipped_run(timer, skipped, job, decided_at), timer.series))
    if job.definition.deletes_after_completion and job.series.next_after(skipped.last.due_at) is None:
        # The job has no other occurrence. The delivery function checks whether all its runs are over.
        expansion.ranges.append(range_message(timer, skipped, decided_at, are_skipped=True))
