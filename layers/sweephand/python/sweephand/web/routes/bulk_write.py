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
    Gives,
    NoQuery,
    Operation,
    Reply,
    Request,
    Taken,
)
from sweephand.web.routes.jobs import EXAMPLES, read_job
from sweephand.web.schemas.job_requests import BulkDocument
from sweephand.web.schemas.responses import BulkResource, BulkResultResource
from sweephand.web.schemas.shapes import check
from sweephand.web.services import Services


@dataclass(frozen=True, slots=True)
class _Named:
    """A valid job of the request, with its name."""

    name: str
    definition: Definition


def put_many(services: Services, request: Request[NoQuery, list[Any]]) -> Reply:
    """Create or replace many jobs. A job that is refused does not stop the others."""
    seen: set[str] = set()
    judged = [_judged(services, request, document, seen) for document in request.body]
    # No two jobs have the same name, so they may be written in any order.
    tasks = [partial(_put, services, request, each) for each in judged if isinstance(each, _Named)]
    written = iter(services.concurrently(tasks))
    results = [next(written) if isinstance(each, _Named) else each for each in judged]
    shown: BulkResource = {"results": results}
    return Reply(200, shown)


def _judged(
    services: Services, request: Request[NoQuery, list[Any]], document: Any, seen: set[str]
) -> _Named | BulkResultResource:
    try:
        return _named(services, document, seen, request.requested_at)
    except SweephandError as error:
        return _refused(document.get("name") if isinstance(document, Mapping) else None, error)


def _named(services: Services, document: Any, seen: set[str], requested_at: Instant) -> _Named:
    """The name and definition in one entry. Raises InvalidError with JSON pointers into that entry."""
    if not isinstance(document, Mapping):
        raise InvalidError([Violation("", "Give an object: a job and its name.")])
    name = document.get("name")
    taken = read_job(
        {field: value for field, value in document.items() if field != "name"}, services, requested_at
    )
    detail = None
    if not isinstance(name, str) or not is_name(name):
        detail = NAME_RULE
    elif name in seen:
        detail = "An earlier job of this request has this name; give each name once."
    if detail is not None or taken.value is None:
        found = [] if detail is None else [Violation("/name", detail)]
        raise InvalidError([*found, *taken.violations])
    assert isinstance(name, str), "it has been found valid"
    seen.add(name)
    return _Named(name, taken.value)


def _put(services: Services, request: Request[NoQuery, list[Any]], each: _Named) -> BulkResultResource:
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
        return _refused(each.name, error)
    status = 201 if written.outcome == "created" else 200
    return {"name": each.name, "status": status, "rev": written.job.rev}


def _refused(name: Any, error: SweephandError) -> BulkResultResource:
    problem = problems.document(error)
    return {"name": name, "status": problem["status"], "problem": problem}


def _read(document: Mapping[str, Any], _: Services, __: Instant) -> Taken[list[Any]]:
    found, violations = check(BulkDocument, document)
    return Taken(None if found is None else found.jobs, tuple(violations))


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
        run=put_many,
        accepts=Accepts(
            BulkDocument,
            _read,
            {"one of many": {"jobs": [{"name": "hello", **EXAMPLES["in five seconds"]}]}},
        ),
        gives={200: Gives("What became of each job, in order", BulkResource)},
    ),
)
