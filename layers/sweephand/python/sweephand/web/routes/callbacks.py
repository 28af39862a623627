"""The callbacks of a consumer for a run that it has accepted, and the operation that cancels a run."""

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, Final, NotRequired

from pydantic import Field
from typing_extensions import TypedDict  # pydantic asks for this one below Python 3.12

from sweephand.access.authentication import sent_run_token
from sweephand.base import limits
from sweephand.base.errors import ConflictError, InvalidError, NotFoundError, Violation
from sweephand.base.instants import Instant, rfc3339
from sweephand.model.run import Run, State
from sweephand.model.run_id import is_exempt_from_pause, parse_run_name
from sweephand.runs.callbacks import not_cancelled
from sweephand.web.http import json_text
from sweephand.web.http.operation import Accepts, NoQuery, Operation, Reply, Request, Returns, Services
from sweephand.web.routes.runs import RUN_PATH, find_pending
from sweephand.web.schemas.formats import Time, about
from sweephand.web.schemas.responses import RunResponse, run_response
from sweephand.web.schemas.shapes import RequestBody, read_as


class CompletionRequest(RequestBody):
    """The callback that completes a run."""

    result: Any = Field(
        None,
        description=f"Any JSON up to {limits.RESULT_BYTES_MAX:,} bytes (resultBytesMax). Sweephand keeps it "
        "with the run and passes it to `onComplete`.",
    )


class FailureRequest(RequestBody):
    """The callback that fails an attempt."""

    reason: Annotated[str, Field(max_length=limits.REASON_LENGTH_MAX)] | None = Field(
        None, description=f"Why, for people: up to {limits.REASON_LENGTH_MAX} characters."
    )
    retry: bool | None = Field(
        None,
        description="Whether a retry may help; true by default. If false, Sweephand gives up the run.",
    )


class CallbackResponse(TypedDict):
    """The run in the response to a callback of its consumer."""

    id: Annotated[str, about("The run's name within its job.")]
    state: Annotated[State, about("The state of the run after the callback.")]
    attempt: Annotated[int, about("The number of the latest attempt.")]
    heartbeatBy: NotRequired[Annotated[Time, about("The consumer must send the next callback by this time.")]]
    runUntil: NotRequired[Annotated[Time, about("The run must be over by this time.")]]
    answeredAt: NotRequired[
        Annotated[Time, about("The stack's time, for a consumer whose clock shows another one.")]
    ]


def callback_response(run: Run, answered_at: Instant) -> CallbackResponse:
    """The response to a callback of a run's consumer."""
    response: CallbackResponse = {"id": run.run_id, "state": run.state, "attempt": run.attempts}
    if run.state == "running" and run.heartbeat_by is not None and run.run_until is not None:
        response |= {
            "heartbeatBy": rfc3339(run.heartbeat_by),
            "runUntil": rfc3339(run.run_until),
            "answeredAt": rfc3339(answered_at),
        }
    return response


def _read_completion(document: Mapping[str, Any], _: Services, __: Instant) -> str | None:
    """The JSON text of the result, as Sweephand keeps it. None if the caller sent no result."""
    read_as(CompletionRequest, dict.fromkeys(document))
    if "result" not in document:
        return None
    text = json_text.write(document["result"])
    size = len(text.encode())
    if size > limits.RESULT_BYTES_MAX:
        most = f"Give at most {limits.RESULT_BYTES_MAX} (resultBytesMax)."
        raise InvalidError([Violation("/result", f"Has {size} bytes as compact JSON. {most}")])
    return text


_TOKEN: Final = "Send the token of the attempt (`sweephand-run-token`) as the bearer token."  # noqa: S105 - the text is about a token
_PROBLEMS: Final = (404, 409, 410, 503)


@partial(
    Operation,
    method="POST",
    path=RUN_PATH + "/heartbeat",
    tag="Runs",
    access="callback",
    about=_TOKEN,
    returns={200: Returns("The deadlines of the next callback and of the run", CallbackResponse)},
    problems=_PROBLEMS,
)
def heartbeat_run(services: Services, request: Request[NoQuery, None]) -> Reply:
    """Heartbeat: report that a run is still in progress.

    If the answer is 410, the consumer has to stop: the run is cancelled, `maxRunTime` is over, or Sweephand
    has counted the attempt as failed.
    """
    run = services.callbacks.heartbeat(request.key, _run_id(request), _token(request))
    return Reply(200, callback_response(run, request.requested_at))


@partial(
    Operation,
    method="POST",
    path=RUN_PATH + "/complete",
    tag="Runs",
    access="callback",
    about=_TOKEN,
    accepts=Accepts(
        CompletionRequest,
        {"with a result": {"result": {"rows": 1204}}},
        _read_completion,
        required=False,
        limit="callbackBodyBytesMax",
    ),
    returns={200: Returns("The run has succeeded", CallbackResponse)},
    problems=_PROBLEMS,
)
def complete_run(services: Services, request: Request[NoQuery, str | None]) -> Reply:
    """Complete a run.

    Sweephand keeps the `result` with the run and passes it to `onComplete`. You can safely send the same
    callback again. 409 and 410 mean that the callback came too late (410 after `maxRunTime`), or that another
    callback came first.
    """
    run = services.callbacks.complete(request.key, _run_id(request), _token(request), result=request.body)
    return Reply(200, callback_response(run, request.requested_at))


@partial(
    Operation,
    method="POST",
    path=RUN_PATH + "/fail",
    tag="Runs",
    access="callback",
    about=_TOKEN,
    accepts=Accepts(
        FailureRequest,
        {"for good": {"reason": "The file to convert is not there.", "retry": False}},
        required=False,
        limit="callbackBodyBytesMax",
    ),
    returns={202: Returns("The attempt will count as failed", CallbackResponse)},
    problems=_PROBLEMS,
)
def fail_run(services: Services, request: Request[NoQuery, FailureRequest]) -> Reply:
    """Fail an attempt.

    Shortly afterwards the job's retry policy decides whether another attempt follows. You can safely send the
    same callback again. 409 and 410 mean that the callback came too late (410 after `maxRunTime`), or that
    another callback came first.
    """
    failure = request.body
    run = services.callbacks.fail(
        request.key,
        _run_id(request),
        _token(request),
        reason=failure.reason or "The consumer reported a failure.",
        is_final=failure.retry is False,
    )
    return Reply(202, callback_response(run, request.requested_at))


@partial(
    Operation,
    method="POST",
    path=RUN_PATH + "/cancel",
    tag="Runs",
    access="write",
    returns={200: Returns("The cancelled run", RunResponse)},
    problems=_PROBLEMS,
)
def cancel_run(services: Services, request: Request[NoQuery, None]) -> Reply:
    """Cancel a run.

    Cancels a run that is `running` or `retrying`. The answer to the consumer's next heartbeat is then 410.
    The answer to this call is 409 if the run is over (or already cancelled), or if a request to the consumer
    is under way. It is also 409 if the run is `scheduled`, `enqueued` or `waiting`. A pause of its job holds
    such a run back, and a deletion of its job drops it. A pause does not hold back a run by hand or of a
    backfill.
    """
    run_id = _run_id(request)
    try:
        run = services.callbacks.cancel(request.key, run_id, request.caller.key_id)
    except NotFoundError:
        _check_has_no_trigger(services, request, run_id)
        raise
    return Reply(200, run_response(run))


def _check_has_no_trigger(services: Services, request: Request[NoQuery, None], run_id: str) -> None:
    """Raise ConflictError if the trigger of a run without a record is still to be delivered.

    Most first attempts are made without a look at the record of their run. So a record would not stop them.
    """
    name = parse_run_name(run_id)
    coming = None if name is None else find_pending(services, request, name)
    if name is None or coming is None:
        return
    held = "" if is_exempt_from_pause(name.demand) else "a pause of its job holds it back, and "
    said = f"Until its first attempt begins, {held}a deletion of its job drops it."
    raise ConflictError(f"{not_cancelled(coming.state)} {said}")


def _run_id(request: Request[Any, Any]) -> str:
    run_id = request.path["runId"]
    if sent_run_token(request.headers.get("authorization")) is None and parse_run_name(run_id) is None:
        raise NotFoundError(f"The job {request.key.name} has no record of a run {run_id}.")
    return run_id


def _token(request: Request[Any, Any]) -> str | None:
    return sent_run_token(request.headers.get("authorization"))
