"""Watching runs that their consumers work on: whether one was silent for too long, or says that it failed."""

from dataclasses import replace

from sweephand.base.errors import StoreError
from sweephand.base.instants import SECOND_MS
from sweephand.base.timing import DEADLINE_GRACE_MS, LOOKS_SPREAD_MS
from sweephand.jobs.expiry import JobExpiry
from sweephand.model.run import Run, attempted
from sweephand.model.trigger import DeadlineMessage, FailureMessage, Trigger
from sweephand.ports import Answer, Clock, Ids, JobStore, RunStore
from sweephand.runs.flow.overlap_queue import OverlapQueue
from sweephand.runs.follow_up import FollowUp, deadline_of
from sweephand.runs.outcome import Outcome, OutcomeName, outcome_of_failure
from sweephand.runs.requeue import Requeue

#: Reports can come between reading a run and changing it; after so many the message comes again.
_READS_MAX = 5


class Deadlines:
    """Settles attempts that no delivery function has in hand any more; several threads may share one."""

    def __init__(
        self,
        *,
        jobs: JobStore,
        runs: RunStore,
        requeue: Requeue,
        follow_up: FollowUp,
        expiry: JobExpiry,
        overlap_queue: OverlapQueue,
        clock: Clock,
        ids: Ids,
    ) -> None:
        self._jobs = jobs
        self._runs = runs
        self._requeue = requeue
        self._follow_up = follow_up
        self._expiry = expiry
        self._overlap_queue = overlap_queue
        self._clock = clock
        self._ids = ids

    def look(self, message: DeadlineMessage) -> Outcome:
        """Look at a run whose deadline may have passed, and hand its job's line on if it is over.

        StoreError: the message must come again.

        Extended, it is looked at again when it should have reported next. What is over, or is another's
        acceptance by now, has a message of its own or needs none.

        A look can come twice: the answer of the queue was lost, or the function died. So that looks do not
        multiply, the run records the next look once that is sent, and an earlier look sends none.
        """
        looked = self._looked(message)
        self._have_gone_on(message.trigger)
        return looked

    def _looked(self, message: DeadlineMessage) -> Outcome:
        following: DeadlineMessage | None = None
        for _ in range(_READS_MAX):
            run, now = self._runs.of(message.trigger), self._clock.now()
            if run is None or (run.attempts, run.owner) != (message.attempt, message.owner):
                return Outcome("watched")
            if run.state == "claimed" and run.claimed_until is not None and now < run.claimed_until:
                # Its acceptance is about to be recorded. If its holder died instead, another will claim it.
                self._requeue.put_back(message, max(run.claimed_until, now + SECOND_MS))
                return Outcome("watched")
            if run.state != "running" and not run.is_ending:
                return Outcome("watched")
            if run.state == "running" and now < run.deadline_at + DEADLINE_GRACE_MS:
                if run.next_look_at is not None and message.not_before < run.next_look_at:
                    return Outcome("watched")
                if following is None:
                    following = self._next_look(run, message.shard)
                    # Sent first: if the function dies before the record, this look comes again.
                    self._requeue.send_at(following, message.shard)
                looked = replace(run, next_look_at=following.not_before, version=self._ids.token())
                if self._runs.move(looked, run):
                    return Outcome("watched")
                continue
            outcome = self._fail(run, _failure_of(run))
            if outcome is not None:
                return Outcome(outcome)
        raise StoreError(
            f"run {message.trigger.run_id} of {message.trigger.key} changed too often to be judged"
        )

    def _next_look(self, run: Run, shard: int) -> DeadlineMessage:
        """The look at a run when it should have reported next, somewhat spread."""
        look = deadline_of(run, shard)
        return look._replace(not_before=look.not_before + int(self._ids.fraction() * LOOKS_SPREAD_MS))

    def fail(self, message: FailureMessage) -> Outcome:
        """Settle an attempt that has failed by its consumer's word, unless it is over by now.

        If its run is over then, hand its job's line on.
        """
        failed = self._failed(message)
        self._have_gone_on(message.trigger)
        return failed

    def _have_gone_on(self, trigger: Trigger) -> None:
        """What follows the end of a run, if it has one by now: its line goes on, and its job may go."""
        self._overlap_queue.advance(trigger)
        self._expiry.ended(self._jobs.get(trigger.key))

    def _failed(self, message: FailureMessage) -> Outcome:
        answer = Answer(succeeded=False, error=message.reason, is_final=message.is_final)
        for _ in range(_READS_MAX):
            run = self._runs.of(message.trigger)
            if run is None or run.attempts != message.attempt or run.state not in ("claimed", "running"):
                return Outcome("repeated")
            outcome = self._fail(run, answer)
            if outcome is not None:
                return Outcome(outcome)
        raise StoreError(
            f"run {message.trigger.run_id} of {message.trigger.key} changed too often to be judged"
        )

    def _fail(self, seen: Run, answer: Answer) -> OutcomeName | None:
        """Settle the failure of a run that was read; None if it has changed since."""
        job = self._jobs.get(seen.key)
        if job is not None and job.uid != seen.uid:
            job = None

        def close(run: Run) -> bool:
            nonlocal seen
            if seen.is_ending:
                # Its consumer's report has closed it.
                return True
            if not self._runs.move(run, seen):
                return False
            seen = run
            return True

        failed = self._follow_up.fail(attempted(seen), job, seen, answer, close)
        if failed is None:
            return None
        written = replace(failed, version=self._ids.token())
        return outcome_of_failure(failed.state) if self._runs.move(written, seen) else None


def _failure_of(run: Run) -> Answer:
    """How an attempt failed that nobody else settles: by its record, if it says so, else by silence."""
    if not run.is_ending or run.last_failure is None:
        return Answer(succeeded=False, error=_silence(run))
    # Whoever recorded the failure may have died before the retry or the dead letter was sent.
    _, reason, code, is_final = run.last_failure
    return Answer(succeeded=False, code=code, error=reason, is_final=is_final)


def _silence(run: Run) -> str:
    """What a consumer that has not reported in time is told to have failed by."""
    assert run.run_until is not None, "it is running"
    assert run.heartbeat_by is not None, "it is running"
    if run.run_until <= run.heartbeat_by:
        return "It was not complete within maxRunTime."
    return "Its consumer sent no heartbeat within heartbeatTimeout."
