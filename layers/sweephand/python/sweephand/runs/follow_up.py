"""What follows an attempt: its record, and before that the next attempt or a dead letter."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from sweephand.base.errors import StoreError
from sweephand.base.timing import DEADLINE_GRACE_MS, TIMER_RETENTION_MS
from sweephand.jobs.expiry import JobExpiry, is_last
from sweephand.model.job import Job
from sweephand.model.run import Run, trigger_of
from sweephand.model.trigger import (
    DeadLetter,
    DeadlineMessage,
    Failure,
    TriggerMessage,
)
from sweephand.model.wire import encode
from sweephand.ports import Answer, Clock, Ids, Queue, RunStore
from sweephand.runs.auto_pause import AutoPause
from sweephand.runs.notification import notification_of
from sweephand.runs.outcome import Outcome, OutcomeName, outcome_of_failure
from sweephand.runs.requeue import Requeue
from sweephand.runs.retention import Retention
from sweephand.runs.retry import GiveUp, after_failure, said_of

#: 202 Accepted (RFC 9110, 15.3.3); a queue has no status and always gives the work to somebody else.
_ACCEPTED: Final = (202, None)


class FollowUp:
    """Sends what follows an attempt, then records it: a crash between the two repeats the attempt.

    The claim of the next attempt sees to it that a chain that was sent twice does not double.
    """

    def __init__(
        self,
        *,
        runs: RunStore,
        queue: Queue,
        requeue: Requeue,
        auto_pause: AutoPause,
        expiry: JobExpiry,
        retention: Retention,
        clock: Clock,
        ids: Ids,
    ) -> None:
        self._runs = runs
        self._auto_pause = auto_pause
        self._expiry = expiry
        self._retention = retention
        self._queue = queue
        self._requeue = requeue
        self._clock = clock
        self._ids = ids

    def after(
        self, message: TriggerMessage, job: Job, run: Run, answer: Answer, *, is_claimed: bool
    ) -> Outcome:
        """Deal with the answer to an attempt; `is_claimed` says whether its run is stored as claimed."""
        outcome: OutcomeName
        if answer.succeeded and run.token is not None and answer.code in _ACCEPTED:
            outcome = self._accepted(run, job)
        elif answer.succeeded:
            succeeded = replace(run, state="succeeded")
            self._have_told(succeeded, job)
            outcome = self._succeeded(succeeded, job, is_claimed=is_claimed)
        else:
            failed = self.fail(message, job, run, answer, self._runs.record)
            if failed is None:
                # Its consumer's report came first: that one rules.
                outcome = "repeated"
            else:
                self._runs.record(failed)
                if failed.is_over:
                    self._expiry.ended(job)
                outcome = outcome_of_failure(failed.state)
        # How late a redrive is says nothing of how late Sweephand was.
        return Outcome(outcome, None if run.is_redriven else run.lateness_ms)

    def _accepted(self, run: Run, job: Job) -> OutcomeName:
        """Have the run looked at when its consumer should have reported, then record that it was accepted."""
        now, definition = self._clock.now(), job.definition
        run_until = now + definition.max_run_time_ms
        running = replace(
            run,
            state="running",
            ended_at=None,
            heartbeat_ms=definition.heartbeat_timeout_ms,
            heartbeat_by=now + definition.heartbeat_timeout_ms,
            run_until=run_until,
            # What is not over must not be forgotten, however short its history is to be.
            expires_at=max(run.expires_at or 0, run_until + TIMER_RETENTION_MS),
        )
        self._retention.keep_job(job, run_until)
        look = deadline_of(running, job.shard)
        self._requeue.send_at(look, job.shard)
        # A report may have been faster: then what it wrote stands.
        self._runs.record(replace(running, next_look_at=look.not_before))
        return "running"

    def _succeeded(self, run: Run, job: Job, *, is_claimed: bool) -> OutcomeName:
        outcome = self._recorded(run, job, is_claimed=is_claimed)
        self._expiry.ended(job, run)
        return outcome

    def _recorded(self, run: Run, job: Job, *, is_claimed: bool) -> OutcomeName:
        if is_claimed:
            self._runs.record(run)
        elif job.definition.records_successes or is_last(job, run):
            # A history that is throttled must not multiply deliveries: what arrived is not sent again only
            # because it could not be written down. What was claimed has a claim to end.
            try:
                self._runs.record(run)
            except StoreError:
                return "unrecorded"
        return "succeeded"

    def fail(
        self,
        message: TriggerMessage,
        job: Job | None,
        run: Run,
        answer: Answer,
        close: Callable[[Run], bool],
    ) -> Run | None:
        """Send what follows a failed attempt, and return its run as it is to be recorded.

        `job` is None if it was deleted: then nothing follows, and nobody is told. A run that its consumer can
        report on is closed to reports before it is given up: `close` writes it so, and says whether it was.
        If not, the run has changed: nothing was sent, and None is returned.
        """
        reason = f"{said_of(answer)}." if answer.error is None else answer.error
        failure = Failure(run.attempts, reason, answer.code, answer.is_final)
        run = replace(run, ended_at=run.ended_at or self._clock.now(), last_failure=failure)
        over = replace(run, state="failed", heartbeat_by=None, run_until=None)
        if job is None:
            return replace(over, reason="It failed, and its job was deleted in the meantime.")
        now = self._clock.now()
        decision = after_failure(
            job.definition.retry,
            answer,
            attempt=message.attempt_of_round,
            first_attempt_at=message.first_attempt_at or now,
            now=now,
            fraction=self._ids.fraction(),
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
        # Never early: whoever made the attempt may have had a clock ahead of this one.
        at = max(decision.at, message.trigger.due_at)
        following = message._replace(
            attempt=message.attempt + 1,
            not_before=at,
            faults=0,
            crashes=0,
            is_owed=False,
            had_token=message.had_token or run.token is not None,
            last_failure=failure,
        )
        self._retention.keep_job(job, at + job.definition.owing_ms - job.definition.retry.age_max_ms)
        self._requeue.send_at(following, job.shard)
        # As with one that is running: what is not over must not be forgotten.
        expires_at = max(run.expires_at or 0, at + TIMER_RETENTION_MS)
        retrying = replace(over, state="retrying", next_attempt_at=at, ended_at=None)
        return replace(retrying, reason=answer.error, expires_at=expires_at)

    def give_up(self, failed: Run, job: Job, *, pauses: bool = False) -> None:
        """Do what its job wants when a run has failed for good, before that is recorded."""
        if pauses or job.definition.pauses_on_error:
            reason = f"Run {failed.run_id} failed. {failed.reason}"
            # That a consumer is gone says nothing of another, which somebody may have named meanwhile.
            target = None if job.definition.pauses_on_error else job.definition.target
            self._auto_pause.pause(job.key, uid=job.uid, reason=reason, target=target)
        self._have_told(failed, job)

    def _have_told(self, run: Run, job: Job) -> None:
        if job.definition.on_complete is not None:
            self._queue.send([(notification_of(run), 0)])

    def _bury(self, message: TriggerMessage, job: Job, answer: Answer, decision: GiveUp) -> None:
        letter = DeadLetter(
            body=encode(message),
            reason=decision.reason,
            trigger=message.trigger,
            attempts=message.attempt,
            response_code=answer.code,
            answer=answer.text,
        )
        self._queue.bury([(letter, job.definition.dead_letter_queue)])


def deadline_of(run: Run, shard: int) -> DeadlineMessage:
    """The look at a run that its consumer works on, when it should have reported by everybody's clock."""
    assert run.owner is not None, "it was claimed"
    not_before = run.deadline_at + DEADLINE_GRACE_MS
    return DeadlineMessage(trigger_of(run), run.attempts, run.owner, shard, not_before)
