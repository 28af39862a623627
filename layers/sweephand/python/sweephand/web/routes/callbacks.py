"""The operations with which a consumer reports on a run that it has accepted, and the one that ends a run."""

from collections.abc import Mapping
from typing import Any, Final

from sweephand.access.run_token import sent_run_token
from sweephand.base.errors import NotFoundError, Violation
from sweephand.base.instants import Instant
from sweephand.base.limits import RESULT_BYTES_MAX
from sweephand.model.run_id import parse_run_name
from sweephand.runs.callbacks import Callbacks
from sweephand.web.http import json_text
from sweephand.web.http.operation import (
    Accepts,
    NoQuery,
    Operation,
    Parsed,
    Reply,
    Request,
    Returns,
)
from sweephand.web.routes.runs import RUN_PATH
from sweephand.web.schemas.run_responses import (
    CallbackResponse,
    RunResponse,
    callback_response,
    run_response,
)
from sweephand.web.schemas.shapes import check
from sweephand.web.schemas.verb_requests import CompletionRequest, FailureRequest
from sweephand.web.services import Services


def heartbeat(services: Services, request: Request[NoQuery, None]) -> Reply:
    """Take the heartbeat of a run."""
    run = services.callbacks.heartbeat(request.key, _run_id(request), _token(request))
    return Reply(200, callback_response(run))


def complete(services: Services, request: Request[NoQuery, str | None]) -> Reply:
    """Take it that a run is complete."""
    run = services.callbacks.complete(request.key, _run_id(request), _token(request), result=request.body)
    return Reply(200, callback_response(run))


def fail(services: Services, request: Request[NoQuery, FailureRequest]) -> Reply:
    """Take it that an attempt has failed."""
    said = request.body
    run = services.callbacks.fail(
        request.key,
        _run_id(request),
        _token(request),
        reason=said.reason or "Its consumer reported that it failed.",
        is_final=said.retry is False,
    )
    return Reply(202, callback_response(run))


def cancel(services: Services, request: Request[NoQuery, None]) -> Reply:
    """Cancel a run."""
    callbacks: Callbacks = services.callbacks
    run = callbacks.cancel(request.key, _run_id(request), request.caller.key_id)
    return Reply(200, run_response(run))


def _run_id(request: Request[Any, Any]) -> str:
    run_id = request.path["runId"]
    if sent_run_token(request.headers.get("authorization")) is None and parse_run_name(run_id) is None:
        raise NotFoundError(f"There is no record of a run {run_id} of a job {request.key.name}.")
    return run_id


def _token(request: Request[Any, Any]) -> str | None:
    return sent_run_token(request.headers.get("authorization"))


def _read_completion(document: Mapping[str, Any], _: Services, __: Instant) -> Parsed[str | None]:
    """The result as the JSON text that is kept of it, None if there is none."""
    violations = check(CompletionRequest, dict.fromkeys(document))[1]
    if violations or "result" not in document:
        return Parsed(None, tuple(violations))
    text = json_text.write(document["result"])
    size = len(text.encode())
    if size > RESULT_BYTES_MAX:
        detail = f"Has {size} bytes as compact JSON; at most {RESULT_BYTES_MAX} (resultBytesMax) are kept."
        return Parsed(None, (Violation("/result", detail),))
    return Parsed(text)


def _read_failure(document: Mapping[str, Any], _: Services, __: Instant) -> Parsed[FailureRequest]:
    found, violations = check(FailureRequest, json_text.with_plain_numbers(document))
    return Parsed(found, tuple(violations))


_TOKEN: Final = "Send the token that came with the attempt (`sweephand-run-token`) as the bearer."  # noqa: S105 - it is about one
_PROBLEMS: Final = (404, 409, 410, 503)

OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    Operation(
        method="POST",
        path=RUN_PATH + "/heartbeat",
        name="heartbeatRun",
        tag="Runs",
        access="callback",
        summary="Heartbeat: report that a run goes on",
        description=f"{_TOKEN} The answer 410 says stop: the run is cancelled, or the attempt has counted "
        "as failed.",
        run=heartbeat,
        returns={200: Returns("Until when the next report has to come", CallbackResponse)},
        problems=_PROBLEMS,
    ),
    Operation(
        method="POST",
        path=RUN_PATH + "/complete",
        name="completeRun",
        tag="Runs",
        access="callback",
        summary="Complete a run",
        description=f"{_TOKEN} Sweephand keeps a `result` with the run and hands it to `onComplete`. "
        "Sending the same report again is safe. 409 and 410 say that it came too late, or that another "
        "report was first.",
        run=complete,
        accepts=Accepts(
            CompletionRequest,
            _read_completion,
            {"with a result": {"result": {"rows": 1204}}},
            required=False,
        ),
        returns={200: Returns("The run has succeeded", CallbackResponse)},
        problems=_PROBLEMS,
    ),
    Operation(
        method="POST",
        path=RUN_PATH + "/fail",
        name="failRun",
        tag="Runs",
        access="callback",
        summary="Fail an attempt",
        description=f"{_TOKEN} A moment later the job's retry policy decides what follows. Sending the "
        "same report again is safe. 409 and 410 say that it came too late, or that another report was "
        "first.",
        run=fail,
        accepts=Accepts(
            FailureRequest,
            _read_failure,
            {"for good": {"reason": "The file to convert is not there.", "retry": False}},
            required=False,
        ),
        returns={202: Returns("The attempt will count as failed", CallbackResponse)},
        problems=_PROBLEMS,
    ),
    Operation(
        method="POST",
        path=RUN_PATH + "/cancel",
        name="cancelRun",
        tag="Runs",
        access="write",
        summary="Cancel a run",
        description="Cancels a run that is `running` or `retrying`. Its consumer learns of it by its next "
        "heartbeat. 409 if the run is over (also if it is cancelled already), or if an attempt is under "
        "way.",
        run=cancel,
        returns={200: Returns("The run, cancelled", RunResponse)},
        problems=_PROBLEMS,
    ),
)
