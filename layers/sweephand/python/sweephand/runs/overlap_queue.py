"""A trigger's way into the line of its job, and out of the line when its run is over."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from sweephand.base.errors import StoreError
from sweephand.base.instants import SECOND_MS, Instant
from sweephand.base.timing import QUEUE_DELAY_MAX_MS
from sweephand.model.job import Job, JobKey
from sweephand.model.line import Line, StoredLine
from sweephand.model.run import OVERLAP, Run, is_over
from sweephand.model.trigger import Trigger, TriggerMessage
from sweephand.model.window import passes
from sweephand.ports.clock import Clock, Ids
from sweephand.ports.queue import Queue
from sweephand.ports.runs import LineStore, RunStore
from sweephand.runs.notification import notification_of
from sweephand.runs.overlap import (
    LINE_RETENTION_MS,
    AdmissionOutcome,
    ArrivalDecision,
    decide_arrival,
    gives_up_at,
    is_held_by_window,
    is_superseded,
    leaves_at,
    yields_at,
)

#: How often another invocation may change a line between a read and a write. Then the message comes again.
TRIES_MAX = 20

#: The message comes again, too, if the tries have taken so long. A long line is written slowly, and twenty
#: tries could take longer than the function has, with all that it delivers besides.
_TRIES_MS = 30 * SECOND_MS


class Admission(NamedTuple):
    """What became of a trigger that arrived. A trigger that waits arrives again at `recheck_at`."""

    outcome: AdmissionOutcome
    recheck_at: Instant


class _State(NamedTuple):
    """What the stored runs show of a line's holder and of the trigger that arrives."""

    has_ended: bool
    yields: bool
    has_begun: bool
    recheck_at: Instant


class OverlapQueue:
    """The lines of jobs. Any number of delivery functions may work on one line at once.

    A trigger that waits in a line also has a message in the queue. The line decides the order and wakes the
    next trigger at once. The message makes sure that nothing is lost when the holder's function crashes.

    A line is written on the condition that it has not changed since it was read. The new holder's message is
    sent before that write, and a skipped trigger is recorded before it. A crash in between leaves a
    duplicate, which finds its run over, or a trigger that is still in its place.
    """

    def __init__(self, *, lines: LineStore, runs: RunStore, queue: Queue, clock: Clock, ids: Ids) -> None:
        self._lines = lines
        self._runs = runs
        self._queue = queue
        self._clock = clock
        self._ids = ids

    def arrive(self, message: TriggerMessage, job: Job, reread_job: Callable[[], Job | None]) -> Admission:
        """Give the line to a trigger, let it wait, or record it as skipped.

        `reread_job` reads the job again: if a job of the same name has the line, that job may be the newer
        one. With `go`, no other trigger of the job has a run that is not over. That holds until advance() is
        called after its run, or until the holder has shown no sign of life for an hour. StoreError: nothing
        is decided.
        """
        for _ in self._tries():
            stored = self._lines.get(job.key)
            now = self._clock.now()
            if stored is not None and stored.uid != job.uid and not _is_same_job(reread_job(), job):
                return Admission("gone", now)
            line = stored.line if stored is not None and stored.uid == job.uid else Line()
            state = self._state(line, message, job, now)
            if state is None:
                if line.has(message):
                    # A trigger left in the line would become the holder later, when its record may be gone.
                    self.remove_ended(message.trigger)
                return Admission("over", now)
            arrival = _arrival(line, message, job, state, now)
            for each in arrival.replaced:
                self.skip(each.trigger, job, OVERLAP, arrival.line)
            if not self._is_written(job, stored, line, arrival, now):
                continue
            # A trigger with a run cannot be skipped: its run began or ended at this moment.
            if arrival.verdict != "skip" or self.skip(message.trigger, job, OVERLAP, arrival.line):
                return Admission(arrival.verdict, state.recheck_at)
        raise StoreError(f"the line of {job.key} kept changing between a read and a write")

    def withdraw(self, message: TriggerMessage, job: Job) -> Instant | None:
        """Remove a trigger that `job` no longer owes from its line. Returns when to try again; None if done.

        Its run stays as it is. A later revision may owe a trigger of the same name. That trigger has its own
        message, and takes over the place in the line.
        """
        trigger = message.trigger
        for _ in self._tries():
            stored = self._lines.get(job.key)
            if stored is None or stored.uid != job.uid:
                return None
            now = self._clock.now()
            line = stored.line.without_attempt(message)
            if line.is_held_by(message):
                until = leaves_at(message, self._runs.of(trigger), job)
                if until is None:
                    self.advance(trigger)
                    return None
                if until > now:
                    # At least one second: SQS rounds a shorter delay down to zero and would deliver the
                    # message at once.
                    return max(until, now + SECOND_MS)
                line = line.advanced(now)
            new_holder = line.holder.message if line.holder and line.holder != stored.line.holder else None
            if line == stored.line:
                return None
            if self._is_changed(stored.key, stored.uid, stored, line, new_holder):
                if new_holder is not None:
                    # The message sent before the write may have been received too early. Its handler then
                    # found the line still held, by a run that had not ended, and put the message back.
                    self._queue.send([(new_holder, 0)])
                return None
        raise StoreError(f"the line of {job.key} kept changing between a read and a write")

    def remove(self, trigger: Trigger) -> None:
        """Remove a trigger from its job's line, because the job now allows overlap.

        If the trigger holds the line, the next trigger gets the line at once: that trigger need not wait any
        more either.
        """
        for _ in self._tries():
            stored = self._lines.get(trigger.key)
            if stored is None or stored.uid != trigger.uid:
                return
            line, new_holder = stored.line.without(trigger), None
            if line.holder is not None and line.holder.id == trigger.id:
                line = line.advanced(self._clock.now())
                new_holder = line.holder.message if line.holder else None
            if line == stored.line or self._is_changed(stored.key, stored.uid, stored, line, new_holder):
                return
        raise StoreError(f"the line of {trigger.key} kept changing between a read and a write")

    def remove_ended(self, trigger: Trigger) -> None:
        """Remove a trigger whose run is over from its job's line. If it is the holder, advance the line."""
        for _ in self._tries():
            stored = self._lines.get(trigger.key)
            if stored is None or stored.uid != trigger.uid:
                return
            run = self._runs.of(trigger)
            left = tuple(
                each
                for each in stored.line.waiting
                if each.trigger.id != trigger.id or not is_over(each, run)
            )
            if left == stored.line.waiting:
                self.advance(trigger)
                return
            if self._is_changed(stored.key, stored.uid, stored, stored.line._replace(waiting=left), None):
                self.advance(trigger)
                return
        raise StoreError(f"the line of {trigger.key} kept changing between a read and a write")

    def extend(self, trigger: Trigger) -> None:
        """Keep the line of a trigger that a pause holds back, if the line would be removed within a month.

        If another invocation writes the line at the same moment, that write keeps it.
        """
        stored = self._lines.get(trigger.key)
        if stored is not None and stored.uid == trigger.uid and _is_ageing(stored, self._clock.now()):
            self._is_changed(stored.key, stored.uid, stored, stored.line, None)

    def advance(self, trigger: Trigger) -> None:
        """Give the line to the next trigger if this trigger holds it and its run is over.

        Otherwise nothing changes. StoreError: other invocations kept changing the line.
        """
        for _ in self._tries():
            stored = self._lines.get(trigger.key)
            holder = stored.line.holder if stored is not None and stored.uid == trigger.uid else None
            if stored is None or holder is None or holder.id != trigger.id:
                return
            if not is_over(holder.message, self._runs.of(holder.message.trigger)):
                return
            line = stored.line.advanced(self._clock.now())
            new_holder = line.holder.message if line.holder else None
            if self._is_changed(stored.key, stored.uid, stored, line, new_holder):
                return
        raise StoreError(f"the line of {trigger.key} kept changing between a read and a write")

    def _tries(self) -> Iterator[int]:
        """The numbers of the tries, as long as there may be another one."""
        until = self._clock.now() + _TRIES_MS
        for number in range(TRIES_MAX):
            if number and self._clock.now() >= until:
                return
            yield number

    def _state(self, line: Line, message: TriggerMessage, job: Job, now: Instant) -> "_State | None":
        """What the runs show of the holder and the arriving trigger.

        None if the trigger's run is over, or if the message is a copy of an attempt that is over.
        """
        holder = line.holder
        if holder is None or holder.id == message.trigger.id:
            return _State(has_ended=False, yields=False, has_begun=False, recheck_at=now)
        own = self._runs.of(message.trigger)
        if is_over(message, own) or is_superseded(message, own):
            return None
        run = self._runs.of(holder.message.trigger)
        yield_at, give_up_at = yields_at(holder, run, job), gives_up_at(holder, run, job)
        # At least one second: SQS rounds a shorter delay down to zero and would deliver the message at once.
        coming = (max(at, now + SECOND_MS) for at in (yield_at, give_up_at) if at is not None)
        return _State(
            has_ended=is_over(holder.message, run) or give_up_at <= now,
            yields=(yield_at is not None and yield_at <= now)
            or (passes(message) and is_held_by_window(run, now)),
            has_begun=own is not None or message.attempt > 1,
            recheck_at=min([now + QUEUE_DELAY_MAX_MS, *coming]),
        )

    def _is_written(
        self, job: Job, stored: StoredLine | None, line: Line, arrival: ArrivalDecision, now: Instant
    ) -> bool:
        """Write the line as the decision says. Returns whether the line is now in that state."""
        if arrival.line == line and not (stored is not None and _is_ageing(stored, now)):
            return True
        return self._is_changed(job.key, job.uid, stored, arrival.line, arrival.new_holder)

    def _is_changed(
        self, key: JobKey, uid: str, stored: StoredLine | None, line: Line, new_holder: TriggerMessage | None
    ) -> bool:
        if new_holder is not None:
            self._queue.send([(new_holder, 0)])
        if line.holder is None:
            return stored is None or self._lines.delete(stored)
        expires_at = self._clock.now() + LINE_RETENTION_MS
        changed = StoredLine(key, uid, self._ids.token(), line, expires_at)
        return self._lines.put(changed, stored.version if stored else None)

    def skip(self, trigger: Trigger, job: Job, reason: str, line: Line | None = None) -> bool:
        """Record a trigger as skipped, for the run that holds the line if one is given.

        Returns False if the trigger has a run.
        """
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
            reason=reason,
            skipped_for=line.holder.message.trigger.run_id if line and line.holder is not None else None,
            owner=self._ids.token(),
            expires_at=now + job.definition.history_retention_ms,
            batch=trigger.batch,
        )
        if job.definition.on_complete is not None:
            self._queue.send([(notification_of(run, now), 0)])
        return self._runs.record(run)


def _is_ageing(stored: StoredLine, now: Instant) -> bool:
    """Whether a line was last written more than half of its retention ago."""
    return stored.expires_at is not None and stored.expires_at - now < LINE_RETENTION_MS // 2


def _is_same_job(job: Job | None, other: Job) -> bool:
    return job is not None and job.uid == other.uid


def _arrival(line: Line, message: TriggerMessage, job: Job, state: _State, now: Instant) -> ArrivalDecision:
    if state.yields and line.holder is not None:
        return ArrivalDecision("go", line.joined_by(line.holder.message).held_by(message, now))
    rule = job.definition.overlap
    return decide_arrival(line, message, rule, has_ended=state.has_ended, has_begun=state.has_begun, now=now)
