"""The bulk write of jobs. The API validates and writes each job as if the caller had sent it alone."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from sweephand.base.errors import (
    InvalidError,
    SweephandError,
    UnavailableError,
    Violation,
)
from sweephand.base.instants import Instant
from sweephand.base.limits import NAME_LENGTH_MAX
from sweephand.base.names import NAME_RULE, is_name
from sweephand.base.spelling import shortened
from sweephand.jobs.bulk_write import JobToWrite, Written
from sweephand.model.definition import Definition
from sweephand.model.job import JobKey
from sweephand.web.http import json_text, problems
from sweephand.web.http.operation import (
    Accepts,
    NoQuery,
    Operation,
    ParsedBody,
    Reply,
    Request,
    Returns,
)
from sweephand.web.routes.jobs import EXAMPLES
from sweephand.web.schemas.definition import read_definition
from sweephand.web.schemas.job_requests import BulkWriteRequest
from sweephand.web.schemas.responses import BulkWriteResponse, BulkWriteResult
from sweephand.web.schemas.shapes import check
from sweephand.web.services import Services

#: The length at which a result cuts a name that cannot be accepted.
_SHOWN_LENGTH_MAX: Final = 2 * NAME_LENGTH_MAX
_NO_TIME: Final = "The other jobs of this request took too long, so this job was not written. Send it again."


def _read_jobs(document: Mapping[str, Any], _: Services, __: Instant) -> ParsedBody[list[Any]]:
    body, violations = check(BulkWriteRequest, document)
    return ParsedBody(None if body is None else body.jobs, tuple(violations))


@partial(
    Operation,
    method="POST",
    path="/v1/namespaces/{namespace}/jobs",
    tag="Jobs",
    access="write",
    accepts=Accepts(
        BulkWriteRequest,
        _read_jobs,
        {"one job": {"jobs": [{"name": "hello", **EXAMPLES["in five seconds"]}]}},
        limit="bodyBytesMax",
    ),
    returns={200: Returns("The result of each job, in the order of the request", BulkWriteResponse)},
)
def put_jobs(services: Services, request: Request[NoQuery, list[Any]]) -> Reply:
    """Create or replace jobs in bulk.

    Writes up to {jobsPerBulkMax} jobs. The API validates and writes each job as a PUT does. A refused job
    does not stop the others. The JSON pointers in a problem are relative to its job.
    """
    seen: set[str] = set()
    entries = [_parse_or_refuse(services, request, document, seen) for document in request.body]
    # Each name occurs once, as BulkWriter asks.
    jobs = [each for each in entries if isinstance(each, JobToWrite)]
    written = iter(
        services.bulk_writer.put(jobs, caller=request.caller.key_id, requested_at=request.requested_at)
    )
    results = [_result(each, next(written)) if isinstance(each, JobToWrite) else each for each in entries]
    response: BulkWriteResponse = {"results": results}
    return Reply(200, response)


def _parse_or_refuse(
    services: Services, request: Request[NoQuery, list[Any]], document: Any, seen: set[str]
) -> JobToWrite | BulkWriteResult:
    try:
        name, definition = _parse_entry(services, document, seen, request.requested_at)
    except SweephandError as error:
        return _refusal(document.get("name") if isinstance(document, Mapping) else None, error)
    return JobToWrite(JobKey(request.namespace, name), definition)


def _parse_entry(
    services: Services, document: Any, seen: set[str], requested_at: Instant
) -> tuple[str, Definition]:
    """The name and definition in one entry of the list. `seen` are the names of the entries before it.

    Adds the name to `seen`. Raises InvalidError with JSON pointers into the entry.
    """
    if not isinstance(document, Mapping):
        raise InvalidError([Violation("", "Give an object: a job with its name.")])
    name = document.get("name")
    parsed = read_definition(
        {field: value for field, value in document.items() if field != "name"}, services, requested_at
    )
    detail = None
    if not isinstance(name, str) or not is_name(name):
        detail = NAME_RULE
    elif name in seen:
        detail = "An earlier job of this request has this name. Give each name once."
    if detail is not None or parsed.value is None:
        violations = [] if detail is None else [Violation("/name", detail)]
        raise InvalidError([*violations, *parsed.violations])
    assert isinstance(name, str), "is_name has accepted it"
    seen.add(name)
    return name, parsed.value


def _result(job: JobToWrite, written: Written) -> BulkWriteResult:
    if isinstance(written, UnavailableError):
        return _refusal(job.key.name, UnavailableError(_NO_TIME))
    if isinstance(written, SweephandError):
        return _refusal(job.key.name, written)
    status = 201 if written.outcome == "created" else 200
    return {"name": job.key.name, "status": status, "rev": written.job.rev}


def _refusal(name: Any, error: SweephandError) -> BulkWriteResult:
    problem = problems.problem_of(error)
    return {"name": _shown(name), "status": problem["status"], "problem": problem}


def _shown(name: Any) -> Any:
    """The name as the caller gave it. Of a text that is far too long the beginning, of another value null."""
    if isinstance(name, str):
        return shortened(name, _SHOWN_LENGTH_MAX)
    return name if len(json_text.write(name)) <= _SHOWN_LENGTH_MAX else None
