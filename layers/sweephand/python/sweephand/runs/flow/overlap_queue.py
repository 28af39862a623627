"""Taking turns: a trigger's way into its job's line, and out of it when its run is over."""

from collections.abc import Callable
from typing import NamedTuple

from sweephand.base.errors import StoreError
from sweephand.base.instants import SECOND_MS, Instant
from sweephand.base.timing import QUEUE_DELAY_MAX_MS
from sweephand.model.job import Job, JobKey
from sweephand.model.line import Line, StoredLine
from sweephand.model.run import Run
from sweephand.model.trigger import Trigger, TriggerMessage
from sweephand.ports import (
    Clock,
    Ids,
    LineStore,
    Queue,
    RunStore,
)
from sweephand.runs.flow.overlap import (
    LINE_RETENTION_MS,
    Arrival,
    TurnOutcome,
    arrived,
    gives_up_at,
    is_over,
    leaves_at,
    yields_at,
)
from sweephand.runs.notification import notification_of

#: So often somebody else may change a line between reading and writing it; then the message comes again.
TRIES_MAX = 20

#: Why a run was skipped, in its record.
OVERLAP = "overlap"


class Turn(NamedTuple):
    """What became of a trigger that arrived: one that waits is looked at again at `look_again_at`."""

    outcome: TurnOutcome
    look_again_at: Instant


class _State(NamedTuple):
    """What is known of a line's holder and of the trigger that arrives."""

    has_ended: bool
    yields: bool
    has_begun: bool
    look_again_at: Instant


class OverlapQueue:
    """The lines of jobs; any number of delivery functions may work on one.

    Whoever waits stays in the queue as well: the line gives the order and the prompt wake-up, the message
    sees to it that nothing is lost, whoever dies holding the line. A line is written on the condition that
    it is as it was read. Whom a write makes the holder is sent before it, whom it lets go is recorded before
    it: a crash between leaves a duplicate that finds its run over, or one that is still in its place.
    """

    def __init__(self, *, lines: LineStore, runs: RunStore, queue: Queue, clock: Clock, ids: Ids) -> None:
        self._lines = lines
        self._runs = runs
        self._queue = queue
        self._clock = clock
        self._ids = ids

    def arrive(self, message: TriggerMessage, job: Job, look_again: Callable[[], Job | None]) -> Turn:
        """Take the line for a trigger, have it wait, or record it as skipped.

        `look_again` reads the job anew: where another of its name has a line, that may be the later one.
        With `go` it is the only trigger of the job whose run is not over, until handed_on() is called after
        its run or nothing has been seen of it for an hour. StoreError: nothing is decided.
        """
        for _ in range(TRIES_MAX):
            slot = self._lines.get(job.key)
            now = self._clock.now()
            if slot is not None and slot.uid != job.uid and not _is_same_job(look_again(), job):
                return Turn("gone", now)
            line = slot.line if slot is not None and slot.uid == job.uid else Line()
            state = self._state(line, message, job, now)
            if state is None:
                if line.has(message):
                    # Left there, it would be called when its record may be gone.
                    self.forget(message.trigger)
                return Turn("over", now)
            arrival = _arrival(line, message, job, state, now)
            for each in arrival.replaced:
                self._skip(each.trigger, job)
            if not self._is_written(job, slot, line, arrival, now):
                continue
            # What has a run cannot be skipped: it began or ended in this very moment.
            if arrival.verdict != "skip" or self._skip(message.trigger, job):
                return Turn(arrival.verdict, state.look_again_at)
        raise StoreError(f"the line of {job.key} was changed by others {TRIES_MAX} times")

    def leave(self, message: TriggerMessage, job: Job) -> Instant | None:
        """Take a trigger that `job` does not owe any more out of its line; when to try again, None if done.

        Its run stays as it is: a later revision may owe a trigger of the same name, whose message comes by
        itself, and takes the line over from this one.
        """
        trigger = message.trigger
        for _ in range(TRIES_MAX):
            slot = self._lines.get(job.key)
            if slot is None or slot.uid != job.uid:
                return None
            now = self._clock.now()
            line = slot.line.without_exactly(message)
            if line.is_held_by(message):
                until = leaves_at(message, self._runs.of(trigger), job)
                if until is None:
                    self.advance(trigger)
                    return None
                if until > now:
                    # A second at least: the queue rounds less down to none, and would show it again at once.
                    return max(until, now + SECOND_MS)
                line = line.handed_on(now)
            woken = line.holder.message if line.holder and line.holder != slot.line.holder else None
            if line == slot.line:
                return None
            if self._is_changed(slot.key, slot.uid, slot, line, woken):
                if woken is not None:
                    # It may have come before the write: then it found the line held, by a run that had not
                    # ended, and waits.
                    self._queue.send([(woken, 0)])
                return None
        raise StoreError(f"the line of {job.key} was changed by others {TRIES_MAX} times")

    def remove(self, trigger: Trigger) -> None:
        """Take a trigger that may run beside all others now out of its job's line, where it may have waited.

        Left there, it would be called when runs take turns again, though its record may be gone by then. If
        it holds the line, the next one is called at once: it need not wait any more either.
        """
        for _ in range(TRIES_MAX):
            slot = self._lines.get(trigger.key)
            if slot is None or slot.uid != trigger.uid:
                return
            line, woken = slot.line.without(trigger), None
            if line.holder is not None and line.holder.id == trigger.id:
                line = line.handed_on(self._clock.now())
                woken = line.holder.message if line.holder else None
            if line == slot.line or self._is_changed(slot.key, slot.uid, slot, line, woken):
                return
        raise StoreError(f"the line of {trigger.key} was changed by others {TRIES_MAX} times")

    def forget(self, trigger: Trigger) -> None:
        """Take a trigger whose run is over out of its job's line; if it holds the line, hand it on."""
        for _ in range(TRIES_MAX):
            slot = self._lines.get(trigger.key)
            if slot is None or slot.uid != trigger.uid:
                return
            run = self._runs.of(trigger)
            left = tuple(
                each for each in slot.line.waiting if each.trigger.id != trigger.id or not is_over(each, run)
            )
            if left == slot.line.waiting:
                self.advance(trigger)
                return
            if self._is_changed(slot.key, slot.uid, slot, slot.line._replace(waiting=left), None):
                self.advance(trigger)
                return
        raise StoreError(f"the line of {trigger.key} was changed by others {TRIES_MAX} times")

    def keep(self, trigger: Trigger) -> None:
        """Have the line of a trigger that is held stay, if it would be removed within a month.

        Where another writes the line at the same moment, that one keeps it.
        """
        slot = self._lines.get(trigger.key)
        if slot is not None and slot.uid == trigger.uid and _is_ageing(slot, self._clock.now()):
            self._is_changed(slot.key, slot.uid, slot, slot.line, None)

    def advance(self, trigger: Trigger) -> None:
        """Give the line to the next if the trigger holds it and its run is over; else change nothing."""
        for _ in range(TRIES_MAX):
            slot = self._lines.get(trigger.key)
            holder = slot.line.holder if slot is not None and slot.uid == trigger.uid else None
            if slot is None or holder is None or holder.id != trigger.id:
                return
            if not is_over(holder.message, self._runs.of(holder.message.trigger)):
                return
            line = slot.line.handed_on(self._clock.now())
            woken = line.holder.message if line.holder else None
            if self._is_changed(slot.key, slot.uid, slot, line, woken):
                return
        raise StoreError(f"the line of {trigger.key} was changed by others {TRIES_MAX} times")

    def _state(self, line: Line, message: TriggerMessage, job: Job, now: Instant) -> "_State | None":
        """What the runs of a line's holder and of one that arrives say; None if the latter's is over."""
        holder = line.holder
        if holder is None or holder.id == message.trigger.id:
            return _State(has_ended=False, yields=False, has_begun=False, look_again_at=now)
        own = self._runs.of(message.trigger)
        if is_over(message, own):
            return None
        run = self._runs.of(holder.message.trigger)
        yield_at, give_up_at = yields_at(holder, run, job), gives_up_at(holder, run, job)
        # A second at least: the queue rounds less down to none, and would show it again at once.
        coming = (max(at, now + SECOND_MS) for at in (yield_at, give_up_at) if at is not None)
        return _State(
            has_ended=is_over(holder.message, run) or give_up_at <= now,
            yields=yield_at is not None and yield_at <= now,
            has_begun=own is not None or message.attempt > 1,
            look_again_at=min([now + QUEUE_DELAY_MAX_MS, *coming]),
        )

    def _is_written(
        self, job: Job, slot: StoredLine | None, line: Line, arrival: Arrival, now: Instant
    ) -> bool:
        """Whether the line is now as an arrival makes it."""
        if arrival.line == line and not (slot is not None and _is_ageing(slot, now)):
            return True
        return self._is_changed(job.key, job.uid, slot, arrival.line, arrival.woken)

    def _is_changed(
        self, key: JobKey, uid: str, slot: StoredLine | None, line: Line, woken: TriggerMessage | None
    ) -> bool:
        if woken is not None:
            self._queue.send([(woken, 0)])
        if line.holder is None:
            return slot is None or self._lines.delete(slot)
        expires_at = self._clock.now() + LINE_RETENTION_MS
        changed = StoredLine(key, uid, self._ids.token(), line, expires_at)
        return self._lines.put(changed, slot.version if slot else None)

    def _skip(self, trigger: Trigger, job: Job) -> bool:
        """Record a trigger as skipped; False if it has a run."""
        now = self._clock.now()
        run = Run(
            key=trigger.key,
            uid=trigger.uid,
            due_at=trigger.due_at,
            index=trigger.index,
            state="skipped",
            attempts=0,
            rev=trigger.rev,
            sequence=trigger.sequence,
            ended_at=now,
            reason=OVERLAP,
            owner=self._ids.token(),
            expires_at=now + job.definition.history_retention_ms,
        )
        if job.definition.on_complete is not None:
            self._queue.send([(notification_of(run), 0)])
        return self._runs.record(run)


def _is_ageing(slot: StoredLine, now: Instant) -> bool:
    """Whether a line has not been written for half of the time that it is kept."""
    return slot.expires_at is not None and slot.expires_at - now < LINE_RETENTION_MS // 2


def _is_same_job(job: Job | None, other: Job) -> bool:
    return job is not None and job.uid == other.uid


def _arrival(line: Line, message: TriggerMessage, job: Job, state: _State, now: Instant) -> Arrival:
    if state.yields and line.holder is not None:
        return Arrival("go", line.joined_by(line.holder.message).held_by(message, now))
    rule = job.definition.overlap
    return arrived(line, message, rule, has_ended=state.has_ended, has_begun=state.has_begun, now=now)
