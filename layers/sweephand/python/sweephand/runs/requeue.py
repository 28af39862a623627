"""Where a message waits, and until when its data, its job and the record of its run are kept for it.

A message waits in the queue for up to 15 minutes, and as a timer in the wheel for longer.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from sweephand.base.errors import StoreError
from sweephand.base.instants import INSTANT_MAX, SECOND_MS, Instant
from sweephand.base.timing import (
    API_LIMIT_MS,
    ATTEMPT_DELAY_MAX_MS,
    AUDIT_ROUND_MS,
    PAYLOAD_KEPT_MS,
    PAYLOAD_LATE_MS,
    QUEUE_DELAY_MAX_MS,
    TIMER_RETENTION_MS,
    UNKNOWN_DELAY_MS,
)
from sweephand.model.definition import Payload
from sweephand.model.job import Job
from sweephand.model.orders import ResumeMessage
from sweephand.model.run import Run
from sweephand.model.trigger import DeadlineMessage, Message, RangeMessage, TriggerMessage
from sweephand.model.watch import WatchMessage
from sweephand.ports.clock import Clock, Ids
from sweephand.ports.jobs import JobStore, PayloadStore
from sweephand.ports.queue import Queue
from sweephand.ports.runs import RunStore
from sweephand.ports.wheel import TimerStore


class KeptData:
    """Renews the data of triggers before they wait. Several threads may share one object.

    The data itself says until when it is kept. So a trigger writes nothing more in its first 31 days, and
    then once in 31 days at most. It writes once for each run or retry that can take longer than that.
    """

    def __init__(self, *, payloads: PayloadStore, clock: Clock) -> None:
        self._payloads = payloads
        self._clock = clock

    def of_trigger(self, message: TriggerMessage, until: Instant) -> TriggerMessage:
        """The message as it is to be sent to wait until that instant: its data is kept for that."""
        kept = self.of_run(message.trigger.uid, message.payload, until)
        return message if kept is message.payload else message._replace(payload=kept)

    def of_range(self, message: RangeMessage, until: Instant) -> RangeMessage:
        """The same for the message of a batch on demand."""
        kept = self.of_run(message.uid, message.payload, until)
        return message if kept is message.payload else message._replace(payload=kept)

    def of_run(self, uid: str, payload: Payload | None, until: Instant) -> Payload | None:
        """The data of a trigger of a job, kept until PAYLOAD_LATE_MS after that instant.

        A timer or a message may be late by so much. The instant is at most 30 days from now. StoreError: the
        data may expire too early.
        """
        if payload is None or payload.ref is None:
            return payload
        if (payload.kept_until or 0) >= until + PAYLOAD_LATE_MS:
            return payload
        now = self._clock.now()
        self._payloads.renew(uid, payload.ref)
        return payload._replace(kept_until=now + PAYLOAD_KEPT_MS)


#: Others can write a job between a read and a write. After so many tries the message comes again.
_WRITES_MAX: Final = 5


class Requeue:
    """Sends messages that wait. When a method returns, the message that it replaces may be acknowledged.

    The data of a trigger is kept for as long as its message waits. `data` keeps it.
    """

    def __init__(
        self,
        *,
        queue: Queue,
        timers: Callable[[], TimerStore],
        payloads: PayloadStore,
        clock: Clock,
    ) -> None:
        self.data = KeptData(payloads=payloads, clock=clock)
        self._queue = queue
        self._timers = timers
        self._clock = clock

    def put_back(self, message: Message, until: Instant) -> None:
        """Send a copy of the message that is received at that instant, or in 900 s if that is earlier.

        A message that is not early waits at least one second. SQS rounds a shorter delay down to zero, so it
        would deliver the message again and again until that instant.
        """
        is_early = not isinstance(message, RangeMessage) and until <= message.not_before
        now = self._clock.now()
        delay_ms = max(until - now, 0 if is_early else SECOND_MS)
        delay_ms = min(delay_ms, QUEUE_DELAY_MAX_MS)
        if isinstance(message, TriggerMessage):
            message = self.data.of_trigger(message, now + delay_ms)
        elif isinstance(message, RangeMessage):
            message = self.data.of_range(message, now + delay_ms)
        self._queue.send([(message, delay_ms)])

    def await_commit(self, message: RangeMessage | WatchMessage | ResumeMessage, armed_at: Instant) -> None:
        """Send a copy of a message whose revision, armed at that instant, is not stored (yet)."""
        self.put_back(message, commit_awaited_until(armed_at, self._clock.now()))

    def send_at(
        self, message: TriggerMessage | DeadlineMessage | ResumeMessage | WatchMessage, shard: int
    ) -> None:
        """Send a message so that it is received when it may be handled, however far ahead that is.

        `shard` is the shard of its job.
        """
        if isinstance(message, TriggerMessage):
            message = self.data.of_trigger(message, message.not_before)
        delay_ms = message.not_before - self._clock.now()
        if delay_ms <= QUEUE_DELAY_MAX_MS:
            self._queue.send([(message, max(0, delay_ms))])
            return
        from sweephand.model.timer import DeadlineTimer, ResumeTimer, RetryTimer, WatchTimer  # noqa: PLC0415 - few messages wait so long

        if isinstance(message, DeadlineMessage):
            self._timers().put([DeadlineTimer(shard, message)])
        elif isinstance(message, ResumeMessage):
            self._timers().put([ResumeTimer(shard, message)])
        elif isinstance(message, WatchMessage):
            self._timers().put([WatchTimer(shard, message)])
        else:
            self._timers().put([RetryTimer(shard, message)])


class Retention:
    """Extends the retention of jobs and runs. Several threads may share one object."""

    def __init__(self, *, jobs: JobStore, runs: RunStore, clock: Clock, ids: Ids) -> None:
        self._jobs = jobs
        self._runs = runs
        self._clock = clock
        self._ids = ids

    def keep_job(self, job: Job, until: Instant) -> None:
        """Keep a job that is going to expire, and its name, for at least an hour after that instant.

        The hour is for an attempt that begins late. The stored `expires_at` counts one run after the last due
        time, but runs that may not overlap come one after the other. One write adds a day more than needed,
        or the job's retention if that is longer. A job that is gone, or replaced by another of its name, is
        left alone.

        StoreError: the job may expire too early.
        """
        until = until + ATTEMPT_DELAY_MAX_MS

        def kept(stored: Job) -> Job:
            if stored.expires_at is None or stored.expires_at >= until:
                return stored
            return replace(stored, expires_at=min(until + stored.definition.put_off_ms, INSTANT_MAX))

        self._change(job, kept)

    def note_late_run(self, job: Job, due_at: Instant, began_at: Instant) -> None:
        """Note in the job that a run is under way that began long after it was due.

        Rebuilds and audits find runs by their due times, and look at all runs of such a job. One write covers
        the late runs of a week. StoreError: they may not find the run.
        """
        if began_at - due_at <= ATTEMPT_DELAY_MAX_MS:
            return

        def noted(stored: Job) -> Job:
            until = began_at + stored.definition.run_time_max_ms
            if stored.late_until is not None and stored.late_until >= until:
                return stored
            return replace(stored, late_until=until + AUDIT_ROUND_MS)

        self._change(job, noted)

    def _change(self, job: Job, changed: Callable[[Job], Job]) -> None:
        """Write what the function makes of a job, unless it leaves the job as it is."""
        stored: Job | None = job
        for _ in range(_WRITES_MAX):
            if stored is None or stored.uid != job.uid or (kept := changed(stored)) is stored:
                return
            if self._jobs.put(replace(kept, version=self._ids.token()), stored.version):
                return
            stored = self._jobs.get(job.key)
        raise StoreError(f"{job.key} was changed {_WRITES_MAX} times between a read and a write")

    def keep_run(self, run: Run | None, message: TriggerMessage) -> None:
        """Keep the record of a run for two weeks from now, if that message is of its next attempt.

        It may be the first attempt of a redrive. It may also be an attempt whose function has crashed, since
        its consumer may call back. It writes only
        when less than half of that time is left. If another invocation changes the run at the same moment,
        nothing is written.

        A retry that a window holds is planned anew, so that nobody misses it.
        """
        now = self._clock.now()
        if run is None or run.expires_at is None or not _waits(run, message, now):
            return
        is_next = run.state == "retrying" and run.attempts == message.attempt - 1
        if is_next and message.held_ms > run.held_ms:
            kept = replace(
                run,
                next_attempt_at=message.not_before,
                held_ms=message.held_ms,
                held_until=message.not_before,
                expires_at=max(run.expires_at, message.not_before + TIMER_RETENTION_MS),
                version=self._ids.token(),
            )
            self._runs.move(kept, run)
            return
        if run.expires_at - now < TIMER_RETENTION_MS // 2:
            kept = replace(run, expires_at=now + TIMER_RETENTION_MS, version=self._ids.token())
            self._runs.move(kept, run)


def _waits(run: Run, message: TriggerMessage, now: Instant) -> bool:
    """Whether the next attempt of a run waits as that message, or one whose claim is over."""
    is_left = run.state == "claimed" and run.claimed_until is not None and run.claimed_until <= now
    is_redriven = run.state == "failed" and message.attempt > run.attempts
    return run.state == "retrying" or is_left or is_redriven


def commit_awaited_until(armed_at: Instant, now: Instant) -> Instant:
    """When a message comes again whose revision, armed at that instant, is not stored (yet)."""
    age_ms = now - armed_at
    return now + (UNKNOWN_DELAY_MS if age_ms < API_LIMIT_MS else max(UNKNOWN_DELAY_MS, age_ms // 2))
