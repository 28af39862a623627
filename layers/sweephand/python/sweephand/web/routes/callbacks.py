"""The callbacks of a consumer for a run that it has accepted, and the operation that cancels a run."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from sweephand.access.run_token import sent_run_token
from sweephand.base.errors import ConflictError, NotFoundError, Violation
from sweephand.base.instants import Instant
from sweephand.base.limits import RESULT_BYTES_MAX
from sweephand.model.run_id import is_exempt_from_pause, parse_run_name
from sweephand.runs.callbacks import Callbacks, not_cancelled
from sweephand.web.http import json_text
from sweephand.web.http.operation import (
    Accepts,
    NoQuery,
    Operation,
    ParsedBody,
    Reply,
    Request,
    Returns,
)
from sweephand.web.routes.runs import RUN_PATH, find_pending
from sweephand.web.schemas.run_responses import (
    CallbackResponse,
    RunResponse,
    callback_response,
    run_response,
)
from sweephand.web.schemas.shapes import body_reader, check
from sweephand.web.schemas.verb_requests import CompletionRequest, FailureRequest
from sweephand.web.services import Services


def _read_completion(document: Mapping[str, Any], _: Services, __: Instant) -> ParsedBody[str | None]:
    """The JSON text of the result, as Sweephand keeps it. None if the caller sent no result."""
    violations = check(CompletionRequest, dict.fromkeys(document))[1]
    if violations or "result" not in document:
        return ParsedBody(None, tuple(violations))
    text = json_text.write(document["result"])
    return ParsedBody(text, tuple(_result_violations(text)))


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
    return Reply(200, callback_response(run))


@partial(
    Operation,
    method="POST",
    path=RUN_PATH + "/complete",
    tag="Runs",
    access="callback",
    about=_TOKEN,
    accepts=Accepts(
        CompletionRequest,
        _read_completion,
        {"with a result": {"result": {"rows": 1204}}},
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
    return Reply(200, callback_response(run))


@partial(
    Operation,
    method="POST",
    path=RUN_PATH + "/fail",
    tag="Runs",
    access="callback",
    about=_TOKEN,
    accepts=Accepts(
        FailureRequest,
        body_reader(FailureRequest),
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
    return Reply(202, callback_response(run))


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
    The answer to this call is 409 if the run is over (or already cancelled), if a request to the consumer is
    under way, or if the run is `scheduled`, `enqueued` or `waiting`: then a pause of its job holds it back,
    and a deletion of its job drops it. A pause does not hold back a run by hand or of a backfill.
    """
    callbacks: Callbacks = services.callbacks
    run_id = _run_id(request)
    try:
        run = callbacks.cancel(request.key, run_id, request.caller.key_id)
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


def _result_violations(text: str) -> list[Violation]:
    """The violation of a result that is too large, as compact JSON; empty if it can be kept."""
    size = len(text.encode())
    if size <= RESULT_BYTES_MAX:
        return []
    most = f"Give at most {RESULT_BYTES_MAX} (resultBytesMax)."
    return [Violation("/result", f"Has {size} bytes as compact JSON. {most}")]
