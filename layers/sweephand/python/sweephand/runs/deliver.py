"""Delivering: what becomes of one message, from the queue to its consumer and into the record."""

from dataclasses import replace
from typing import Final

from sweephand.instants import SECOND_MS, Instant
from sweephand.jobs.definition import HISTORY_RETENTION_DEFAULT_MS
from sweephand.jobs.job import Job
from sweephand.ports import (
    Clock,
    Ids,
    JobStore,
    OverlapStore,
    PayloadStore,
    Queue,
    RunStore,
    Targets,
    TimerStore,
)
from sweephand.runs.attempt import Attempts, Made, Signing
from sweephand.runs.later import Later
from sweephand.runs.reading import JobRead, Reading, liveness_of
from sweephand.runs.run import Run
from sweephand.runs.settle import Delivered, Letters, Pauses, Settler
from sweephand.runs.turns import Turns
from sweephand.timing import (
    ATTEMPT_CLAIM_MS,
    EARLY_WAIT_MAX_MS,
    QUEUE_DELAY_MAX_MS,
    UNKNOWN_DELAY_MS,
    UNKNOWN_GRACE_MS,
)
from sweephand.wheel.arm import delay_of, split
from sweephand.wheel.trigger import Message, SpanMessage, TriggerMessage

#: What becomes of a message after which its run is over, or was before.
OVER: Final = frozenset({"succeeded", "failed", "repeated"})


class Deliverer:
    """Handles one message at a time, from any number of threads; the caller acknowledges what returns.

    Whatever has to wait is sent as a new message (or a timer, further ahead) before this one is
    acknowledged. So a crash anywhere repeats, with the same trigger id, and loses nothing.
    """

    def __init__(
        self,
        *,
        jobs: JobStore,
        runs: RunStore,
        slots: OverlapStore,
        timers: TimerStore,
        queue: Queue,
        payloads: PayloadStore,
        targets: Targets,
        signing: Signing,
        pauses: Pauses,
        letters: Letters,
        clock: Clock,
        ids: Ids,
    ) -> None:
        self._runs = runs
        self._queue = queue
        self._clock = clock
        self._ids = ids
        self._reading = Reading(jobs=jobs, clock=clock)
        self._turns = Turns(slots=slots, runs=runs, queue=queue, clock=clock, ids=ids)
        self._later = Later(queue=queue, timers=timers, clock=clock)
        self._attempts = Attempts(
            reading=self._reading, payloads=payloads, targets=targets, signing=signing, clock=clock
        )
        self._settler = Settler(
            runs=runs,
            queue=queue,
            later=self._later,
            pauses=pauses,
            letters=letters,
            clock=clock,
            ids=ids,
        )

    def handle(self, message: Message, read: JobRead) -> Delivered:
        """Deal with a message; returns when it may be acknowledged. StoreError: it must come again."""
        if isinstance(message, SpanMessage):
            return self._split(message)
        if message.not_before - self._clock.now() >= EARLY_WAIT_MAX_MS:
            return self._put_back(message, message.not_before, "early")
        while self._clock.now() < message.not_before:
            self._clock.wait_until(message.not_before)
        read = self._reading.fresh(message.trigger.key, read)
        if read.job is None or liveness_of(message, read) != "alive":
            return self._not_alive(message, read)
        if not read.job.definition.overlap.is_limited:
            return self._deliver(message, read, read.job)
        return self._in_turn(message, read, read.job)

    def give_up(self, message: TriggerMessage, reason: str) -> None:
        """Record that a run which Sweephand could not handle has failed, so that it can be redriven.

        If it was claimed, is over or has got further in the meantime, nothing changes.
        """
        now = self._clock.now()
        run = self._run(message, now + HISTORY_RETENTION_DEFAULT_MS)
        if self._runs.claim(run, now) is None:
            self._runs.record(replace(run, state="failed", ended_at=now, reason=reason))
        self._turns.hand_on(message.trigger)

    def _split(self, span: SpanMessage) -> Delivered:
        now = self._clock.now()
        self._queue.send([(part, min(delay_of(part, now), QUEUE_DELAY_MAX_MS)) for part in split(span)])
        return Delivered("split")

    def _put_back(self, message: TriggerMessage, until: Instant, why: str) -> Delivered:
        self._later.put_back(message, until)
        return Delivered(why)

    def _not_alive(self, message: TriggerMessage, read: JobRead) -> Delivered:
        now, liveness = self._clock.now(), liveness_of(message, read)
        if liveness == "unknown" and now - message.trigger.armed_at < UNKNOWN_GRACE_MS:
            return self._put_back(message, now + UNKNOWN_DELAY_MS, "unknown")
        if liveness == "held" and read.job is not None and read.job.paused_at is not None:
            lasted_ms = now - read.job.paused_at
            return self._put_back(message, now + max(lasted_ms, SECOND_MS), "held")
        return Delivered("dropped")

    def _in_turn(self, message: TriggerMessage, read: JobRead, job: Job) -> Delivered:
        """Deliver a trigger of a job whose runs take turns, if it is its turn."""
        turn = self._turns.arrive(message, job)
        if turn.outcome == "wait":
            return self._put_back(message, turn.look_again_at, "waiting")
        if turn.outcome != "go":
            return Delivered("skipped" if turn.outcome == "skip" else "repeated")
        delivered = self._deliver(message, read, job)
        if delivered.outcome in OVER:
            # Before the message is acknowledged: after a crash it comes again, is refused, and hands on.
            self._turns.hand_on(message.trigger)
        return delivered

    def _deliver(self, message: TriggerMessage, read: JobRead, job: Job) -> Delivered:
        run = self._run(message, self._clock.now() + job.definition.history_retention_ms)
        definition = job.definition
        is_claimed = message.attempt > 1 or definition.records_beginnings or definition.overlap.is_limited
        if is_claimed:
            refused_by = self._runs.claim(run, self._clock.now())
            if refused_by is not None:
                return self._refused(message, refused_by)
        made = self._attempts.make(message, read, job)
        if not isinstance(made, Made):
            return self._not_alive(message, made.read)
        message = replace(message, first_attempt_at=message.first_attempt_at or made.sent_at)
        started_at = message.started_at or made.sent_at
        run = replace(
            run,
            started_at=started_at,
            ended_at=self._clock.now(),
            lateness_ms=started_at - message.trigger.due_at,
            response_code=made.answer.code,
            answer=made.answer.text,
        )
        return self._settler.settle(message, made.job, run, made.answer, is_claimed=is_claimed)

    def _run(self, message: TriggerMessage, expires_at: Instant) -> Run:
        """The run of an attempt about to be made, as it is claimed."""
        trigger = message.trigger
        return Run(
            key=trigger.key,
            uid=trigger.uid,
            due_at=trigger.due_at,
            index=trigger.index,
            state="claimed",
            attempts=message.attempt,
            rev=trigger.rev,
            sequence=trigger.sequence,
            started_at=message.started_at,
            owner=self._ids.token(),
            claimed_until=self._clock.now() + ATTEMPT_CLAIM_MS,
            expires_at=expires_at,
            round_from=message.redrive.attempt if message.redrive else 1,
        )

    def _refused(self, message: TriggerMessage, stored: Run) -> Delivered:
        is_held = stored.state == "claimed" and stored.attempts == message.attempt
        if is_held and stored.claimed_until is not None:
            # A second at least: the queue rounds less down to none, and would show it again at once.
            ended_at = max(stored.claimed_until, self._clock.now() + SECOND_MS)
            return self._put_back(message, ended_at, "claimed")
        return Delivered("repeated")
