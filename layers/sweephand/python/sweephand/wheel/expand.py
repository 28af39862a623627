"""Expanding: what a page of timers yields, which depends on the timers, their jobs and the lease alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from sweephand.base.errors import NewerError, StoreError
from sweephand.base.instants import MINUTE_MS, Instant
from sweephand.base.timing import BUCKET_MS
from sweephand.model.job import Job, JobKey, Revision
from sweephand.model.liveness import revision_of
from sweephand.model.run import Run
from sweephand.model.timer import (
    Cursor,
    DeadlineTimer,
    Lease,
    OccurrenceTimer,
    RetryTimer,
    StoredTimer,
    UnreadTimer,
    bucket_of,
    occurrences_from,
)
from sweephand.model.trigger import (
    DeadlineMessage,
    RangeMessage,
    TriggerMessage,
    message_of,
)
from sweephand.schedules import Occurrence
from sweephand.wheel.arm import span_message
from sweephand.wheel.catchup import late_misfires, skipped_run

#: At most this many triggers and skipped spans between two commits: what a crash repeats, and what memory
#: holds.
TRIGGERS_MAX = 1_000

#: A timer that cannot be expanded is looked at again this much later: beyond the horizon, so that a sweep
#: meets it once, and soon enough for a mistake of ours that is being repaired.
PUT_OFF_MS = 5 * MINUTE_MS


@dataclass(slots=True)
class Expansion:
    """What has to be written and sent before the cursor may move to `cursor`; `faults` is for the log.

    `skipped` are the records of misfires that do not fire, one for each span of them. `spans` are those after
    which a job that wants to go with its last run has nothing to come. `copies` are of timers that a
    newer version wrote; they are written as successors are.
    """

    cursor: Cursor
    messages: list[TriggerMessage | DeadlineMessage] = field(default_factory=list)
    spans: list[RangeMessage] = field(default_factory=list)
    skipped: list[Run] = field(default_factory=list)
    successors: list[OccurrenceTimer] = field(default_factory=list)
    copies: list[UnreadTimer] = field(default_factory=list)
    timers: int = 0
    faults: list[Exception] = field(default_factory=list)
    _succeeded: set[str] = field(default_factory=set)

    def succeed(self, successor: OccurrenceTimer) -> None:
        """Add a successor unless there is one of that key: DynamoDB refuses one key twice in a call.

        A timer that was put off by one sweeper and expanded by the next goes on in two chains. They meet at
        their next successor, and go on as one.
        """
        if successor.sort_key not in self._succeeded:
            self._succeeded.add(successor.sort_key)
            self.successors.append(successor)

    def put_off(self, timer: OccurrenceTimer, why: Exception) -> None:
        """Have a timer that cannot be expanded live on in a copy, and say why."""
        why.add_note(f"timer {timer.sort_key} was put off by {PUT_OFF_MS} ms")
        self.faults.append(why)
        self.succeed(timer._replace(put_off_to=timer.due_at + PUT_OFF_MS, stored_key=None))

    @property
    def size(self) -> int:
        """What counts towards the most that one expansion has."""
        return len(self.messages) + len(self.skipped)


def expand(
    timers: Sequence[StoredTimer],
    jobs: Mapping[JobKey, Job],
    lease: Lease,
    *,
    unreadable: Mapping[JobKey, Exception] = MappingProxyType({}),
    triggers_max: int = TRIGGERS_MAX,
) -> Expansion:
    """The triggers, skipped spans and successors of the timers at the lease's cursor, up to `triggers_max`.

    The timers are of one bucket, in the order of their keys, as TimerStore.page answers them. Whether they
    are late is judged by the instant that the lease says: whoever expands the page again, however much
    later, gets the same. The last five minutes that a timer was put off by are no lateness. `unreadable` are
    the jobs that cannot be read, and why: their timers are put off.
    """
    cursor = lease.cursor
    assert lease.judged_at is not None, "a shard that is held says by when its page is judged"
    expansion = Expansion(cursor)
    for timer in timers:
        within = cursor.within if timer.sort_key == cursor.key else None
        if isinstance(timer, UnreadTimer):
            later = timer.put_off(PUT_OFF_MS)
            expansion.copies.append(later)
            of = "is of a newer version" if timer.why is None else f"cannot be read ({timer.why})"
            error = StoreError if timer.why else NewerError
            expansion.faults.append(error(f"timer {timer.sort_key} {of}: put off to {later.sort_key}"))
        elif isinstance(timer, RetryTimer | DeadlineTimer):
            # Of a job that is gone, too: its run outlives it, and somebody has to say how that ended.
            expansion.messages.append(timer.message)
        elif (why := unreadable.get(timer.key)) is not None:
            expansion.put_off(timer, why)
        else:
            room = _Room(expansion, lease.judged_at, triggers_max)
            if not _expand_or_put_off(timer, jobs.get(timer.key), room, within):
                return expansion
        expansion.cursor = Cursor(timer.sort_key)
        expansion.timers += 1
        if expansion.size >= triggers_max:
            return expansion
    return expansion


@dataclass(frozen=True, slots=True)
class _Room:
    """The expansion that a timer is added to, by when it is judged, and the most that goes into it."""

    expansion: Expansion
    judged_at: Instant
    triggers_max: int


def _expand_or_put_off(
    timer: OccurrenceTimer, job: Job | None, room: _Room, within: Occurrence | None
) -> bool:
    expansion = room.expansion
    sent, spans, skipped = len(expansion.messages), len(expansion.spans), len(expansion.skipped)
    try:
        return _expand_occurrences(timer, job, room, within)
    except Exception as error:  # noqa: BLE001 - one job's schedule must not keep a whole shard waiting
        # Zone data that lost a zone, code taken back to before it knew a form: whatever it was, the timer
        # lives on in a copy, so that nothing is lost once it can be expanded again.
        # Its copy yields all of it: what was made so far would be sent again each time it is put off.
        del expansion.messages[sent:]
        del expansion.spans[spans:]
        del expansion.skipped[skipped:]
        expansion.put_off(timer, error)
        return True


def _expand_occurrences(
    timer: OccurrenceTimer, job: Job | None, room: _Room, within: Occurrence | None
) -> bool:
    """Whether all of the timer was expanded; if not, the expansion's cursor says how far it was."""
    revision = revision_of(job, timer.uid, timer.rev)
    if job is None or revision is None:
        return True
    # What falls due after the moment of a pause is for the resume to decide.
    until = job.paused_at if revision.until is None else revision.until
    expansion, series = room.expansion, timer.series
    first = _first(timer, revision, within)
    if first is None:
        return True
    end = bucket_of(timer.due_at) + BUCKET_MS
    policy = timer.catchup
    misfires = late_misfires(
        series,
        first,
        until=until,
        # A timer waits for five minutes after each look that failed. The last wait is no outage: whatever
        # failed may have been over at once.
        judged_at=room.judged_at - min(timer.put_off_by_ms, PUT_OFF_MS),
        policy=policy,
        followed_at=timer.followed_at,
    )
    reached, rest = within, occurrences_from(series, first)
    if misfires.skipped is not None:
        expansion.skipped.append(skipped_run(timer, misfires.skipped, job, room.judged_at))
        reached = misfires.skipped.last
        if job.definition.deletes_after_completion and job.series.next_after(reached.due_at) is None:
            # The job had nothing else to come: the delivery function looks whether all of it is over.
            expansion.spans.append(span_message(timer, misfires.skipped, room.judged_at, are_skipped=True))
        rest = series.occurrences(reached.due_at, reached)
    if misfires.fire is not None and policy.mode == "latest":
        # The one that fires for all that are skipped goes with them, wherever it lies: left to a timer of
        # its own it would be judged again, by then perhaps not as the newest.
        end = max(end, misfires.fire.last.due_at + 1)
    for occurrence in rest:
        if until is not None and occurrence.due_at > until:
            return True
        if occurrence.due_at >= end:
            expansion.succeed(timer._replace(first=occurrence, put_off_to=None, stored_key=None))
            return True
        if expansion.size >= room.triggers_max:
            assert reached is not None, "an expansion begins with room for a trigger"
            expansion.cursor = Cursor(timer.sort_key, reached)
            return False
        reached = occurrence
        expansion.messages.append(message_of(timer, occurrence, timer.armed_at))
    return True


def _first(timer: OccurrenceTimer, revision: Revision, within: Occurrence | None) -> Occurrence | None:
    """The first occurrence of a timer that is left and the revision's to send, if there is one."""
    series = timer.series
    first = timer.first if within is None else series.next_after(within.due_at, within)
    if first is None or first.due_at > revision.since:
        return first
    return series.next_after(revision.since, first)
