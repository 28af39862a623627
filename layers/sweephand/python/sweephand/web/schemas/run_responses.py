"""The responses that show runs, and triggers that have no run record yet."""

from typing import Annotated, Any, NotRequired

from typing_extensions import TypedDict  # pydantic asks for this one below Python 3.12

from sweephand.base.instants import rfc3339
from sweephand.model.run import Run, State
from sweephand.runs.pending import Pending, PendingState
from sweephand.web.http import json_text
from sweephand.web.schemas.formats import Time, about, time_or_none


class FailureResponse(TypedDict):
    """Why an attempt failed."""

    attempt: Annotated[int, about("The number of the attempt.")]
    reason: Annotated[str, about("The consumer's own reason, or a sentence that says what went wrong.")]
    responseCode: Annotated[int | None, about("The HTTP status. Null if there was no response.")]


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
    result: NotRequired[Annotated[Any, about("The JSON with which the consumer completed the run.")]]
    count: NotRequired[Annotated[int, about("How many skipped occurrences this record stands for.")]]
    lastDueAt: NotRequired[Annotated[Time, about("The due time of the last of these occurrences.")]]


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
        "startedAt": time_or_none(run.started_at),
        "endedAt": time_or_none(run.ended_at),
        "latenessMs": run.lateness_ms,
        "nextAttemptAt": time_or_none(run.next_attempt_at),
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
    return response


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
