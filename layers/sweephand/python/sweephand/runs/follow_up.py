"""What follows an attempt: the retry, the dead letter or the notification, and then the record."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Final

from sweephand.base.errors import NotFoundError, PreconditionError, StoreError
from sweephand.base.instants import Instant
from sweephand.base.limits import ATTEMPT_TEXT_MAX, ATTEMPTS_KEPT
from sweephand.base.timing import DEADLINE_GRACE_MS, TIMER_RETENTION_MS
from sweephand.jobs.expiry import JobExpiry, is_last
from sweephand.jobs.pause import Pauser
from sweephand.model.attempt import Answer
from sweephand.model.batch_mark import mark_of
from sweephand.model.change import SWEEPHAND
from sweephand.model.failed_attempt import FailedAttempt
from sweephand.model.job import Job
from sweephand.model.policy_names import Lane
from sweephand.model.run import Run, trigger_of
from sweephand.model.trigger import DeadLetter, DeadlineMessage, Failure, TriggerMessage
from sweephand.model.wire import encode
from sweephand.ports.clock import Clock, Ids
from sweephand.ports.queue import Queue
from sweephand.ports.runs import RunStore
from sweephand.runs.notification import notification_of, notifies_of
from sweephand.runs.received import Outcome, OutcomeName, outcome_of_failure, own_lateness_ms
from sweephand.runs.requeue import Requeue, Retention
from sweephand.runs.retry import GiveUp, after_failure, aged_from, failure_text, too_late

#: 202 Accepted (RFC 9110, 15.3.3). A queue has no status: a consumer always takes its work later.
_ACCEPTED: Final = (202, None)


class FollowUp:
    """Sends what follows an attempt, then records the attempt. A crash between the two repeats the attempt.

    A crash can therefore send the next attempt twice. Only one of the two copies can claim it.
    """

    def __init__(
        self,
        *,
        runs: RunStore,
        queue: Queue,
        requeue: Requeue,
        pauser: Pauser,
        expiry: JobExpiry,
        retention: Retention,
        clock: Clock,
        ids: Ids,
    ) -> None:
        self._runs = runs
        self._pauser = pauser
        self._expiry = expiry
        self._retention = retention
        self._queue = queue
        self._requeue = requeue
        self._clock = clock
        self._ids = ids

    def after(self, message: TriggerMessage, job: Job, run: Run, answer: Answer) -> Outcome:
        """Handle the answer to an attempt. `run` is `succeeded` if the consumer did it, and else `claimed`.

        A run with `claimed_until` is stored as claimed.
        """
        outcome: OutcomeName
        ended: Run | None = None
        if answer.succeeded and run.token is not None and answer.code in _ACCEPTED:
            outcome = "running"
            if not self._accepted(run, job):
                ended = self._ended_elsewhere(run)
        elif answer.succeeded:
            self._notify(run, job)
            outcome, is_stored = self._recorded(run, job)
            self._expiry.ended(job, run)
            ended = run if is_stored else self._ended_elsewhere(run)
        else:
            failed = self.fail(message, job, run, answer, self._runs.record)
            if failed is None:
                # A callback of the consumer was recorded first, and the first callback rules.
                outcome, ended = "repeated", self._ended_elsewhere(run)
            else:
                ended = failed if self._runs.record(failed) else self._ended_elsewhere(run)
                if failed.is_over:
                    self._expiry.ended(job)
                outcome = outcome_of_failure(failed.state)
        traceparent = None if run.origin is None else run.context.traceparent
        return Outcome(outcome, own_lateness_ms(message), mark_of(ended), traceparent=traceparent)

    def _ended_elsewhere(self, run: Run) -> Run | None:
        """The stored run of a batch, which somebody else has changed during the attempt. It may be over.

        That is a callback, or an attempt by another copy of the message. Its function may have crashed before
        the run's batch showed the end. The batch has to show the end that is stored.
        """
        return self._runs.of(trigger_of(run)) if run.batch is not None else None

    def _accepted(self, run: Run, job: Job) -> bool:
        """Send the message that checks the run's deadline, then record that the consumer has accepted.

        False if a callback of the consumer was recorded first.
        """
        now, definition = self._clock.now(), job.definition
        run_until = now + definition.max_run_time_ms
        running = replace(
            run,
            state="running",
            ended_at=None,
            heartbeat_ms=definition.heartbeat_timeout_ms,
            heartbeat_by=now + definition.heartbeat_timeout_ms,
            run_until=run_until,
            payload=self._requeue.data.of_run(run.uid, run.payload, run_until),
            # A run that is not over must keep its record, however short the job's history retention is.
            expires_at=max(run.expires_at or 0, run_until + TIMER_RETENTION_MS),
        )
        self._retention.keep_job(job, run_until)
        check = deadline_of(running, job.shard, job.definition.priority)
        self._requeue.send_at(check, job.shard)
        # A callback may have been recorded before. It stands, and this write is refused.
        return self._runs.record(replace(running, next_check_at=check.not_before))

    def _recorded(self, run: Run, job: Job) -> tuple[OutcomeName, bool]:
        """Record a success. False if the record was refused, so that something else is stored."""
        if run.claimed_until is not None:
            return "succeeded", self._runs.record(run)
        if job.definition.records_successes or is_last(job, run):
            # When writes of history are throttled, a trigger that was delivered must not be delivered again
            # only because its record could not be written. A claimed run needs the write, because it ends the
            # claim.
            try:
                return "succeeded", self._runs.record(run)
            except StoreError:
                return "unrecorded", True
        return "succeeded", True

    def fail(
        self,
        message: TriggerMessage,
        job: Job | None,
        run: Run,
        answer: Answer,
        close: Callable[[Run], bool],
    ) -> Run | None:
        """Send what follows a failed attempt, and return the run as the caller has to record it.

        `job` is None if the job was deleted. Then nothing follows, and no notification is sent. A run that
        takes callbacks is closed to them before it is given up: `close` writes that and returns whether it
        was written. If it was not, the run has changed; nothing was sent, and None is returned.
        """
        reason = f"{failure_text(answer)}." if answer.error is None else answer.error
        failure = Failure(run.attempts, reason, answer.code, answer.is_final)
        ended_at = run.ended_at or self._clock.now()
        attempts = _with_failed(run, answer, reason, ended_at)
        run = replace(run, ended_at=ended_at, last_failure=failure, failed_attempts=attempts)
        over = replace(run, state="failed", heartbeat_by=None, run_until=None)
        if job is None:
            return replace(over, reason="The attempt failed, and the job was deleted in the meantime.")
        now = self._clock.now()
        decision = after_failure(
            job.definition.retry,
            answer,
            attempt=message.attempt_of_round,
            first_attempt_at=aged_from(message) or now,
            now=now,
            fraction=self._ids.fraction(),
            attempts_before=message.attempt - message.attempt_of_round,
        )
        if isinstance(decision, GiveUp):
            if run.token is not None:
                run = replace(run, version=self._ids.token())
                if not close(run):
                    return None
            self._bury(message, job, answer, decision)
            failed = replace(over, reason=decision.reason, version=run.version)
            self.give_up(failed, job, pauses=decision.is_gone)
            return failed
        # The clock of the function that made the attempt may have been ahead. No attempt is made before its
        # due time.
        at = max(decision.at, message.trigger.at)
        following = message._replace(
            attempt=message.attempt + 1,
            lane=job.definition.lane,
            not_before=at,
            faults=0,
            crashes=0,
            is_owed=False,
            had_token=message.had_token or run.token is not None,
            last_failure=failure,
            failed_attempts=attempts,
        )
        self._retention.keep_job(job, at + job.definition.run_time_max_ms - job.definition.retry.age_max_ms)
        self._requeue.send_at(following, job.shard)
        # A run that is to be retried is not over, so it must keep its record.
        expires_at = max(run.expires_at or 0, at + TIMER_RETENTION_MS)
        retrying = replace(over, state="retrying", next_attempt_at=at, ended_at=None)
        return replace(retrying, reason=answer.error, expires_at=expires_at)

    def end_late(self, message: TriggerMessage, job: Job, run: Run) -> Run | None:
        """Give up a run whose next attempt has come too late to be made, and return its record.

        `run` is the claim of that attempt. Its number is used up: a function that crashed may have made it.
        None if a callback was recorded first; then nothing was sent.
        """
        now, last = self._clock.now(), message.last_failure
        decision = too_late(message.attempt, last)
        closed = self.close(run, decision.reason)
        if closed is None:
            return None
        failed = replace(
            closed,
            state="failed",
            ended_at=now,
            response_code=None if last is None else last.response_code,
            reason=decision.reason,
            last_failure=last,
            version=self._ids.token(),
        )
        answer = Answer(succeeded=False, code=failed.response_code, error=decision.reason)
        self._bury(message, job, answer, decision)
        self.give_up(failed, job)
        if not self._runs.move(failed, closed):
            return None
        self._expiry.ended(job)
        return failed

    def close(self, run: Run, reason: str) -> Run | None:
        """Close a claim to the callbacks of its consumer before it is given up, and return it.

        A claim has a token only if a function that crashed may have sent it. None if a callback was recorded
        first.
        """
        if run.token is None:
            return run
        failure = Failure(run.attempts, reason, is_final=True)
        closed = replace(run, ended_at=self._clock.now(), last_failure=failure, version=self._ids.token())
        return closed if self._runs.move(closed, run) else None

    def give_up(self, failed: Run, job: Job, *, pauses: bool = False) -> None:
        """Do what the job asks for when a run has failed for good: pause the job, and send the notification.

        The caller records the failure afterwards.
        """
        if pauses or job.definition.pauses_on_error:
            reason = f"Run {failed.run_id} failed. {failed.reason}"
            # 410 says that this consumer is gone. A caller may have given the job another target in the
            # meantime, so only a job with this target is paused.
            target = None if job.definition.pauses_on_error else job.definition.target
            now = self._clock.now()
            with suppress(NotFoundError, PreconditionError):
                self._pauser.pause(
                    job.key, reason=reason, who=SWEEPHAND, requested_at=now, uid=job.uid, target=target
                )
        self._notify(failed, job)

    def _notify(self, run: Run, job: Job) -> None:
        if notifies_of(run, job):
            self._queue.send([(notification_of(run, self._clock.now()), 0)])

    def _bury(self, message: TriggerMessage, job: Job, answer: Answer, decision: GiveUp) -> None:
        dead_letter = DeadLetter(
            body=encode(message),
            reason=decision.reason,
            trigger=message.trigger,
            attempts=message.attempt,
            response_code=answer.code,
            answer=answer.text,
        )
        self._queue.bury([(dead_letter, job.definition.dead_letter_queue)])


def _with_failed(run: Run, answer: Answer, reason: str, ended_at: Instant) -> tuple[FailedAttempt, ...]:
    """The last attempts of a run that failed, with its latest one.

    That one is among them already if a function that recorded it crashed before it sent what follows.
    """
    earlier, began_at = run.failed_attempts, run.attempt_began_at
    if began_at is None or (earlier and earlier[-1].attempt == run.attempts):
        return earlier
    text = (answer.text or reason)[:ATTEMPT_TEXT_MAX]
    failed = FailedAttempt(run.attempts, began_at, max(0, ended_at - began_at), answer.code, text)
    return (*earlier, failed)[-ATTEMPTS_KEPT:]


def deadline_of(run: Run, shard: int, lane: Lane) -> DeadlineMessage:
    """The message that checks a run's deadline. It comes after the deadline by every function's clock.

    It travels in the lane of its job's priority, also under a policy. Slow consumers of a policy may hold the
    functions of its lane, and a check is due within seconds.
    """
    assert run.owner is not None, "it was claimed"
    not_before = run.deadline_at + DEADLINE_GRACE_MS
    return DeadlineMessage(
        trigger_of(run), run.attempts, run.owner, shard, not_before, permit=run.permit, lane=lane
    )


def permit_check_of(run: Run, job: Job) -> DeadlineMessage:
    """The message that frees the permit of a claimed attempt that never became an accepted one.

    It comes after the claim has ended by every function's clock.
    """
    assert run.owner is not None, "it was claimed"
    assert run.claimed_until is not None, "it was claimed"
    not_before = run.claimed_until + DEADLINE_GRACE_MS
    return DeadlineMessage(
        trigger_of(run), run.attempts, run.owner, job.shard, not_before,
        permit=run.permit, lane=job.definition.priority,
    )  # fmt: skip
