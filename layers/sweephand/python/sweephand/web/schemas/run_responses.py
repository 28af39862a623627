"""What callers are shown of runs, of those to come among them."""

from typing import Annotated, Any, NotRequired

from pydantic import Field, WithJsonSchema
from typing_extensions import TypedDict  # pydantic asks for this one below Python 3.12

from sweephand.base.instants import Instant, rfc3339
from sweephand.model.run import Run, State
from sweephand.runs.pending import Pending, PendingState
from sweephand.web.http import json_text

Time = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]

#: On every page of a list.
NextCursor = Annotated[
    str,
    Field(description="Give it as `cursor` for the next page. Left out of the last page."),
]


class FailureResponse(TypedDict):
    """Why an attempt failed."""

    attempt: Annotated[int, Field(description="The number of the attempt.")]
    reason: Annotated[str, Field(description="In a sentence: the consumer's own, or what went wrong.")]
    responseCode: Annotated[int | None, Field(description="The HTTP status, if there was a response.")]


class RunResponse(TypedDict):
    """The record of delivering one trigger."""

    id: Annotated[
        str,
        Field(
            description="The run's name within its job: due time in epoch ms, and index. The name of a run "
            "on demand "
            "begins with `manual-`, `backfill-` or `chained-` and ends with a token."
        ),
    ]
    triggerId: Annotated[str, Field(description="What the consumer deduplicates by (`webhook-id`).")]
    state: Annotated[
        State | PendingState,
        Field(
            description="The state of the run. A trigger that has no record yet is `scheduled`, `enqueued` "
            "or `waiting`."
        ),
    ]
    dueAt: Annotated[Time, Field(description="When the trigger was or is due.")]
    sequence: Annotated[
        int, Field(description="The number of the occurrence within the series; 0 of a trigger by hand.")
    ]
    attempts: Annotated[int, Field(description="How many attempts have begun.")]
    startedAt: Annotated[Time | None, Field(description="When the first attempt began; null before.")]
    endedAt: Annotated[Time | None, Field(description="When the run was over; null before.")]
    latenessMs: Annotated[
        int | None, Field(description="Milliseconds from the due time to the first attempt's request.")
    ]
    nextAttemptAt: Annotated[
        Time | None, Field(description="When the next attempt is due, while the run is `retrying`.")
    ]
    heartbeatBy: NotRequired[Annotated[Time, Field(description="The consumer has to report until then.")]]
    runUntil: NotRequired[Annotated[Time, Field(description="The consumer has to be done until then.")]]
    responseCode: Annotated[
        int | None, Field(description="The HTTP status of the last response; null if there was none.")
    ]
    answer: Annotated[str | None, Field(description="The first 512 bytes of the last response.")]
    reason: Annotated[
        str | None,
        Field(
            description="Why the run failed, if no response says so; why it was skipped; or what it waits "
            "for."
        ),
    ]
    lastFailure: NotRequired[
        Annotated[
            FailureResponse,
            Field(description="The latest attempt that failed; it stays when a later one succeeds."),
        ]
    ]
    result: NotRequired[
        Annotated[Any, Field(description="The JSON that the consumer completed the run with.")]
    ]
    count: NotRequired[
        Annotated[int, Field(description="How many skipped occurrences this record stands for.")]
    ]
    lastDueAt: NotRequired[
        Annotated[Time, Field(description="The due time of the last of these occurrences.")]
    ]


class RunPage(TypedDict):
    """Some runs, newest due time first; `nextCursor` as long as there may be more."""

    items: Annotated[list[RunResponse], Field(description="The runs, newest due time first.")]
    nextCursor: NotRequired[NextCursor]


class RedriveResponse(TypedDict):
    """A run that is tried anew."""

    id: Annotated[str, Field(description="The run's name within its job.")]
    triggerId: Annotated[str, Field(description="What the consumer deduplicates by; it stays the same.")]
    attempt: Annotated[int, Field(description="The number of the attempt that comes next.")]


class CallbackResponse(TypedDict):
    """A run as its consumer is told of it."""

    id: Annotated[str, Field(description="The run's name within its job.")]
    state: Annotated[State, Field(description="The state of the run after the report.")]
    attempt: Annotated[int, Field(description="The number of the latest attempt.")]
    heartbeatBy: NotRequired[Annotated[Time, Field(description="The next report has to come until then.")]]
    runUntil: NotRequired[Annotated[Time, Field(description="The run has to be over until then.")]]


def run_response(run: Run) -> RunResponse:
    """A run's record."""
    shown: RunResponse = {
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
    if run.last_due_at is not None:
        shown |= {"count": run.count, "lastDueAt": rfc3339(run.last_due_at)}
    if run.state == "running" and run.heartbeat_by is not None and run.run_until is not None:
        shown |= {"heartbeatBy": rfc3339(run.heartbeat_by), "runUntil": rfc3339(run.run_until)}
    if run.last_failure is not None:
        attempt, reason, code, _ = run.last_failure
        shown["lastFailure"] = {"attempt": attempt, "reason": reason, "responseCode": code}
    if run.result is not None:
        shown["result"] = json_text.raw(run.result)
    return shown


def callback_response(run: Run) -> CallbackResponse:
    """What a consumer is told of the run that it reports on."""
    shown: CallbackResponse = {"id": run.run_id, "state": run.state, "attempt": run.attempts}
    if run.state == "running" and run.heartbeat_by is not None and run.run_until is not None:
        shown |= {"heartbeatBy": rfc3339(run.heartbeat_by), "runUntil": rfc3339(run.run_until)}
    return shown


def pending_run_response(pending: Pending) -> RunResponse:
    """A trigger to come, as its run will be."""
    return {
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


def time_or_none(instant: Instant | None) -> str | None:
    """RFC 3339, if there is an instant."""
    return None if instant is None else rfc3339(instant)
