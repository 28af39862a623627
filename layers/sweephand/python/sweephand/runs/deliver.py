"""Delivering a trigger: through the gates, by an attempt, to the record of its run."""

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final, assert_never

from sweephand.base.timing import ATTEMPT_CLAIM_MS
from sweephand.jobs.expiry import JobExpiry
from sweephand.model.batch_mark import mark_of, mark_of_trigger
from sweephand.model.definition import HISTORY_RETENTION_DEFAULT_MS
from sweephand.model.job import Job
from sweephand.model.run import Run
from sweephand.model.trigger import LineWait, TriggerMessage
from sweephand.ports.clock import Clock
from sweephand.ports.runs import RunStore
from sweephand.runs.attempt import AttemptMade, Attempts
from sweephand.runs.claims import Claims, started
from sweephand.runs.delivery import Bury, Delivery, Drop, JobReads, Keep, Stop, Wait, Withdraw
from sweephand.runs.follow_up import FollowUp, permit_check_of
from sweephand.runs.gates import Gates
from sweephand.runs.overlap_queue import OverlapQueue
from sweephand.runs.received import Outcome, OutcomeName
from sweephand.runs.requeue import Requeue, Retention

if TYPE_CHECKING:
    # Only triggers of jobs with a policy have permits.
    from sweephand.flow.permit import Permit

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
        gates: Gates,
        attempts: Attempts,
        claims: Claims,
        follow_up: FollowUp,
        overlap_queue: OverlapQueue,
        requeue: Requeue,
        runs: RunStore,
        job_reads: JobReads,
        retention: Retention,
        expiry: JobExpiry,
        clock: Clock,
    ) -> None:
        self._gates = gates
        self._attempts = attempts
        self._claims = claims
        self._follow_up = follow_up
        self._overlap_queue = overlap_queue
        self._requeue = requeue
        self._runs = runs
        self._job_reads = job_reads
        self._retention = retention
        self._expiry = expiry
        self._clock = clock

    def deliver(self, delivery: Delivery) -> Outcome:
        """Deliver a trigger, or find out that it must wait or needs no attempt.

        If the attempt could take longer than the delivery's `deadline`, the message is put back. A trigger of
        a job with a policy has to go `into` a line, unless the server of its gate has given it a permit. If
        the trigger is `kept` then, no request was sent, and nothing else keeps the trigger. StoreError: the
        message must come again.
        """
        for gate in self._gates.first:
            passed = gate(delivery)
            if not isinstance(passed, Delivery):
                outcome = self._stopped(passed)
                break
            delivery = passed
        else:
            outcome = self._in_turn(delivery)
        if outcome.name in EXPIRY_UNCHECKED:
            self._expiry.ended(delivery.job)
        return outcome

    def _in_turn(self, delivery: Delivery) -> Outcome:
        """Deliver a trigger once it is its turn, by the limit of overlap that its job may have."""
        passed = self._gates.overlap(delivery)
        if not isinstance(passed, Delivery):
            return self._stopped(passed)
        run = self._gates.claim(passed)
        outcome = self._attempted(passed, run) if isinstance(run, Run) else self._stopped(run)
        if passed.job.definition.overlap.is_limited and outcome.name in ENDED:
            # The line must advance before the message is acknowledged. After a crash the message comes again,
            # its claim is refused, and it advances the line.
            self._overlap_queue.advance(passed.message.trigger)
        return outcome

    def _attempted(self, delivery: Delivery, run: Run) -> Outcome:
        """Make an attempt, then send what follows and record it. `run` is that of the attempt."""
        permit, message = delivery.permit, delivery.message
        attempted: AttemptMade | Delivery | None = None
        if run.permit is None or permit is None or self._keeps(permit, run, delivery.job):
            attempted = self._attempts.make(delivery, run)
        if not isinstance(attempted, AttemptMade):
            return self._not_made(delivery, run, attempted)
        if permit is not None:
            permit.met_outage = attempted.answer.is_outage
            if permit.was_in_vain:
                return self._not_made(delivery, run, None)
        message = message._replace(first_attempt_at=message.first_attempt_at or attempted.sent_at)
        run = started(
            run,
            message,
            attempted.sent_at,
            state="succeeded" if attempted.answer.succeeded else run.state,
            ended_at=self._clock.now(),
            response_code=attempted.answer.code,
            answer=attempted.answer.text,
        )
        outcome = self._follow_up.after(message, attempted.job, run, attempted.answer)
        if permit is not None and outcome.name != "running":
            permit.free()
        return outcome

    def _keeps(self, permit: "Permit", run: Run, job: Job) -> bool:
        """Keep the permit of an asynchronous run until the run is over; return whether it is kept.

        The message that frees the permit goes first. If this function crashes, that message finds that the
        attempt was never accepted.
        """
        self._requeue.send_at(permit_check_of(run, job), job.shard)
        return permit.keep(self._clock.now() + ATTEMPT_CLAIM_MS + job.definition.max_run_time_ms)

    def _not_made(self, delivery: Delivery, run: Run, withdrawn: Delivery | None) -> Outcome:
        """Undo the claim of an attempt that was not made, and let its trigger wait or drop it.

        `withdrawn` is the delivery by the latest read, if the trigger is not alive by that.
        """
        permit, message = delivery.permit, delivery.message
        if permit is not None:
            permit.free()
        stored = delivery.job if withdrawn is None else withdrawn.read.job
        is_job_there = stored is not None and stored.uid == message.trigger.uid
        # A trigger that waits for a commit comes again. A cancelled run would refuse it then.
        is_cancelled = not is_job_there and not self._gates.may_be_committed(message)
        if run.claimed_until is not None:
            self._claims.release(run, message, is_cancelled=is_cancelled)
        if withdrawn is not None:
            return self._stopped(self._gates.not_alive(withdrawn))
        if permit is not None and (permit.was_refused or permit.was_in_vain):
            return Outcome("kept")
        return self._stopped(self._gates.postponed(delivery))

    def _stopped(self, stop: Stop) -> Outcome:
        """Write and send what a trigger needs that does not pass a gate."""
        match stop:
            case Wait():
                return self._waits(stop)
            case Drop(delivery, why, ended, leaves_place):
                if leaves_place:
                    self._overlap_queue.remove_ended(delivery.message.trigger)
                return Outcome(why, ended=mark_of(ended))
            case Withdraw(delivery):
                return self._withdrawn(delivery)
            case Bury(delivery):
                return self._buried(delivery)
            case Keep():
                return Outcome("kept")
            case _:
                assert_never(stop)

    def _waits(self, wait: Wait) -> Outcome:
        """Keep what a trigger needs that waits. Then send its message, or give it back for its line."""
        delivery = wait.delivery
        if wait.job_until is not None:
            self._retention.keep_job(delivery.job, wait.job_until)
        if wait.run is not None:
            self._retention.keep_run(wait.run, delivery.message)
        if wait.keeps_place:
            self._overlap_queue.extend(delivery.message.trigger)
        if wait.is_planned:
            self._requeue.send_at(delivery.message, delivery.job.shard)
            return Outcome(wait.why)
        if wait.line is None:
            self._requeue.put_back(delivery.message, wait.until)
            return Outcome(wait.why)
        message = self._requeue.data.of_trigger(delivery.message, wait.until)
        definition = delivery.job.definition
        return Outcome(wait.why, into=LineWait(wait.line, definition.priority, message, definition))

    def _withdrawn(self, delivery: Delivery) -> Outcome:
        """Drop a trigger that its job does not owe any more, together with its place in the job's line."""
        message, job = delivery.message, delivery.read.job
        if job is None or job.uid != message.trigger.uid:
            until = self._claims.cancel_with_job(message)
            if until is not None:
                return self._waits(Wait(delivery, until, "claimed"))
        elif delivery.may_have_place:
            until = self._overlap_queue.withdraw(message, job)
            if until is not None:
                return self._waits(Wait(delivery, until, "leaving"))
        if not message.crashes:
            return Outcome("dropped")
        # A function may have ended the run, and crashed before its batch showed that. The run may have no
        # record, and may have been the last one of its batch.
        stored = self._claims.run_in_batch(message)
        until = self._clock.now() + HISTORY_RETENTION_DEFAULT_MS
        return Outcome("dropped", ended=mark_of(stored) or mark_of_trigger(message.trigger, None, until))

    def _buried(self, delivery: Delivery) -> Outcome:
        """Give up a trigger whose next attempt has come too late to be made.

        The attempt is claimed first: another copy of the message may be making it.
        """
        message, job, permit = delivery.message, delivery.job, delivery.permit
        expires_at = self._clock.now() + job.definition.history_retention_ms
        run = self._claims.run_of(message, expires_at, job.origin)
        run = started(run, message, self._clock.now())
        run, refused_by = self._claims.claim(run, is_async=False, permit=permit)
        if refused_by is not None:
            return self._stopped(self._gates.refused(delivery, refused_by))
        ended = self._follow_up.end_late(message, job, run)
        if permit is not None:
            permit.free()
        if delivery.may_have_place:
            self._overlap_queue.remove_ended(message.trigger)
        name: OutcomeName = "repeated" if ended is None else "failed"
        return Outcome(name, ended=mark_of(ended or self._claims.run_in_batch(message)))

    def give_up(self, message: TriggerMessage, reason: str) -> Run | None:
        """Record that a run has failed because Sweephand could not handle it. The run can then be redriven.

        Returns the run as it is then; None if there is none or its job is not there. Nothing changes if
        another invocation has claimed the run, ended it or begun a later attempt meanwhile, or if its
        consumer has called back. Without its job, a failed run is recorded only for an attempt that was
        claimed.
        """
        now = self._clock.now()
        # The store that failed so far may fail here too. The run's record must still be written.
        job, is_read = None, False
        with suppress(Exception):
            job, is_read = self._job_reads.reread(message.trigger.key).job, True
        if is_read and (job is None or job.uid != message.trigger.uid):
            job = None
            if self._claims.claim_ends_at(message) is None:
                self._claims.cancel_with_job(message)
                return None
        run = self._claims.run_of(
            message, now + HISTORY_RETENTION_DEFAULT_MS, None if job is None else job.origin
        )
        run, ended = self._claims.claim(run, is_async=False, permit=None)
        closed = self._follow_up.close(run, reason) if ended is None else None
        if closed is None:
            ended = ended or self._runs.of(message.trigger)
        else:
            ended = failed = replace(closed, state="failed", ended_at=now, reason=reason)
            if job is not None:
                with suppress(Exception):
                    self._follow_up.give_up(failed, job)
            self._runs.record(failed)
            with suppress(Exception):
                self._expiry.ended(job)
        self._overlap_queue.advance(message.trigger)
        return ended
