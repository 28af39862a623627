"""Ending attempts that consumers accepted: those whose deadline passed, and those reported as failed."""

from dataclasses import replace
from typing import TYPE_CHECKING

from sweephand.base.errors import StoreError
from sweephand.base.instants import SECOND_MS
from sweephand.base.timing import CHECKS_SPREAD_MS, DEADLINE_GRACE_MS
from sweephand.jobs.expiry import JobExpiry
from sweephand.model.attempt import Answer
from sweephand.model.batch_mark import mark_of
from sweephand.model.run import Run, latest_attempt_of
from sweephand.model.trigger import DeadlineMessage, FailureMessage, Trigger
from sweephand.ports.clock import Clock, Ids
from sweephand.ports.jobs import JobStore
from sweephand.ports.runs import RunStore
from sweephand.runs.follow_up import FollowUp, deadline_of
from sweephand.runs.overlap_queue import OverlapQueue
from sweephand.runs.received import Outcome, outcome_of_failure
from sweephand.runs.requeue import Requeue

if TYPE_CHECKING:
    from collections.abc import Callable

    from sweephand.runs.handlers import Rare

#: Callbacks can change a run between a read and a write. After so many tries the message comes again.
_READS_MAX = 5


class Deadlines:
    """Ends accepted attempts, which no delivery function handles any more.

    Several threads may share one object.
    """

    def __init__(
        self,
        *,
        jobs: JobStore,
        runs: RunStore,
        requeue: Requeue,
        follow_up: FollowUp,
        expiry: JobExpiry,
        overlap_queue: OverlapQueue,
        rare: "Callable[[], Rare]",
        clock: Clock,
        ids: Ids,
    ) -> None:
        self._jobs = jobs
        self._runs = runs
        self._requeue = requeue
        self._follow_up = follow_up
        self._expiry = expiry
        self._overlap_queue = overlap_queue
        self._rare = rare
        self._clock = clock
        self._ids = ids

    def check(self, message: DeadlineMessage) -> Outcome:
        """Check a run whose deadline may have passed, and advance its job's overlap queue if the run is over.

        If the consumer has sent a heartbeat, the run is checked again at its next deadline. A run that is
        over needs no further check. Another attempt of the run has its own message.

        A check can come twice, because the answer of the queue was lost or the function crashed. So that
        checks do not multiply, the run records when the next check comes, once that is sent. An earlier check
        then sends none.

        If the attempt has a permit and is over, or was never accepted, its permit is freed.

        StoreError: the message must come again.
        """
        checked = self._check(message)
        self._follow_end(message.trigger)
        if message.permit is not None and not self._goes_on(message):
            self._rare().gates.end_run(message.trigger.key, message.permit)
        return checked

    def _goes_on(self, message: DeadlineMessage) -> bool:
        """Whether the attempt of a check is claimed or accepted, so that another check is on its way."""
        run = self._runs.of(message.trigger)
        if run is None or (run.attempts, run.owner) != (message.attempt, message.owner):
            return False
        is_claimed = run.claimed_until is not None and self._clock.now() < run.claimed_until
        return run.state == "running" or (run.state == "claimed" and is_claimed)

    def _check(self, message: DeadlineMessage) -> Outcome:
        following: DeadlineMessage | None = None
        for _ in range(_READS_MAX):
            run, now = self._runs.of(message.trigger), self._clock.now()
            if run is None or (run.attempts, run.owner) != (message.attempt, message.owner):
                return Outcome("watched", ended=mark_of(run))
            if run.state == "claimed" and run.claimed_until is not None and now < run.claimed_until:
                # Another invocation is about to record the acceptance. If that invocation crashed, the
                # attempt will be claimed again.
                self._requeue.put_back(message, max(run.claimed_until, now + SECOND_MS))
                return Outcome("watched")
            if run.state != "running" and not run.is_ending:
                # The function that served the consumer's callback may have crashed before the run's batch
                # showed the end.
                return Outcome("watched", ended=mark_of(run))
            if run.state == "running" and now < run.deadline_at + DEADLINE_GRACE_MS:
                if run.next_check_at is not None and message.not_before < run.next_check_at:
                    return Outcome("watched")
                if following is None:
                    following = self._next_check(run, message)
                    # Send first: if the function crashes before it records the next check, this message comes
                    # again.
                    self._requeue.send_at(following, message.shard)
                checked = replace(run, next_check_at=following.not_before, version=self._ids.token())
                if self._runs.move(checked, run):
                    return Outcome("watched")
                continue
            outcome = self._fail(run, _failure_of(run))
            if outcome is not None:
                return outcome
        raise StoreError(
            f"run {message.trigger.run_id} of {message.trigger.key} kept changing between read and write"
        )

    def _next_check(self, run: Run, message: DeadlineMessage) -> DeadlineMessage:
        """The check at the run's next deadline. A random delay keeps checks from coming all at once."""
        check = deadline_of(run, message.shard, message.lane)
        return check._replace(not_before=check.not_before + int(self._ids.fraction() * CHECKS_SPREAD_MS))

    def fail(self, message: FailureMessage) -> Outcome:
        """Record the failure of an attempt that its consumer reported, unless the attempt is over by now.

        If the run is over then, advance its job's overlap queue. StoreError: the message must come again.
        """
        failed = self._failed(message)
        self._follow_end(message.trigger)
        if message.permit is not None:
            # A function may have recorded the failure, and crashed before it gave the slot back.
            self._rare().gates.end_run(message.trigger.key, message.permit)
        return failed

    def _follow_end(self, trigger: Trigger) -> None:
        """Do what follows a run that has ended: advance the overlap queue, and let its job expire."""
        self._overlap_queue.advance(trigger)
        self._expiry.ended(self._jobs.get(trigger.key))

    def _failed(self, message: FailureMessage) -> Outcome:
        answer = Answer(succeeded=False, error=message.reason, is_final=message.is_final)
        for _ in range(_READS_MAX):
            run = self._runs.of(message.trigger)
            if run is None or run.attempts != message.attempt or run.state not in ("claimed", "running"):
                return Outcome("repeated", ended=mark_of(run))
            outcome = self._fail(run, answer)
            if outcome is not None:
                return outcome
        raise StoreError(
            f"run {message.trigger.run_id} of {message.trigger.key} kept changing between read and write"
        )

    def _fail(self, seen: Run, answer: Answer) -> Outcome | None:
        """Record the failure of a run that was read; None if the run has changed since."""
        job = self._jobs.get(seen.key)
        if job is not None and job.uid != seen.uid:
            job = None

        def close(run: Run) -> bool:
            nonlocal seen
            # A callback may have closed the run already. The write shows that no other function has settled
            # the failure since the run was read.
            if not self._runs.move(run, seen):
                return False
            seen = run
            return True

        failed = self._follow_up.fail(latest_attempt_of(seen), job, seen, answer, close)
        if failed is None:
            return None
        written = replace(failed, version=self._ids.token())
        if not self._runs.move(written, seen):
            return None
        if seen.permit is not None:
            self._rare().gates.end_run(seen.key, seen.permit)
        name = outcome_of_failure(failed.state)
        return Outcome(name, ended=mark_of(written), traceparent=seen.context.traceparent)


def _failure_of(run: Run) -> Answer:
    """How the attempt failed: as its record says, or else by the consumer's silence."""
    if not run.is_ending or run.last_failure is None:
        return Answer(succeeded=False, error=_silence(run))
    # The invocation that recorded the failure may have crashed before it sent the retry or the dead letter.
    _, reason, code, is_final = run.last_failure
    return Answer(succeeded=False, code=code, error=reason, is_final=is_final)


def _silence(run: Run) -> str:
    """The reason of a failure in which the consumer did not call back in time."""
    assert run.run_until is not None, "it is running"
    assert run.heartbeat_by is not None, "it is running"
    if run.run_until <= run.heartbeat_by:
        return "The consumer did not complete the run within maxRunTime."
    return "The consumer sent no heartbeat within heartbeatTimeout."
