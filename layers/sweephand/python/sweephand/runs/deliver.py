"""Delivering a trigger: from its message, through an attempt, to the record of its run."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from sweephand.base.instants import SECOND_MS, Instant
from sweephand.base.timing import (
    ATTEMPT_CLAIM_MS,
    COMMIT_WAIT_MS,
    DEADLINE_GRACE_MS,
    OVERTAKEN_TIME_LIMIT_MS,
    POSTPONED_MS,
    TIMER_RETENTION_MS,
    UNKNOWN_GRACE_MS,
)
from sweephand.jobs.expiry import JobExpiry
from sweephand.model.batch_mark import mark_of
from sweephand.model.definition import HISTORY_RETENTION_DEFAULT_MS
from sweephand.model.job import Job
from sweephand.model.policy_names import PolicyKey
from sweephand.model.run import Run, is_over
from sweephand.model.trigger import TriggerMessage
from sweephand.ports import Clock, RunStore
from sweephand.runs.attempt import AttemptMade, Attempts, NotMade, Postponed, Withdrawn
from sweephand.runs.claims import Claims, started
from sweephand.runs.flow.policy_flow import PolicyFlow
from sweephand.runs.follow_up import FollowUp, permit_check_of
from sweephand.runs.job_reads import JobRead, JobReads, liveness_of
from sweephand.runs.received import LineWait, Outcome, OutcomeName
from sweephand.runs.requeue import Requeue, Retention
from sweephand.runs.retry import is_too_late
from sweephand.runs.valve import Limited

if TYPE_CHECKING:
    # Many jobs do not limit overlap, few are paused, and only triggers of jobs with a policy have permits.
    from sweephand.runs.flow.overlap import AdmissionOutcome
    from sweephand.runs.flow.overlap_queue import OverlapQueue
    from sweephand.runs.flow.permit import Permit
    from sweephand.runs.held import HeldTriggers

#: The outcome of a trigger that the overlap queue does not admit and that does not wait either.
NOT_ADMITTED: Final[Mapping["AdmissionOutcome", OutcomeName]] = {
    "skip": "skipped",
    "over": "repeated",
    "gone": "dropped",
}

#: After these outcomes the trigger may have been the last of its job, and nothing has checked yet whether the
#: job may expire. The function that should have checked may have crashed.
EXPIRY_UNCHECKED: Final[frozenset[OutcomeName]] = frozenset({"skipped", "repeated"})

#: After these outcomes the run of the trigger is over.
ENDED: Final[frozenset[OutcomeName]] = frozenset({"succeeded", "failed", "repeated"})


class Deliverer:
    """Handles one trigger at a time, from any number of threads. The caller acknowledges what returns.

    A trigger that has to wait is sent again, or becomes a timer if it has to wait for long, before its
    message is acknowledged. A crash therefore repeats a message, with the same trigger id, and loses nothing.
    """

    def __init__(
        self,
        *,
        runs: RunStore,
        job_reads: JobReads,
        attempts: Attempts,
        claims: Claims,
        follow_up: FollowUp,
        overlap_queue: "Callable[[], OverlapQueue]",
        held: "Callable[[], HeldTriggers]",
        requeue: Requeue,
        retention: Retention,
        expiry: JobExpiry,
        flow: PolicyFlow,
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
        self._flow = flow
        self._clock = clock
        self._held = held

    def deliver(
        self, message: TriggerMessage, read: JobRead, deadline: Instant, permit: "Permit | None" = None
    ) -> Outcome:
        """Deliver a trigger that is due, or find out that it must wait or needs no attempt.

        `read` is a fresh read of its job. At `deadline` the function's time is up. If the attempt could take
        longer than that, the message is put back. A trigger of a job with a policy has to go `into` a line,
        unless a worker of that line calls with a `permit`. If the trigger is `kept` then, no request was
        sent, and nothing else keeps the trigger. StoreError: the message must come again.
        """
        message = self._job_reads.mark_owed(message, read)
        if liveness_of(message, read) == "unknown" and self._is_just_armed(message):
            self._clock.wait_until(self._clock.now() + COMMIT_WAIT_MS)
            read = self._job_reads.reread(message.trigger.key)
        if read.job is None or liveness_of(message, read) != "alive":
            return self._not_alive(message, read, permit)
        if self._flow.valve is not None:
            admitted = self._flow.valve.admit(message)
            if isinstance(admitted, Limited):
                return self._limited(admitted, read.job, permit)
            message = admitted
        policy = read.job.definition.policy
        if policy != (None if permit is None else permit.key.name):
            return self._into_line(self._claims.leaving(message, permit), read.job, policy)
        overlap_is_limited = read.job.definition.overlap.is_limited
        if message.is_owed and not overlap_is_limited:
            self._overlap_queue().remove(message.trigger)
        through = self._through_overlap_queue if overlap_is_limited else self._attempt
        outcome = through(message, read, read.job, deadline, permit)
        if outcome.name in EXPIRY_UNCHECKED:
            self._expiry.ended(read.job)
        return outcome

    def _into_line(self, message: TriggerMessage, job: Job, policy: str | None) -> Outcome:
        """The trigger waits in the line of its job's policy. If the job has none, the queue gets the trigger.

        The worker of another line meets it if the job has named that other policy before.
        """
        if policy is None:
            return self._put_back(message, self._clock.now(), "postponed")
        key = PolicyKey(job.key.namespace, policy)
        message = self._requeue.data.of_trigger(message, self._clock.now())
        return Outcome("in_line", into=LineWait(key, job.definition.priority, message))

    def _limited(self, limited: Limited, job: Job, permit: "Permit | None") -> Outcome:
        """Put back a trigger that waits for its slot in an allowance.

        A copy of a trigger may wait for longer than the record of its run was to be kept. So after two weeks
        each round reads the run.
        """
        if self._clock.now() - limited.message.trigger.armed_at >= TIMER_RETENTION_MS:
            stored = self._runs.of(limited.message.trigger)
            if is_over(limited.message, stored):
                return Outcome("repeated", ended=mark_of(stored))
        self._retention.keep_job(job, limited.slot_at + job.definition.run_time_max_ms)
        message = self._claims.leaving(limited.message, permit)
        return self._put_back(message, message.not_before, limited.outcome)

    def _is_just_armed(self, message: TriggerMessage) -> bool:
        return self._clock.now() - message.trigger.armed_at < SECOND_MS

    def claim_ends_at(self, message: TriggerMessage) -> Instant | None:
        """When the claim of this attempt ends; None if the attempt is not claimed."""
        return self._claims.claim_ends_at(message)

    def give_up(self, message: TriggerMessage, reason: str) -> Run | None:
        """Record that a run has failed because Sweephand could not handle it. The run can then be redriven.

        Returns the run as it is then; None if there is none or its job is not there. Nothing changes if
        another invocation has claimed the run, ended it or begun a later attempt meanwhile. Without its job,
        a failed run is recorded only for an attempt that was claimed.
        """
        now = self._clock.now()
        # The store that failed so far may fail here too. The run's record must still be written.
        job, is_read = None, False
        with suppress(Exception):
            job, is_read = self._job_reads.reread(message.trigger.key).job, True
        if is_read and (job is None or job.uid != message.trigger.uid):
            job = None
            if self.claim_ends_at(message) is None:
                self._claims.cancel_with_job(message)
                return None
        run = self._claims.run_of(message, now + HISTORY_RETENTION_DEFAULT_MS)
        ended = self._runs.claim(run, now)
        if ended is None:
            ended = failed = replace(run, state="failed", ended_at=now, reason=reason)
            if job is not None:
                with suppress(Exception):
                    self._follow_up.give_up(failed, job)
            self._runs.record(failed)
            with suppress(Exception):
                self._expiry.ended(job)
        self._overlap_queue().advance(message.trigger)
        return ended

    def _put_back(self, message: TriggerMessage, until: Instant, why: OutcomeName) -> Outcome:
        self._requeue.put_back(message, until)
        return Outcome(why)

    def _postponed(self, message: TriggerMessage) -> Outcome:
        """Put back a trigger whose attempt could not begin. It is not at fault, so nothing is counted."""
        return self._put_back(message, self._clock.now() + POSTPONED_MS, "postponed")

    def _not_alive(self, message: TriggerMessage, read: JobRead, permit: "Permit | None") -> Outcome:
        message = self._job_reads.mark_owed(self._claims.leaving(message, permit), read)
        now, liveness = self._clock.now(), liveness_of(message, read)
        if liveness == "alive":
            # The job was read again meanwhile, and no longer remembers the revision that owes the trigger.
            return self._postponed(message)
        if liveness == "unknown" and self._may_be_committed(message, now):
            self._requeue.await_commit(message, message.trigger.armed_at)
            return Outcome("unknown")
        if liveness == "held" and read.job is not None and read.job.paused_at is not None:
            return self._held_back(message, read.job, read.job.paused_at, permit)
        return self._dropped(message, read)

    def _held_back(
        self, message: TriggerMessage, job: Job, paused_at: Instant, permit: "Permit | None"
    ) -> Outcome:
        """Let a trigger of a paused job wait, or end it if nothing of it can follow the resume."""
        if self._is_too_late(message, job):
            # After the resume it would be given up in any case, and `onError` could pause the job again.
            return self._ended_late(message, job, permit)
        now = self._clock.now()
        ended = self._held().ended(message, job, now, is_in_line=permit is not None)
        if ended is not None:
            return Outcome("repeated", ended=mark_of(ended))
        # The resume decides about triggers that fall due during the pause.
        waiting = message.waiting(is_owed=message.trigger.due_at <= paused_at)
        until, policy = self._held().until(job, now), job.definition.policy
        if permit is None or policy is None:
            return self._put_back(waiting, until, "held")
        # Not in the line of a policy that the job has left. Nobody may look after that one any more.
        waiting = self._requeue.data.of_trigger(waiting._replace(not_before=until), until)
        key = PolicyKey(permit.key.namespace, policy)
        return Outcome("held", into=LineWait(key, job.definition.priority, waiting))

    def _may_be_committed(self, message: TriggerMessage, now: Instant) -> bool:
        """Whether the job of a first attempt may still be committed, or come back by a repeated creation."""
        return message.attempt == 1 and now - message.trigger.armed_at < UNKNOWN_GRACE_MS

    def _dropped(self, message: TriggerMessage, read: JobRead) -> Outcome:
        """Drop a trigger that its job does not owe any more, together with its place in the job's line."""
        job = read.job
        if job is None or job.uid != message.trigger.uid:
            until = self._claims.cancel_with_job(message)
            if until is not None:
                return self._put_back(message, until, "claimed")
        elif job.definition.overlap.is_limited:
            until = self._overlap_queue().withdraw(message, job)
            if until is not None:
                return self._put_back(message, until, "leaving")
        # A function may have ended the run, and crashed before its batch showed that.
        stored = self._claims.run_in_batch(message) if message.crashes else None
        return Outcome("dropped", ended=mark_of(stored))

    def _through_overlap_queue(
        self, message: TriggerMessage, read: JobRead, job: Job, deadline: Instant, permit: "Permit | None"
    ) -> Outcome:
        """Deliver a trigger of a job that limits overlap, if the overlap queue admits it now."""
        admission = self._overlap_queue().arrive(message, job, lambda: self._job_reads.reread(job.key).job)
        if admission.outcome == "wait":
            self._retention.keep_job(job, admission.recheck_at + job.definition.run_time_max_ms)
            message = self._claims.leaving(message, permit).waiting()
            if message.attempt > 1:
                self._retention.keep_run(self._runs.of(message.trigger))
            return self._put_back(message, admission.recheck_at, "waiting")
        if admission.outcome != "go":
            stored = self._claims.run_in_batch(message)
            return Outcome(NOT_ADMITTED[admission.outcome], ended=mark_of(stored))
        outcome = self._attempt(message, read, job, deadline, permit)
        if outcome.name in ENDED:
            # The line must advance before the message is acknowledged. After a crash the message comes again,
            # its claim is refused, and it advances the line.
            self._overlap_queue().advance(message.trigger)
        return outcome

    def _attempt(
        self, message: TriggerMessage, read: JobRead, job: Job, deadline: Instant, permit: "Permit | None"
    ) -> Outcome:
        definition = job.definition
        if self._is_too_late(message, job):
            return self._ended_late(message, job, permit)
        if not self._attempts.is_time_for(job, deadline):
            return self._postponed(message) if permit is None else Outcome("kept")
        is_async = definition.is_async
        must_be_claimed = is_async or definition.overlap.is_limited or definition.records_first_attempts
        # A crashed function, or another copy of the trigger, may have claimed the attempt under an older
        # definition. A trigger that waited may have a copy, and so may one that two sweepers sent.
        is_claimed = message.attempt > 1 or message.crashes > 0 or message.is_owed or must_be_claimed
        is_claimed = is_claimed or message.trigger.rev != job.rev or self._is_left_by_a_fault(message)
        now = self._clock.now()
        self._retention.note_late_run(job, message.trigger.due_at, message.first_attempt_at or now)
        expires_at = now + definition.history_retention_ms
        run = self._claims.run_of(message, expires_at, is_claimed=is_claimed)
        if is_claimed:
            run = started(run, message, self._clock.now())
            run, refused_by = self._claims.claim(run, is_async=is_async, permit=permit)
            if refused_by is not None:
                return self._refused(self._claims.leaving(message, permit), refused_by, job)
        attempted: AttemptMade | NotMade
        if run.permit is not None and permit is not None and not self._keep(permit, run, job):
            attempted = Postponed()
        else:
            attempted = self._attempts.make(message, read, job, run.token, deadline, permit=permit)
        if not isinstance(attempted, AttemptMade):
            return self._not_made(message, run, attempted, permit, is_claimed=is_claimed)
        message = message._replace(first_attempt_at=message.first_attempt_at or attempted.sent_at)
        run = started(
            run,
            message,
            attempted.sent_at,
            ended_at=self._clock.now(),
            response_code=attempted.answer.code,
            answer=attempted.answer.text,
        )
        outcome = self._follow_up.after(message, attempted.job, run, attempted.answer, is_claimed=is_claimed)
        if permit is not None and outcome.name != "running":
            permit.free()
        return outcome

    def _is_too_late(self, message: TriggerMessage, job: Job) -> bool:
        return is_too_late(job.definition.retry, message.first_attempt_at, self._clock.now())

    def _ended_late(self, message: TriggerMessage, job: Job, permit: "Permit | None") -> Outcome:
        """Give up a trigger whose next attempt has come too late to be made.

        The attempt is claimed first: another copy of the message may be making it.
        """
        run = self._claims.run_of(message, self._clock.now() + job.definition.history_retention_ms)
        run = started(run, message, self._clock.now())
        run, refused_by = self._claims.claim(run, is_async=False, permit=permit)
        if refused_by is not None:
            return self._refused(self._claims.leaving(message, permit), refused_by, job)
        ended = self._follow_up.end_late(message, job, run)
        if permit is not None:
            permit.free()
        if job.definition.overlap.is_limited:
            self._overlap_queue().advance(message.trigger)
        name: OutcomeName = "repeated" if ended is None else "failed"
        return Outcome(name, ended=mark_of(ended or self._claims.run_in_batch(message)))

    def _not_made(
        self,
        message: TriggerMessage,
        run: Run,
        attempted: NotMade,
        permit: "Permit | None",
        *,
        is_claimed: bool,
    ) -> Outcome:
        """Undo the claim of an attempt that was not made, and let its trigger wait or drop it."""
        if permit is not None:
            permit.free()
        is_cancelled = False
        if isinstance(attempted, Withdrawn):
            stored = attempted.read.job
            is_job_there = stored is not None and stored.uid == message.trigger.uid
            # A trigger that waits for a commit comes again. A cancelled run would refuse it then.
            is_cancelled = not is_job_there and not self._may_be_committed(message, self._clock.now())
        if is_claimed:
            self._claims.release(run, message, is_cancelled=is_cancelled)
        if isinstance(attempted, Withdrawn):
            return self._not_alive(message, attempted.read, permit)
        if permit is not None and permit.was_refused:
            return Outcome("kept")
        return self._postponed(self._claims.leaving(message, permit))

    def _keep(self, permit: "Permit", run: Run, job: Job) -> bool:
        """Keep the permit of an asynchronous run until the run is over; return whether it is kept.

        The message that frees the permit goes first. If this function crashes, that message finds that the
        attempt was never accepted.
        """
        self._requeue.send_at(permit_check_of(run, job), job.shard)
        return permit.keep(self._clock.now() + ATTEMPT_CLAIM_MS + job.definition.max_run_time_ms)

    def _is_left_by_a_fault(self, message: TriggerMessage) -> bool:
        """Whether a first attempt that was put back after a fault has left the record of a run.

        The job may have asked for claims when that attempt began, and may ask for none now. The consumer may
        have called back since. Only a claim shows what became of the attempt.
        """
        return message.faults > 0 and self._runs.of(message.trigger) is not None

    def _refused(self, message: TriggerMessage, stored: Run, job: Job) -> Outcome:
        if stored.state == "running" and stored.attempts < message.attempt:
            return self._overtaken(message, stored)
        is_held = stored.state == "claimed" and stored.attempts == message.attempt
        if is_held and stored.claimed_until is not None:
            # At least one second: SQS rounds a shorter delay down to zero and would deliver it at once.
            ended_at = max(stored.claimed_until, self._clock.now() + SECOND_MS)
            self._retention.keep_job(job, ended_at + job.definition.run_time_max_ms)
            return self._put_back(message, ended_at, "claimed")
        return Outcome("repeated", ended=mark_of(stored))

    def _overtaken(self, message: TriggerMessage, stored: Run) -> Outcome:
        """Put the message back until the attempt before, which its consumer works on, is over.

        Usually another invocation is about to record that attempt as failed. If a callback came first, the
        earlier attempt may go on for long, and this one may never be needed.
        """
        now = self._clock.now()
        is_recent = now - message.not_before < OVERTAKEN_TIME_LIMIT_MS
        until = now + SECOND_MS if is_recent else stored.deadline_at + DEADLINE_GRACE_MS
        return self._put_back(message, max(until, now + SECOND_MS), "overtaken")
