"""The operation that writes many jobs. Each is judged by itself, as if it had been sent alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from sweephand.base.errors import (
    InvalidError,
    SweephandError,
    UnavailableError,
    Violation,
)
from sweephand.base.instants import Instant
from sweephand.base.limits import JOBS_PER_BULK_MAX
from sweephand.base.names import NAME_RULE, is_name
from sweephand.base.timing import REQUEST_TIME_LIMIT_MS
from sweephand.model.definition import Definition
from sweephand.model.job import JobKey
from sweephand.web.http import problems
from sweephand.web.http.operation import (
    Accepts,
    NoQuery,
    Operation,
    Parsed,
    Reply,
    Request,
    Returns,
)
from sweephand.web.routes.jobs import EXAMPLES, read_job
from sweephand.web.schemas.job_requests import BulkWriteRequest
from sweephand.web.schemas.responses import BulkWriteResponse, BulkWriteResult
from sweephand.web.schemas.shapes import check
from sweephand.web.services import Services


@dataclass(frozen=True, slots=True)
class _NamedJob:
    """A valid job of the request, with its name."""

    name: str
    definition: Definition


def put_jobs(services: Services, request: Request[NoQuery, list[Any]]) -> Reply:
    """Create or replace many jobs. A job that is refused does not stop the others."""
    seen: set[str] = set()
    entries = [_parse_or_refuse(services, request, document, seen) for document in request.body]
    # No two jobs have the same name, so they may be written in any order.
    tasks = [partial(_write_job, services, request, each) for each in entries if isinstance(each, _NamedJob)]
    results_of_writes = iter(services.concurrently(tasks))
    results = [next(results_of_writes) if isinstance(each, _NamedJob) else each for each in entries]
    response: BulkWriteResponse = {"results": results}
    return Reply(200, response)


def _parse_or_refuse(
    services: Services, request: Request[NoQuery, list[Any]], document: Any, seen: set[str]
) -> _NamedJob | BulkWriteResult:
    try:
        return _parse_entry(services, document, seen, request.requested_at)
    except SweephandError as error:
        return _refusal(document.get("name") if isinstance(document, Mapping) else None, error)


def _parse_entry(services: Services, document: Any, seen: set[str], requested_at: Instant) -> _NamedJob:
    """The name and definition in one entry. Raises InvalidError with JSON pointers into that entry."""
    if not isinstance(document, Mapping):
        raise InvalidError([Violation("", "Give an object: a job and its name.")])
    name = document.get("name")
    parsed = read_job(
        {field: value for field, value in document.items() if field != "name"}, services, requested_at
    )
    detail = None
    if not isinstance(name, str) or not is_name(name):
        detail = NAME_RULE
    elif name in seen:
        detail = "An earlier job of this request has this name; give each name once."
    if detail is not None or parsed.value is None:
        violations = [] if detail is None else [Violation("/name", detail)]
        raise InvalidError([*violations, *parsed.violations])
    assert isinstance(name, str), "it has been found valid"
    seen.add(name)
    return _NamedJob(name, parsed.value)


def _write_job(services: Services, request: Request[NoQuery, list[Any]], each: _NamedJob) -> BulkWriteResult:
    try:
        if services.clock.now() - request.requested_at > REQUEST_TIME_LIMIT_MS:
            raise UnavailableError("Others of this request took too long; this was not written. Ask again.")
        written = services.writer.put(
            JobKey(request.namespace, each.name),
            each.definition,
            caller=request.caller.key_id,
            requested_at=request.requested_at,
        )
    except SweephandError as error:
        return _refusal(each.name, error)
    status = 201 if written.outcome == "created" else 200
    return {"name": each.name, "status": status, "rev": written.job.rev}


def _refusal(name: Any, error: SweephandError) -> BulkWriteResult:
    problem = problems.problem_of(error)
    return {"name": name, "status": problem["status"], "problem": problem}


def _read_jobs(document: Mapping[str, Any], _: Services, __: Instant) -> Parsed[list[Any]]:
    body, violations = check(BulkWriteRequest, document)
    return Parsed(None if body is None else body.jobs, tuple(violations))


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    Operation(
        method="POST",
        path="/v1/namespaces/{namespace}/jobs",
        name="putJobs",
        tag="Jobs",
        access="write",
        summary="Create or replace many jobs",
        description=f"Writes up to {JOBS_PER_BULK_MAX} jobs. Each is judged by itself, as a PUT of it "
        "would be. A job that is refused does not stop the others. Pointers are relative to each job's "
        "own document.",
        run=put_jobs,
        accepts=Accepts(
            BulkWriteRequest,
            _read_jobs,
            {"one of many": {"jobs": [{"name": "hello", **EXAMPLES["in five seconds"]}]}},
        ),
        returns={200: Returns("What became of each job, in order", BulkWriteResponse)},
    ),
)
