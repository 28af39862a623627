"""Callbacks for a run: those of the consumer that has accepted it, and the cancellation by a person.

The run keeps what the consumer says, without the secrets that the consumer was sent.
"""

import hmac
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, NoReturn

from sweephand.access.authentication import without_run_tokens
from sweephand.base.errors import ConflictError, GoneError, NotFoundError, UnavailableError
from sweephand.base.instants import Instant
from sweephand.base.limits import REASON_LENGTH_MAX, RESULT_BYTES_MAX
from sweephand.base.timing import API_LIMIT_MS, DEADLINE_GRACE_MS
from sweephand.flow.gates import Gates
from sweephand.jobs.expiry import JobExpiry
from sweephand.model.batch_mark import mark_of
from sweephand.model.job import Job, JobKey
from sweephand.model.policy_names import LANE_DEFAULT
from sweephand.model.run import Run, trigger_of
from sweephand.model.trigger import DeadlineMessage, Failure, FailureMessage
from sweephand.ports.clock import Clock, Ids
from sweephand.ports.jobs import JobStore
from sweephand.ports.queue import Queue
from sweephand.ports.runs import RunStore
from sweephand.runs.attempt import DefaultTarget, Signing
from sweephand.runs.batch_progress import BatchProgress
from sweephand.runs.notification import notification_of, notifies_of
from sweephand.runs.overlap_queue import OverlapQueue
from sweephand.targets.http_headers import secret_headers
from sweephand.targets.registry import secret_refs, stands_for_default

if TYPE_CHECKING:
    # Most callbacks have neither a result nor a reason.
    from sweephand.access.repeated_secrets import RepeatedSecrets
    from sweephand.model.secret import ReadValues
_HIDDEN_RESULT: Final = '"[secret]"'


class RunSecrets:
    """Hides the secrets of a job's target, as they are now, and run tokens. Threads may share an object.

    StoreError if the secrets cannot be read.
    """

    def __init__(self, *, signing: Signing, read: "ReadValues", default_target: DefaultTarget) -> None:
        self._signing = signing
        self._read = read
        self._default_target = default_target

    def hidden_in_json(self, text: str, run: Run, job: Job | None) -> str:
        """A result as a run may keep it: a JSON text of at most RESULT_BYTES_MAX.

        `[secret]` can be longer than the secret. A result that grows beyond the limit is hidden as a whole.
        """
        shown = without_run_tokens(self._known(run, job).hidden_in_json(text))
        return shown if len(shown.encode()) <= RESULT_BYTES_MAX else _HIDDEN_RESULT

    def hidden_in(self, text: str, run: Run, job: Job | None) -> str:
        """Any other text as a run may keep it."""
        return without_run_tokens(self._known(run, job).hidden_in(text))

    def _known(self, run: Run, job: Job | None) -> "RepeatedSecrets":
        from sweephand.access.repeated_secrets import RepeatedSecrets  # noqa: PLC0415 - as above

        namespace = run.key.namespace
        known = [*self._signing.active(namespace), *([run.token] if run.token else [])]
        spec = None if job is None else job.definition.target
        if spec is not None and stands_for_default(spec):
            spec = self._default_target(namespace, spec)
        if spec is not None:
            known += secret_headers(spec.get("headers"))
            names = {each.name for each in secret_refs(spec)}
            read = self._read(namespace, names) if names else {}
            known += (value for values in read.values() for value in values)
        return RepeatedSecrets(known)


#: How often a run is read and written until no other writer came between. A heartbeat and a deadline come
#: between at most once.
_READS_MAX: Final = 5

_NOT_CURRENT: Final = (
    "No attempt that is under way has this token: the attempt has failed, or there is no such run. Stop."
)


class Callbacks:
    """Handles callbacks. Each has the token of its attempt, or None if the caller's key may write the job.

    Each method returns the run as it is afterwards. Errors:

    - NotFoundError: there is no such run.
    - GoneError: the token is not that of the latest attempt, the run was cancelled, or `maxRunTime` is over.
      The consumer should stop.
    - ConflictError: the callback came too late, or the run takes no callbacks.
    - UnavailableError: nothing changed; the caller should ask again.
    """

    def __init__(
        self,
        *,
        jobs: JobStore,
        runs: RunStore,
        overlap_queue: OverlapQueue,
        expiry: JobExpiry,
        flow: Gates,
        progress: BatchProgress,
        secrets: RunSecrets,
        queue: Queue,
        clock: Clock,
        ids: Ids,
    ) -> None:
        self._overlap_queue = overlap_queue
        self._flow = flow
        self._jobs = jobs
        self._runs = runs
        self._queue = queue
        self._expiry = expiry
        self._progress = progress
        self._secrets = secrets
        self._clock = clock
        self._ids = ids

    def heartbeat(self, key: JobKey, run_id: str, token: str | None) -> Run:
        """Record that the consumer is still working.

        Its next callback may now come one heartbeat time-out later. GoneError for a run that is over,
        whatever its state.
        """

        def extended(run: Run) -> Run:
            # Before the acceptance is recorded there is no deadline. The record of it starts the heartbeat's
            # time-out.
            if run.state != "running" or run.heartbeat_ms is None or run.heartbeat_by is None:
                return run
            return replace(run, heartbeat_by=max(run.heartbeat_by, self._clock.now() + run.heartbeat_ms))

        read = partial(self._read_for_callback, key, run_id, token, "heartbeat", _is_never_repeated)
        return self._change(read, extended)

    def complete(self, key: JobKey, run_id: str, token: str | None, *, result: str | None = None) -> Run:
        """Record that the run has succeeded, with that JSON text as its result. Repeating the call is safe.

        The result is kept without the secrets that it repeats. ConflictError also for a repetition with
        another result.
        """

        def shown(run: Run, job: Job | None) -> str | None:
            return None if result is None else self._secrets.hidden_in_json(result, run, job)

        def succeeded(run: Run, job: Job | None) -> Run:
            if run.state == "succeeded":
                return run
            if run.permit is not None:
                # The check of its deadline would give the slot back, and can be days ahead.
                self._check_later(run, job)
            return self._with_end(replace(run, state="succeeded", result=shown(run, job)), job)

        def is_repetition(run: Run) -> bool:
            if run.state != "succeeded" or result is None:
                return run.state == "succeeded"
            return run.result in (result, shown(run, self._jobs.get(run.key)))

        read = partial(self._read_for_callback, key, run_id, token, "complete", is_repetition)
        return self._end(read, succeeded)

    def fail(self, key: JobKey, run_id: str, token: str | None, *, reason: str, is_final: bool) -> Run:
        """Record that the attempt has failed.

        The retry policy decides what follows, unless the failure `is_final`. The failure is recorded at once,
        and no later callback changes it. The state changes a moment later, when the delivery function has
        sent the retry or given up. Repeating the call is safe. ConflictError also for a repetition with
        another reason or another `is_final`. The reason is kept without the secrets that it repeats.
        """

        def failure_of(run: Run) -> Failure:
            shown = self._secrets.hidden_in(reason, run, self._jobs.get(run.key))
            return Failure(run.attempts, shown[:REASON_LENGTH_MAX], is_final=is_final)

        def failing(run: Run) -> Run:
            failure = failure_of(run)
            if run.last_failure == failure:
                return run
            now = self._clock.now()
            # Send first. If the write is then refused, another callback was faster, and the handler of the
            # message finds that out.
            report = FailureMessage(
                trigger_of(run), run.attempts, failure.reason, is_final, now, permit=run.permit
            )
            self._queue.send([(report, 0)])
            return replace(run, ended_at=now, last_failure=failure)

        def is_repetition(run: Run) -> bool:
            return run.last_failure == failure_of(run)

        return self._change(
            partial(self._read_for_callback, key, run_id, token, "fail", is_repetition), failing
        )

    def cancel(self, key: JobKey, run_id: str, who: str) -> Run:
        """End a run that its consumer works on or that is to be retried.

        `who` is the name of the caller's key. ConflictError for a run that is cancelled already. Even
        then the line is advanced again, because the invocation that cancelled the run may have crashed before
        it did so. If nobody repeats the call, a check does so half a minute later.
        """
        was_cancelled = False

        def read() -> Run:
            run = self._runs.get(key, run_id)
            if run is None:
                raise NotFoundError(f"The job {key.name} has no record of a run {run_id}.")
            if run.state not in ("running", "retrying", "cancelled"):
                raise ConflictError(not_cancelled(run.state))
            if run.is_ending:
                raise ConflictError("The attempt of this run has just failed. Ask again in a moment.")
            return run

        def cancelled(run: Run, job: Job | None) -> Run:
            nonlocal was_cancelled
            was_cancelled = run.state == "cancelled"
            if was_cancelled:
                return run
            self._check_later(run, job)
            return self._with_end(
                replace(run, state="cancelled", reason=f"Cancelled with the key {who}."), job
            )

        run = self._end(read, cancelled)
        if was_cancelled:
            raise ConflictError("The run is cancelled already.")
        return run

    def _check_later(self, run: Run, job: Job | None) -> None:
        """Send a check that does what follows a cancellation if this function crashes before it has done so.

        Nothing else does so soon: the run's retry can be days ahead, or wait in a line. The check comes when
        this request is over.
        """
        assert run.owner is not None, "a record has an author"
        check = DeadlineMessage(
            trigger_of(run),
            run.attempts,
            run.owner,
            0 if job is None else job.shard,
            self._clock.now() + API_LIMIT_MS + DEADLINE_GRACE_MS,
            permit=run.permit,
            lane=LANE_DEFAULT if job is None else job.definition.priority,
        )
        self._queue.send([(check, API_LIMIT_MS + DEADLINE_GRACE_MS)])

    def _end(self, read: Callable[[], Run], change: Callable[[Run, Job | None], Run]) -> Run:
        """Write the end of a run, and do what follows it. A repetition does so again.

        What follows: the job's line advances, the permit is free, the job may expire, and the progress of the
        run's batch shows the end.
        """
        job: Job | None = None

        def changed(seen: Run) -> Run:
            nonlocal job
            job = self._jobs.get(seen.key)
            return change(seen, job)

        run = self._change(read, changed)
        self._overlap_queue.advance(trigger_of(run))
        self._expiry.ended(job)
        if run.permit is not None:
            self._flow.end_run(run.key, run.permit)
        mark = mark_of(run)
        for error in self._progress.record([mark] if mark else []).values():
            raise error
        return run

    def _change(self, read: Callable[[], Run], change: Callable[[Run], Run]) -> Run:
        """Read a run and write the changed run, until no other writer came between."""
        for _ in range(_READS_MAX):
            seen = read()
            changed = change(seen)
            if changed is seen:
                return seen
            written = replace(changed, version=self._ids.token())
            if self._runs.move(written, seen):
                return written
        raise UnavailableError("Other requests keep changing this run. This one changed nothing. Ask again.")

    def _read_for_callback(
        self, key: JobKey, run_id: str, token: str | None, callback: str, is_repetition: Callable[[Run], bool]
    ) -> Run:
        """The run, if this callback may be made now, or was made already."""
        run = self._runs.get(key, run_id)
        if token is None and run is None:
            raise NotFoundError(f"The job {key.name} has no record of a run {run_id}.")
        if run is None or (token is not None and not _is_of(run, token)):
            # A caller without a valid token must not learn whether there is such a run.
            raise GoneError(_NOT_CURRENT)
        if run.token is None:
            raise ConflictError(
                "This run takes no callbacks, because the completion of its job is not async."
            )
        goes_on = run.state in _GOING_ON and not run.is_ending
        if goes_on and _has_run_too_long(run, self._clock.now()):
            # The check of its deadline is late. The attempt counts as failed all the same.
            raise GoneError("maxRunTime is over, so the attempt counts as failed: stop.")
        if not goes_on and not is_repetition(run):
            _refuse(run, callback)
        return run

    def _with_end(self, run: Run, job: Job | None) -> Run:
        """The run as ended now, to be kept for as long as its job asks.

        The job's notification is sent before.
        """
        now = self._clock.now()
        run = replace(run, ended_at=now, next_attempt_at=None, heartbeat_by=None, run_until=None)
        if job is None or job.uid != run.uid:
            return run
        if notifies_of(run, job):
            self._queue.send([(notification_of(run, now), 0)])
        # A retry may be on its way until the record would have expired, and must find that the run is over.
        return replace(run, expires_at=max(now + job.definition.history_retention_ms, run.expires_at or 0))


def not_cancelled(state: str) -> str:
    """Why a run in that state is not cancelled."""
    return f"The run is {state}. Only a run that is running or retrying can be cancelled."


#: The states in which a consumer may be working on the trigger.
_GOING_ON: Final = ("claimed", "running")


def _is_of(run: Run, token: str) -> bool:
    return run.token is not None and hmac.compare_digest(run.token, token)


def _has_run_too_long(run: Run, now: Instant) -> bool:
    """Whether `maxRunTime` is over by every clock that writes deadlines."""
    return run.state == "running" and run.run_until is not None and now >= run.run_until + DEADLINE_GRACE_MS


def _refuse(run: Run, callback: str) -> NoReturn:
    state = "The attempt has failed" if run.is_ending else f"The run is {run.state}"
    if run.state == "cancelled" or callback == "heartbeat":
        raise GoneError(f"{state}: stop.")
    raise ConflictError(f"{state} already. This callback came too late.")


def _is_never_repeated(_: Run) -> bool:
    """False: each heartbeat extends the time of the run, so none repeats an earlier one."""
    return False
