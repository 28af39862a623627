"""Resuming a job whose pause ends by itself."""

from sweephand.base.timing import UNKNOWN_GRACE_MS
from sweephand.jobs.change_history import ChangeHistory
from sweephand.jobs.commit import Commits
from sweephand.jobs.expiry import JobExpiry
from sweephand.jobs.resume import Resumer
from sweephand.model.orders import ResumeMessage
from sweephand.ports.clock import Clock, Ids
from sweephand.ports.jobs import ChangeStore, JobStore, PayloadStore
from sweephand.ports.queue import Queue
from sweephand.ports.runs import RunStore
from sweephand.ports.wheel import TimerStore
from sweephand.runs.received import Outcome
from sweephand.runs.requeue import Requeue


class Resumes:
    """Ends the pauses whose time has come. Several threads may share one object."""

    def __init__(
        self,
        *,
        jobs: JobStore,
        changes: ChangeStore,
        runs: RunStore,
        timers: TimerStore,
        queue: Queue,
        payloads: PayloadStore,
        requeue: Requeue,
        expiry: JobExpiry,
        clock: Clock,
        ids: Ids,
    ) -> None:
        commits = Commits(
            jobs=jobs, changes=changes, timers=timers, queue=queue, payloads=payloads, clock=clock
        )
        history = ChangeHistory(jobs=jobs, changes=changes)
        self._resumer = Resumer(
            jobs=jobs, runs=runs, changes=history, commits=commits, expiry=expiry, ids=ids
        )
        self._requeue = requeue
        self._clock = clock

    def end_pause(self, message: ResumeMessage) -> Outcome:
        """Resume the job, unless a caller has resumed it or changed the pause.

        StoreError and UnavailableError: the message must come again.
        """
        # The caller has waited for that instant. The clock may have stepped back since.
        now = max(self._clock.now(), message.not_before)
        if self._resumer.end_pause(message.key, message.uid, now=now) is not None:
            return Outcome("resumed")
        if now - message.armed_at >= UNKNOWN_GRACE_MS:
            return Outcome("dropped")
        # The commit of the pause may be in flight.
        self._requeue.await_commit(message, message.armed_at)
        return Outcome("unknown")
