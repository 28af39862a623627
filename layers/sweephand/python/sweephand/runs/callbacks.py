"""Reports: what a consumer says of a run that it has accepted, and what a person says of one."""

import hmac
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final, NoReturn

from sweephand.base.errors import (
    ConflictError,
    GoneError,
    NotFoundError,
    UnavailableError,
)
from sweephand.base.timing import TIMER_RETENTION_MS
from sweephand.jobs.expiry import JobExpiry
from sweephand.model.job import Job, JobKey
from sweephand.model.run import Run, trigger_of
from sweephand.model.trigger import Failure, FailureMessage
from sweephand.ports import Clock, Ids, JobStore, Queue, RunStore
from sweephand.runs.flow.overlap_queue import OverlapQueue
from sweephand.runs.notification import notification_of

#: Others can change a run between reading and changing it; a heartbeat and a deadline do once, at most.
_READS_MAX: Final = 5

_NOT_THIS_ONE: Final = (
    "This is not the token of an attempt that goes on: it has counted as failed and another was made, or "
    "there is no such run. Stop."
)


class Callbacks:
    """Takes reports, each with the token of its attempt, or by whoever may write the job (token None).

    Each answers the run as it then is. Raises NotFoundError (there is no such run), GoneError (the token is
    not that of the latest attempt, or the run was cancelled: stop), ConflictError (it came too late, or
    there is nothing to report on), and UnavailableError (ask again).
    """

    def __init__(
        self,
        *,
        jobs: JobStore,
        runs: RunStore,
        overlap_queue: OverlapQueue,
        queue: Queue,
        clock: Clock,
        ids: Ids,
    ) -> None:
        self._overlap_queue = overlap_queue
        self._jobs = jobs
        self._runs = runs
        self._queue = queue
        self._expiry = JobExpiry(jobs=jobs, runs=runs, clock=clock, ids=ids)
        self._clock = clock
        self._ids = ids

    def heartbeat(self, key: JobKey, run_id: str, token: str | None) -> Run:
        """The consumer goes on: its next report may come one heartbeat's time-out later.

        GoneError if the run is not to go on, whatever it is by now.
        """

        def beaten(run: Run) -> Run:
            # Until its acceptance is recorded there is no deadline, and then it begins anew.
            if run.state != "running" or run.heartbeat_ms is None or run.heartbeat_by is None:
                return run
            return replace(run, heartbeat_by=max(run.heartbeat_by, self._clock.now() + run.heartbeat_ms))

        read = partial(self._reported, key, run_id, token, "heartbeat", _is_never_repeated)
        return self._changed(read, beaten)

    def complete(self, key: JobKey, run_id: str, token: str | None, *, result: str | None = None) -> Run:
        """The consumer is done: the run has succeeded, with that JSON text as its result. Repeating is safe.

        ConflictError also for a repetition with another result.
        """

        def succeeded(run: Run, job: Job | None) -> Run:
            if run.state == "succeeded":
                return run
            return self._ended(replace(run, state="succeeded", result=result), job)

        def was_said(run: Run) -> bool:
            return run.state == "succeeded" and (result is None or run.result == result)

        read = partial(self._reported, key, run_id, token, "complete", was_said)
        return self._brought_to_end(read, succeeded)

    def fail(self, key: JobKey, run_id: str, token: str | None, *, reason: str, is_final: bool) -> Run:
        """The attempt has failed: the retry policy decides what follows, unless it `is_final`.

        The failure is recorded at once, and no later report changes it. The state changes a moment later,
        when the delivery function has sent what follows. Repeating is safe; ConflictError also for a
        repetition that says something else.
        """

        def failing(run: Run) -> Run:
            failure = Failure(run.attempts, reason, is_final=is_final)
            if run.last_failure == failure:
                return run
            now = self._clock.now()
            # Sent first: if the record is refused, another report was first, and the message finds that.
            self._queue.send([(FailureMessage(trigger_of(run), run.attempts, reason, is_final, now), 0)])
            return replace(run, ended_at=now, last_failure=failure)

        def was_said(run: Run) -> bool:
            return run.last_failure == Failure(run.attempts, reason, is_final=is_final)

        return self._changed(partial(self._reported, key, run_id, token, "fail", was_said), failing)

    def cancel(self, key: JobKey, run_id: str, who: str) -> Run:
        """End a run that its consumer works on or that is to be tried again. `who` is the caller's key.

        ConflictError for a run that is cancelled already: what follows the end is done again all the same,
        since whoever cancelled it may have died before.
        """
        was_cancelled = False

        def read() -> Run:
            run = self._runs.get(key, run_id)
            if run is None:
                raise NotFoundError(f"There is no record of a run {run_id} of a job {key.name}.")
            if run.state not in ("running", "retrying", "cancelled"):
                raise ConflictError(
                    f"The run is {run.state}; one that is running or retrying can be cancelled."
                )
            if run.is_ending:
                raise ConflictError("Its attempt has just failed, and what follows is about to be recorded.")
            return run

        def cancelled(run: Run, job: Job | None) -> Run:
            nonlocal was_cancelled
            was_cancelled = run.state == "cancelled"
            if was_cancelled:
                return run
            return self._ended(replace(run, state="cancelled", reason=f"Cancelled with the key {who}."), job)

        run = self._brought_to_end(read, cancelled)
        if was_cancelled:
            raise ConflictError("The run is cancelled already.")
        return run

    def _brought_to_end(self, read: Callable[[], Run], change: Callable[[Run, Job | None], Run]) -> Run:
        """Change a run to its end, and do what follows it; said again, all of it is done again."""
        job: Job | None = None

        def changed(seen: Run) -> Run:
            nonlocal job
            job = self._jobs.get(seen.key)
            return change(seen, job)

        run = self._changed(read, changed)
        self._overlap_queue.advance(trigger_of(run))
        self._expiry.ended(job)
        return run

    def _changed(self, read: Callable[[], Run], change: Callable[[Run], Run]) -> Run:
        """Read a run and change it, until nobody came in between."""
        for _ in range(_READS_MAX):
            seen = read()
            changed = change(seen)
            if changed is seen:
                return seen
            written = replace(changed, version=self._ids.token())
            if self._runs.move(written, seen):
                return written
        raise UnavailableError("Others keep changing this run; it was not changed. Ask again.")

    def _reported(
        self, key: JobKey, run_id: str, token: str | None, report: str, was_said: Callable[[Run], bool]
    ) -> Run:
        """The run, if that report on it may be made, or was made already."""
        run = self._runs.get(key, run_id)
        if token is None and run is None:
            raise NotFoundError(f"There is no record of a run {run_id} of a job {key.name}.")
        if run is None or (token is not None and not _is_of(run, token)):
            # Whether there is such a run is not for everybody to know.
            raise GoneError(_NOT_THIS_ONE)
        if run.token is None:
            raise ConflictError("Nothing is reported on this run: its job's completion is not async.")
        goes_on = run.state in _GOING_ON and not run.is_ending
        if not goes_on and not was_said(run):
            _refuse(run, report)
        return run

    def _ended(self, run: Run, job: Job | None) -> Run:
        """The run with its end, which is now and is told of, kept for as long as its job asks."""
        now = self._clock.now()
        # An attempt may be on its way for so long, and has to find that the run is cancelled.
        needed_until = (run.next_attempt_at or 0) + TIMER_RETENTION_MS
        run = replace(run, ended_at=now, next_attempt_at=None, heartbeat_by=None, run_until=None)
        if job is None or job.uid != run.uid:
            return run
        if job.definition.on_complete is not None:
            self._queue.send([(notification_of(run), 0)])
        return replace(run, expires_at=max(now + job.definition.history_retention_ms, needed_until))


#: The states in which a consumer may have the trigger.
_GOING_ON: Final = ("claimed", "running")


def _is_of(run: Run, token: str) -> bool:
    return run.token is not None and hmac.compare_digest(run.token, token)


def _refuse(run: Run, report: str) -> NoReturn:
    state = "The attempt has failed" if run.is_ending else f"The run is {run.state}"
    if run.state == "cancelled" or report == "heartbeat":
        raise GoneError(f"{state}: stop.")
    raise ConflictError(f"{state} already: this report came too late.")


def _is_never_repeated(_: Run) -> bool:
    """A heartbeat says that the run goes on now: none was said before."""
    return False
