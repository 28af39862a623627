"""The responses that show jobs, runs, and triggers that have no run record yet."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from pydantic.fields import FieldInfo
from typing_extensions import TypedDict  # pydantic asks for this one below Python 3.12

from sweephand.base.instants import Instant, rfc3339, rfc3339_or_none
from sweephand.base.limits import ATTEMPT_TEXT_MAX, ATTEMPTS_KEPT
from sweephand.jobs.fields.registry import FIELDS
from sweephand.jobs.policy_check import PolicyBlock
from sweephand.jobs.read import JobState, View
from sweephand.model.api_key import Caller
from sweephand.model.definition import TARGET_FIELDS, CatchUpMode, OverlapMode
from sweephand.model.job import PauseEnd
from sweephand.model.policy_names import Priority
from sweephand.model.run import Run, State
from sweephand.runs.health import HEALTH_RUNS_MAX, Health
from sweephand.runs.pending import Pending, PendingState
from sweephand.targets.registry import with_hidden_values
from sweephand.web.http import json_text
from sweephand.web.schemas.formats import NextCursor, Time, about


class FailureResponse(TypedDict):
    """Why an attempt failed."""

    attempt: Annotated[int, about("The number of the attempt.")]
    reason: Annotated[str, about("The consumer's own reason, or a sentence that says what went wrong.")]
    responseCode: Annotated[int | None, about("The HTTP status. Null if there was no response.")]


class AttemptResponse(TypedDict):
    """An attempt of a run."""

    attempt: Annotated[int, about("The number of the attempt.")]
    startedAt: Annotated[Time, about("When it began.")]
    durationMs: Annotated[
        int | None, about("Milliseconds from then to its result. Null while it is under way.")
    ]
    responseCode: Annotated[int | None, about("The HTTP status. Null if there was no response.")]
    answer: Annotated[
        str | None,
        about(f"The first {ATTEMPT_TEXT_MAX} characters of its response, or else of why it failed."),
    ]


class RunResponse(TypedDict):
    """The record of delivering one trigger."""

    id: Annotated[
        str,
        about(
            "The run's name within its job: due time in epoch ms, and index. The name of a run "
            "on demand begins with `manual-`, `backfill-` or `chained-` and ends with a token."
        ),
    ]
    triggerId: Annotated[str, about("The id by which the consumer recognizes duplicates (`webhook-id`).")]
    state: Annotated[
        State | PendingState,
        about(
            "The state of the run. A trigger that has no record yet is `scheduled`, `enqueued` or `waiting`."
        ),
    ]
    dueAt: Annotated[Time, about("The due time of the trigger.")]
    sequence: Annotated[
        int, about("The number of the occurrence within the series. 0 for a trigger on demand.")
    ]
    attempts: Annotated[int, about("How many attempts have begun.")]
    startedAt: Annotated[Time | None, about("When the first attempt began. Null before that.")]
    endedAt: Annotated[Time | None, about("When the run ended. Null before that.")]
    latenessMs: Annotated[int | None, about("Milliseconds from the due time to the first attempt's request.")]
    nextAttemptAt: Annotated[Time | None, about("When the next attempt is due, while the run is `retrying`.")]
    heartbeatBy: NotRequired[Annotated[Time, about("The consumer must send the next callback by this time.")]]
    runUntil: NotRequired[Annotated[Time, about("The run must be over by this time.")]]
    responseCode: Annotated[
        int | None, about("The HTTP status of the last response. Null if there was none.")
    ]
    answer: Annotated[str | None, about("The first 512 bytes of the last response.")]
    reason: Annotated[
        str | None,
        about("Why the run failed (unless a response says so) or was skipped, or what it waits for."),
    ]
    skippedFor: NotRequired[
        Annotated[str, about("The run that was not over, if the run was skipped for another one.")]
    ]
    policy: NotRequired[
        Annotated[str, about("The flow policy for which the trigger waits. Other runs do not have it.")]
    ]
    lastFailure: NotRequired[
        Annotated[
            FailureResponse, about("The latest attempt that failed. It stays if a later attempt succeeds.")
        ]
    ]
    attemptHistory: NotRequired[
        Annotated[
            list[AttemptResponse],
            about(
                f"The last {ATTEMPTS_KEPT} attempts that failed, oldest first, and the latest one if it has "
                "not failed. Only the answer about one run has this field."
            ),
        ]
    ]
    result: NotRequired[Annotated[Any, about("The JSON with which the consumer completed the run.")]]
    count: NotRequired[Annotated[int, about("How many skipped occurrences this record stands for.")]]
    lastDueAt: NotRequired[Annotated[Time, about("The due time of the last of these occurrences.")]]
    traceparent: NotRequired[
        Annotated[str, about("The trace context of the latest attempt, if a request with one asked for it.")]
    ]
    traceOrigin: NotRequired[Annotated[str, about("The trace context to which the latest attempt links.")]]


class NamespaceRunResponse(RunResponse):
    """A run, with the name of its job."""

    job: Annotated[str, about("The name of the job.")]


def run_response(run: Run) -> RunResponse:
    """A run as a response shows it."""
    response: RunResponse = {
        "id": run.run_id,
        "triggerId": run.trigger_id,
        "state": run.state,
        "dueAt": rfc3339(run.due_at),
        "sequence": run.sequence,
        "attempts": run.attempts,
        "startedAt": rfc3339_or_none(run.started_at),
        "endedAt": rfc3339_or_none(run.ended_at),
        "latenessMs": run.lateness_ms,
        "nextAttemptAt": rfc3339_or_none(run.next_attempt_at),
        "responseCode": run.response_code,
        "answer": run.answer,
        "reason": run.reason,
    }
    if run.skipped_for is not None:
        response["skippedFor"] = run.skipped_for
    if run.last_due_at is not None:
        response |= {"count": run.count, "lastDueAt": rfc3339(run.last_due_at)}
    if run.state == "running" and run.heartbeat_by is not None and run.run_until is not None:
        response |= {"heartbeatBy": rfc3339(run.heartbeat_by), "runUntil": rfc3339(run.run_until)}
    if run.last_failure is not None:
        attempt, reason, code, _ = run.last_failure
        response["lastFailure"] = {"attempt": attempt, "reason": reason, "responseCode": code}
    if run.result is not None:
        response["result"] = json_text.raw(run.result)
    traceparent, link = run.context
    if traceparent is not None:
        response["traceparent"] = traceparent
    if link is not None:
        response["traceOrigin"] = link
    return response


def whole_run_response(run: Run) -> RunResponse:
    """A run that was read alone, with its attempts."""
    attempts = [*(_attempt(*each) for each in run.failed_attempts), *_other_attempt(run)]
    return {**run_response(run), "attemptHistory": attempts}


def _other_attempt(run: Run) -> list[AttemptResponse]:
    """The latest attempt of a run, unless it failed, was not made, or began at an unknown time."""
    began_at = run.attempt_began_at
    if run.state not in ("claimed", "running", "succeeded") or began_at is None:
        return []
    if run.failed_attempts and run.failed_attempts[-1].attempt == run.attempts:
        return []
    took_ms = None if run.ended_at is None else max(0, run.ended_at - began_at)
    return [_attempt(run.attempts, began_at, took_ms, run.response_code, run.answer)]


def _attempt(
    number: int, began_at: Instant, took_ms: int | None, code: int | None, answer: str | None
) -> AttemptResponse:
    return {
        "attempt": number,
        "startedAt": rfc3339(began_at),
        "durationMs": took_ms,
        "responseCode": code,
        "answer": answer[:ATTEMPT_TEXT_MAX] if answer else None,
    }


def namespace_run_response(run: Run) -> NamespaceRunResponse:
    """A run as a list of all jobs' runs shows it."""
    return {"job": run.key.name, **run_response(run)}


def pending_run_response(pending: Pending) -> RunResponse:
    """A trigger without a run record, as a response shows it: in the form of its future run."""
    response: RunResponse = {
        "id": pending.run_id,
        "triggerId": pending.trigger_id,
        "state": pending.state,
        "dueAt": rfc3339(pending.due_at),
        "sequence": pending.sequence,
        "attempts": 0,
        "startedAt": None,
        "endedAt": None,
        "latenessMs": None,
        "nextAttemptAt": None,
        "responseCode": None,
        "answer": None,
        "reason": pending.reason,
    }
    if pending.policy is not None:
        response["policy"] = pending.policy
    return response


#: Replaces a secret value of a target in the response to a caller that may only read.
HIDDEN = "(hidden)"

_MEANINGS = {each.name: each.meaning for each in FIELDS}


def _as_written(name: str) -> FieldInfo:
    """A field that the response shows as the caller wrote it. Its description is that of the request."""
    shown: FieldInfo = Field(description=_MEANINGS[name])
    return shown


class OutcomeResponse(TypedDict):
    """The state of a recent run."""

    id: Annotated[str, about("The run's name within its job.")]
    state: Annotated[State, about("The state of the run.")]


class JobHealthResponse(TypedDict):
    """How a job does, by its newest runs that have a record."""

    failing: Annotated[bool, about("Whether `failuresInARow` is over 0.")]
    failuresInARow: Annotated[
        int,
        about(
            "How many of `runs` are newer than the newest success, and failed or are being retried. If all "
            "ten are, there may be more before them."
        ),
    ]
    runs: Annotated[
        list[OutcomeResponse],
        about(f"The runs of the newest due times, newest first: up to {HEALTH_RUNS_MAX}."),
    ]


class JobResponse(TypedDict):
    """A job as a list shows it: the fields that the caller wrote, and those that Sweephand sets."""

    namespace: Annotated[str, about("The namespace of the job.")]
    name: Annotated[str, about("The job's name, unique within its namespace.")]
    rev: Annotated[str, about("The revision. The `ETag` header shows it too.")]
    state: Annotated[JobState, about("`active`, `paused`, or `completed`: no due time is left.")]
    nextRun: Annotated[
        Time | None,
        about("The next due time from now on. Null if there is none, and while the job is paused."),
    ]
    pausedAt: NotRequired[
        Annotated[Time, about("When the job was paused. Only a paused job has this field.")]
    ]
    pauseReason: NotRequired[Annotated[str, about("Why the job was paused, if the caller gave a reason.")]]
    pausedUntil: NotRequired[Annotated[Time, about("When Sweephand resumes the job, if a caller said so.")]]
    resumeCatchup: NotRequired[
        Annotated[CatchUpMode, about("The `catchup` of that resume, if the caller gave one.")]
    ]
    onDemand: NotRequired[
        Annotated[
            Literal[True],
            about(
                "The job has neither schedule nor dueTime: it fires only on demand or in a "
                "chain. Other jobs do not have this field."
            ),
        ]
    ]
    createdAt: Annotated[Time, about("When the job was created.")]
    updatedAt: Annotated[Time, about("When the job was last written, paused or resumed.")]
    owner: Annotated[
        str, about("The id of the key that created the job, or the stack and resource of a template.")
    ]
    expiresAt: NotRequired[
        Annotated[Time, about("When Sweephand deletes the job. Shown once the end of its series is known.")]
    ]
    schedule: NotRequired[Annotated[Any, about("The schedule as the caller wrote it: text, object or list.")]]
    timezone: NotRequired[Annotated[str, _as_written("timezone")]]
    dueTime: NotRequired[Annotated[str, _as_written("dueTime")]]
    ttl: NotRequired[Annotated[str, _as_written("ttl")]]
    repeats: NotRequired[Annotated[int, _as_written("repeats")]]
    dst: NotRequired[Annotated[dict[str, str], _as_written("dst")]]
    jitter: NotRequired[Annotated[str, _as_written("jitter")]]
    calendar: NotRequired[Annotated[dict[str, str], _as_written("calendar")]]
    target: Annotated[dict[str, Any], _as_written("target")]
    retry: NotRequired[Annotated[dict[str, Any], _as_written("retry")]]
    batch: NotRequired[Annotated[dict[str, Any], _as_written("batch")]]
    overlap: NotRequired[Annotated[OverlapMode, _as_written("overlap")]]
    waitLimit: NotRequired[Annotated[int, _as_written("waitLimit")]]
    catchup: NotRequired[Annotated[dict[str, str], _as_written("catchup")]]
    deadLetterQueue: NotRequired[Annotated[str, _as_written("deadLetterQueue")]]
    history: NotRequired[Annotated[Literal["outcome", "full", "failures"], _as_written("history")]]
    completion: NotRequired[Annotated[Literal["sync", "async"], _as_written("completion")]]
    onComplete: NotRequired[Annotated[dict[str, Any], _as_written("onComplete")]]
    heartbeatTimeout: NotRequired[Annotated[str, _as_written("heartbeatTimeout")]]
    maxRunTime: NotRequired[Annotated[str, _as_written("maxRunTime")]]
    alertAfter: NotRequired[Annotated[str, _as_written("alertAfter")]]
    onAlert: NotRequired[Annotated[dict[str, Any], _as_written("onAlert")]]
    onError: NotRequired[Annotated[Literal["continue", "pause"], _as_written("onError")]]
    historyRetention: NotRequired[Annotated[str, _as_written("historyRetention")]]
    retention: NotRequired[Annotated[str, _as_written("retention")]]
    deleteAfterCompletion: NotRequired[Annotated[bool, _as_written("deleteAfterCompletion")]]
    policy: NotRequired[Annotated[str, _as_written("policy")]]
    priority: NotRequired[Annotated[Priority, _as_written("priority")]]
    labels: NotRequired[Annotated[dict[str, str], _as_written("labels")]]
    description: NotRequired[Annotated[str, _as_written("description")]]
    health: NotRequired[Annotated[JobHealthResponse, about("How the job does, if the call asks for it.")]]


class WholeJobResponse(JobResponse):
    """A job with its data, its last run and the state of its policy."""

    data: NotRequired[Annotated[Any, _as_written("data")]]
    policyBlock: NotRequired[
        Annotated[
            PolicyBlock,
            about(
                "Why the job's policy lets no trigger through, so that all of them wait. "
                "`paused`: the policy is paused. Resume it, or let the job leave it. "
                "`broken`: the consumer is out of order, and the breaker of the policy is open. "
                "`missing`: no policy of that name is stored. Create it, or let the job leave it. "
                "`off`: flow policies are off in the stack. Left out if the policy is in force, or if the "
                "job has none."
            ),
        ]
    ]
    lastRun: Annotated[RunResponse | None, about("The run of the newest due time; null if there is none.")]


class JobPage(TypedDict):
    """A page of jobs in the order of their names. It has a `nextCursor` if there may be more."""

    items: Annotated[list[JobResponse], about("The jobs, in the order of their names.")]
    nextCursor: NotRequired[NextCursor]


def job_response(view: View, caller: Caller) -> JobResponse:
    """A job as a list shows it.

    For a caller that may only read, HIDDEN replaces the secret values of its targets.
    """
    job = view.job
    written = dict(job.definition.written)
    if not caller.may("write"):
        written |= {
            name: with_hidden_values(written[name], HIDDEN) for name in TARGET_FIELDS if name in written
        }
    shown: Any = {
        "namespace": job.key.namespace,
        "name": job.key.name,
        "rev": job.rev,
        "state": view.state,
        "nextRun": rfc3339_or_none(view.next_run_at),
        **({"onDemand": True} if job.series.is_on_demand else {}),
        "createdAt": rfc3339(job.created_at),
        "updatedAt": rfc3339(job.updated_at),
        "owner": job.owner,
        **({} if job.paused_at is None else {"pausedAt": rfc3339(job.paused_at)}),
        **({} if job.pause_reason is None else {"pauseReason": job.pause_reason}),
        **_pause_end(job.pause_end),
        **({} if job.expires_at is None else {"expiresAt": rfc3339(job.expires_at)}),
        **written,
    }
    resource: JobResponse = shown
    return resource


def health_response(health: Health) -> JobHealthResponse:
    """The health of a job as responses show it."""
    return {
        "failing": bool(health.failures),
        "failuresInARow": len(health.failures),
        "runs": [{"id": each.run_id, "state": each.state} for each in health.runs],
    }


def _pause_end(end: PauseEnd | None) -> dict[str, str]:
    if end is None:
        return {}
    return {"pausedUntil": rfc3339(end.at), **({} if end.mode is None else {"resumeCatchup": end.mode})}


def whole_job_response(view: View, caller: Caller) -> WholeJobResponse:
    """A job that was read alone. Its data has the bytes that consumers get."""
    payload = view.job.definition.payload
    data = {} if payload is None or payload.text is None else {"data": json_text.raw(payload.text)}
    last = None if view.last_run is None else run_response(view.last_run)
    block = {} if view.policy_block is None else {"policyBlock": view.policy_block}
    shown: Any = {**job_response(view, caller), **data, **block, "lastRun": last}
    resource: WholeJobResponse = shown
    return resource
