"""Expanding: what a page of timers yields. It depends only on the timers, their jobs and the lease."""

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
from sweephand.wheel.arm import range_message
from sweephand.wheel.catchup import misfires_of_timer, skipped_run

#: At most this many triggers and skipped ranges come between two commits. A crash repeats as many, and memory
#: holds as many.
TRIGGERS_MAX = 1_000

#: A timer that cannot be expanded is put off by this time. It then lies beyond the horizon, so one sweep
#: meets it only once. The time is also short enough for a fault that is being repaired.
PUT_OFF_MS = 5 * MINUTE_MS


@dataclass(slots=True)
class Expansion:
    """All that must be written and sent before the cursor may move to `cursor`; `faults` is for the log.

    `skipped` has one record for each range of misfires that do not fire. `ranges` has the ranges that end the
    series of a job which is deleted after its last run. `copies` are copies of timers that this version
    cannot read. They are written like `successors`.
    """

    cursor: Cursor
    messages: list[TriggerMessage | DeadlineMessage] = field(default_factory=list)
    ranges: list[RangeMessage] = field(default_factory=list)
    skipped: list[Run] = field(default_factory=list)
    successors: list[OccurrenceTimer] = field(default_factory=list)
    copies: list[UnreadTimer] = field(default_factory=list)
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

    def put_off(self, timer: OccurrenceTimer, why: Exception) -> None:
        """Add a copy of a timer that cannot be expanded, and record the reason."""
        why.add_note(f"timer {timer.sort_key} was put off by {PUT_OFF_MS} ms")
        self.faults.append(why)
        self.add_successor(timer._replace(put_off_to=timer.due_at + PUT_OFF_MS, stored_key=None))

    @property
    def size(self) -> int:
        """The number of triggers and records, which TRIGGERS_MAX limits."""
        return len(self.messages) + len(self.skipped)


def expand(
    timers: Sequence[StoredTimer],
    jobs: Mapping[JobKey, Job],
    lease: Lease,
    *,
    unreadable: Mapping[JobKey, Exception] = MappingProxyType({}),
    triggers_max: int = TRIGGERS_MAX,
) -> Expansion:
    """The triggers, skipped ranges and successors of the timers at the lease's cursor, up to `triggers_max`.

    The timers are of one bucket, in the order of their keys, as TimerStore.page returns them. The lease's
    `judged_at` decides which occurrences are late. So a later expansion of the same page has the same result.
    The last five minutes by which a timer was put off do not count as lateness. `unreadable` has the jobs
    that cannot be read, each with the reason. Their timers are put off.
    """
    cursor = lease.cursor
    assert lease.judged_at is not None, "the lease of a held shard has judged_at"
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
            # A run outlives its job: the run of a deleted job still needs an end in its record.
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
    """The expansion to which a timer is added, the instant by which it is judged, and the most triggers."""

    expansion: Expansion
    judged_at: Instant
    triggers_max: int


def _expand_or_put_off(
    timer: OccurrenceTimer, job: Job | None, room: _Room, within: Occurrence | None
) -> bool:
    expansion = room.expansion
    sent, ranges, skipped = len(expansion.messages), len(expansion.ranges), len(expansion.skipped)
    try:
        return _expand_occurrences(timer, job, room, within)
    except Exception as error:  # noqa: BLE001 - one job's schedule must not keep a whole shard waiting
        # Zone data may have lost a zone, or a rollback may have removed a notation. The timer continues as a
        # copy, so that a later sweep can expand it and nothing is lost. The copy yields the whole timer, so
        # what this expansion has made of it is removed. It would otherwise be sent again with each copy.
        del expansion.messages[sent:]
        del expansion.ranges[ranges:]
        del expansion.skipped[skipped:]
        expansion.put_off(timer, error)
        return True


def _expand_occurrences(
    timer: OccurrenceTimer, job: Job | None, room: _Room, within: Occurrence | None
) -> bool:
    """Expand one timer; False if there was no room for all of it, and the expansion's cursor says how far."""
    revision = revision_of(job, timer.uid, timer.rev)
    if job is None or revision is None:
        return True
    # The resume decides about the occurrences after the pause.
    until = job.paused_at if revision.until is None else revision.until
    expansion, series = room.expansion, timer.series
    first = _first(timer, revision, within)
    if first is None:
        return True
    end = bucket_of(timer.due_at) + BUCKET_MS
    policy = timer.catchup
    misfires = misfires_of_timer(
        series,
        first,
        until=until,
        # A timer waits for five minutes after each failed expansion. The last of these waits does not count
        # as an outage, because the fault may have been over at once.
        judged_at=room.judged_at - min(timer.put_off_by_ms, PUT_OFF_MS),
        policy=policy,
        followed_at=timer.followed_at,
    )
    reached, rest = within, occurrences_from(series, first)
    if misfires.skipped is not None:
        expansion.skipped.append(skipped_run(timer, misfires.skipped, job, room.judged_at))
        reached = misfires.skipped.last
        if job.definition.deletes_after_completion and job.series.next_after(reached.due_at) is None:
            # The job has no other occurrence. The delivery function checks whether all its runs are over.
            expansion.ranges.append(range_message(timer, misfires.skipped, room.judged_at, are_skipped=True))
        rest = series.occurrences(reached.due_at, reached)
    if misfires.fire is not None and policy.mode == "latest":
        # The newest misfire fires for all the skipped ones, so it is sent with them, whatever its bucket. In
        # a timer of its own it would be judged again, and might no longer be the newest.
        end = max(end, misfires.fire.last.due_at + 1)
    for occurrence in rest:
        if until is not None and occurrence.due_at > until:
            return True
        if occurrence.due_at >= end:
            expansion.add_successor(timer._replace(first=occurrence, put_off_to=None, stored_key=None))
            return True
        if expansion.size >= room.triggers_max:
            assert reached is not None, "an expansion begins with room for a trigger"
            expansion.cursor = Cursor(timer.sort_key, reached)
            return False
        reached = occurrence
        expansion.messages.append(message_of(timer, occurrence, timer.armed_at))
    return True


def _first(timer: OccurrenceTimer, revision: Revision, within: Occurrence | None) -> Occurrence | None:
    """The first occurrence of a timer that is not yet expanded and belongs to the revision; None if none."""
    series = timer.series
    first = timer.first if within is None else series.next_after(within.due_at, within)
    if first is None or first.due_at > revision.since:
        return first
    return series.next_after(revision.since, first)
