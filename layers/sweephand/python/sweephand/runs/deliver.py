"""Delivering: what becomes of one message, from the queue to its consumer and into the record."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from sweephand.base.instants import DAY_MS, SECOND_MS, Instant
from sweephand.base.timing import (
    COMMIT_WAIT_MS,
    DEADLINE_GRACE_MS,
    OVERTAKEN_TIME_LIMIT_MS,
    POSTPONED_MS,
    UNKNOWN_DELAY_MS,
    UNKNOWN_GRACE_MS,
)
from sweephand.jobs.expiry import JobExpiry
from sweephand.model.definition import HISTORY_RETENTION_DEFAULT_MS
from sweephand.model.job import Job
from sweephand.model.run import Run
from sweephand.model.trigger import TriggerMessage
from sweephand.ports import Clock, RunStore
from sweephand.runs.attempt import Attempts, Postponed, Withdrawn
from sweephand.runs.claims import Claims
from sweephand.runs.flow.overlap import TurnOutcome, is_over
from sweephand.runs.flow.overlap_queue import OverlapQueue
from sweephand.runs.follow_up import FollowUp
from sweephand.runs.job_reads import JobRead, JobReads, liveness_of
from sweephand.runs.outcome import Outcome, OutcomeName
from sweephand.runs.requeue import Requeue
from sweephand.runs.retention import Retention

#: What becomes of a trigger that neither goes now nor waits for the end of another run.
NO_TURNS: Final[Mapping[TurnOutcome, OutcomeName]] = {
    "skip": "skipped",
    "over": "repeated",
    "gone": "dropped",
}

#: After these outcomes the trigger may have been the last of its job, and nobody has asked yet: nobody was
#: there to ask, or the function that asked has died.
UNASKED: Final[frozenset[OutcomeName]] = frozenset({"skipped", "repeated"})

#: After these outcomes the run of the trigger is over.
ENDED: Final[frozenset[OutcomeName]] = frozenset({"succeeded", "failed", "repeated"})


class Deliverer:
    """Handles one message at a time, from any number of threads; the caller acknowledges what returns.

    Whatever has to wait is sent as a new message (or a timer, further ahead) before this one is
    acknowledged. So a crash anywhere repeats, with the same trigger id, and loses nothing.
    """

    def __init__(
        self,
        *,
        runs: RunStore,
        job_reads: JobReads,
        attempts: Attempts,
        claims: Claims,
        follow_up: FollowUp,
        overlap_queue: OverlapQueue,
        requeue: Requeue,
        retention: Retention,
        expiry: JobExpiry,
        clock: Clock,
    ) -> None:
        self._runs = runs
        self._job_reads = job_reads
        self._attempts = attempts
        self._claims = claims
        self._follow_up = follow_up
        self._overlap_queue = overlap_queue
        self._requeue = requeue
        self._retention = retention
        self._expiry = expiry
        self._clock = clock

    def deliver(self, message: TriggerMessage, read: JobRead, deadline: Instant) -> Outcome:
        """Deliver a trigger that is due, or do what else becomes of it. StoreError: it must come again.

        `read` is a fresh read of its job. At `deadline` the function's time is up: an attempt that could
        outlast it is not begun, but its message put back.
        """
        message = self._job_reads.marked(message, read)
        if liveness_of(message, read) == "unknown" and self._is_just_armed(message):
            self._clock.wait_until(self._clock.now() + COMMIT_WAIT_MS)
            read = self._job_reads.reread(message.trigger.key)
        if read.job is None or liveness_of(message, read) != "alive":
            return self._not_alive(message, read)
        takes_turns = read.job.definition.overlap.is_limited
        if message.is_owed and not takes_turns:
            self._overlap_queue.remove(message.trigger)
        outcome = (self._in_turn if takes_turns else self._attempt)(message, read, read.job, deadline)
        if outcome.name in UNASKED:
            self._expiry.ended(read.job)
        return outcome

    def _is_just_armed(self, message: TriggerMessage) -> bool:
        return self._clock.now() - message.trigger.armed_at < SECOND_MS

    def held_until(self, message: TriggerMessage) -> Instant | None:
        """Until when somebody has claimed this very attempt; None if nobody has."""
        return self._claims.held_until(message)

    def give_up(self, message: TriggerMessage, reason: str) -> None:
        """Record that a run which Sweephand could not handle has failed, so that it can be redriven.

        If it was claimed, is over or has got further in the meantime, nothing changes. Of a job that is not
        there, deleted or never committed, only what was claimed has a run that failed.
        """
        now = self._clock.now()
        # What has failed until now may fail at this, too: then record and letter alone tell of it.
        job, is_read = None, False
        with suppress(Exception):
            job, is_read = self._job_reads.reread(message.trigger.key).job, True
        if is_read and (job is None or job.uid != message.trigger.uid):
            job = None
            if self.held_until(message) is None:
                self._claims.end_with_job(message)
                return
        run = self._claims.run_of(message, now + HISTORY_RETENTION_DEFAULT_MS)
        if self._runs.claim(run, now) is None:
            failed = replace(run, state="failed", ended_at=now, reason=reason)
            if job is not None:
                with suppress(Exception):
                    self._follow_up.give_up(failed, job)
            self._runs.record(failed)
            with suppress(Exception):
                self._expiry.ended(job)
        self._overlap_queue.advance(message.trigger)

    def _put_back(self, message: TriggerMessage, until: Instant, why: OutcomeName) -> Outcome:
        self._requeue.put_back(message, until)
        return Outcome(why)

    def _postponed(self, message: TriggerMessage) -> Outcome:
        """Put back what could not begin. That is no fault of the trigger's, so nothing is counted."""
        return self._put_back(message, self._clock.now() + POSTPONED_MS, "postponed")

    def _not_alive(self, message: TriggerMessage, read: JobRead) -> Outcome:
        message = self._job_reads.marked(message, read)
        now, liveness = self._clock.now(), liveness_of(message, read)
        if liveness == "alive":
            # Its job was read again meanwhile, and has forgotten the revision that owes it.
            return self._postponed(message)
        # The job of a later attempt has been there: no commit of it is in flight.
        may_be_to_come = message.attempt == 1 and now - message.trigger.armed_at < UNKNOWN_GRACE_MS
        if liveness == "unknown" and may_be_to_come:
            return self._put_back(message, now + UNKNOWN_DELAY_MS, "unknown")
        if liveness == "held" and read.job is not None and read.job.paused_at is not None:
            lasted_ms = now - read.job.paused_at
            if self._is_over_meanwhile(message, read.job, lasted_ms):
                return Outcome("repeated")
            # What falls due during a pause is for the resume to decide.
            waiting = message.waiting(is_owed=message.trigger.due_at <= read.job.paused_at)
            return self._put_back(waiting, now + max(lasted_ms, SECOND_MS), "held")
        return self._dropped(message, read)

    def _is_over_meanwhile(self, message: TriggerMessage, job: Job, lasted_ms: int) -> bool:
        """Whether the run of a trigger that is held is over; if not, what it needs later is kept.

        A pause can be longer than the record of the run is kept: whoever comes after it could not tell.
        """
        run = self._runs.of(message.trigger)
        takes_turns = job.definition.overlap.is_limited
        if is_over(message, run):
            if takes_turns:
                self._overlap_queue.forget(message.trigger)
            return True
        self._retention.keep_run(run)
        if takes_turns and lasted_ms >= DAY_MS:
            self._overlap_queue.keep(message.trigger)
        return False

    def _dropped(self, message: TriggerMessage, read: JobRead) -> Outcome:
        """Let go of a trigger that its job does not owe any more, and of its place in the job's line."""
        job = read.job
        if job is None or job.uid != message.trigger.uid:
            until = self._claims.end_with_job(message)
            if until is not None:
                return self._put_back(message, until, "claimed")
        elif job.definition.overlap.is_limited:
            until = self._overlap_queue.leave(message, job)
            if until is not None:
                return self._put_back(message, until, "leaving")
        return Outcome("dropped")

    def _in_turn(self, message: TriggerMessage, read: JobRead, job: Job, deadline: Instant) -> Outcome:
        """Deliver a trigger of a job whose runs take turns, if it is its turn."""
        turn = self._overlap_queue.arrive(message, job, lambda: self._job_reads.reread(job.key).job)
        if turn.outcome == "wait":
            self._retention.keep_job(job, turn.look_again_at + job.definition.owing_ms)
            return self._put_back(message.waiting(), turn.look_again_at, "waiting")
        if turn.outcome != "go":
            return Outcome(NO_TURNS[turn.outcome])
        outcome = self._attempt(message, read, job, deadline)
        if outcome.name in ENDED:
            # Before the message is acknowledged: after a crash it comes again, is refused, and hands on.
            self._overlap_queue.advance(message.trigger)
        return outcome

    def _attempt(self, message: TriggerMessage, read: JobRead, job: Job, deadline: Instant) -> Outcome:
        definition = job.definition
        if not self._attempts.is_time_for(definition.target, deadline):
            return self._postponed(message)
        is_async = definition.is_async
        must_be_claimed = is_async or definition.overlap.is_limited or definition.records_beginnings
        # A function that crashed over it may have left a claim, by what the job was then, and one that waited
        # may have another copy: the claim shows both.
        is_claimed = message.attempt > 1 or message.crashes > 0 or message.is_owed or must_be_claimed
        is_claimed = is_claimed or self._is_left_by_a_fault(message)
        expires_at = self._clock.now() + definition.history_retention_ms
        run = self._claims.run_of(message, expires_at, is_claimed=is_claimed)
        if is_claimed:
            run = _begun(run, message, self._clock.now())
            run, refused_by = self._claims.claim(run, is_reported=is_async)
            if refused_by is not None:
                return self._refused(message, refused_by, job)
        made = self._attempts.make(message, read, job, run.token, deadline)
        if isinstance(made, Postponed):
            if is_claimed:
                self._claims.release(run, message, is_job_there=True)
            return self._postponed(message)
        if isinstance(made, Withdrawn):
            if is_claimed:
                is_job_there = made.read.job is not None and made.read.job.uid == message.trigger.uid
                self._claims.release(run, message, is_job_there=is_job_there)
            return self._not_alive(message, made.read)
        message = message._replace(first_attempt_at=message.first_attempt_at or made.sent_at)
        run = _begun(
            run,
            message,
            made.sent_at,
            ended_at=self._clock.now(),
            response_code=made.answer.code,
            answer=made.answer.text,
        )
        return self._follow_up.after(message, made.job, run, made.answer, is_claimed=is_claimed)

    def _is_left_by_a_fault(self, message: TriggerMessage) -> bool:
        """Whether a run is stored of a first attempt that was put back because a call failed.

        The job may have asked for claims when that attempt began, and ask for none now. Its consumer may have
        reported on it since. Only a claim shows what became of it.
        """
        return message.faults > 0 and self._runs.of(message.trigger) is not None

    def _refused(self, message: TriggerMessage, stored: Run, job: Job) -> Outcome:
        if stored.state == "running" and stored.attempts < message.attempt:
            return self._overtaken(message, stored)
        is_held = stored.state == "claimed" and stored.attempts == message.attempt
        if is_held and stored.claimed_until is not None:
            # A second at least: the queue rounds less down to none, and would show it again at once.
            ended_at = max(stored.claimed_until, self._clock.now() + SECOND_MS)
            self._retention.keep_job(job, ended_at + job.definition.owing_ms)
            return self._put_back(message, ended_at, "claimed")
        return Outcome("repeated")

    def _overtaken(self, message: TriggerMessage, stored: Run) -> Outcome:
        """Wait for the end of the attempt before, which its consumer works on.

        Normally it is about to be recorded that it failed. If a report came first, the attempt may go on for
        long, and this one may never be needed.
        """
        now = self._clock.now()
        is_recent = now - message.not_before < OVERTAKEN_TIME_LIMIT_MS
        until = now + SECOND_MS if is_recent else stored.deadline_at + DEADLINE_GRACE_MS
        return self._put_back(message, max(until, now + SECOND_MS), "overtaken")


def _begun(run: Run, message: TriggerMessage, now: Instant, **outcome: Any) -> Run:
    """The run with its beginning: that of its very first attempt, which may be this one, at `now`.

    And with the `outcome` of an attempt: a run has many fields, of which each copy takes its time.
    """
    started_at = message.started_at or now
    return replace(
        run,
        started_at=started_at,
        lateness_ms=_lateness_ms(message, started_at),
        round_at=(message.first_attempt_at or now) if run.is_redriven else None,
        **outcome,
    )


def _lateness_ms(message: TriggerMessage, started_at: Instant) -> int | None:
    """From the due time to the first attempt; None for what was asked for when its due time was past."""
    trigger = message.trigger
    is_late_by_nature = trigger.demand is not None and trigger.demand.kind in ("backfill", "chained")
    return None if is_late_by_nature else started_at - trigger.due_at
