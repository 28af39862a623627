"""The operations that write, read, patch, list and delete jobs."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from sweephand.base.errors import InvalidError, Violation, pointer
from sweephand.base.instants import Instant
from sweephand.base.limits import NAME_LENGTH_MAX, PAGE_ITEMS_DEFAULT
from sweephand.base.names import CONTAINS_MEANING, PREFIX_PATTERN
from sweephand.jobs.read import JobState, Selection, view
from sweephand.jobs.write import Patch
from sweephand.model.definition import TARGET_FIELDS, Definition
from sweephand.model.job import Job
from sweephand.model.page import Page
from sweephand.runs.health import JobHealth
from sweephand.web.http import cursor, json_text
from sweephand.web.http.operation import (
    Accepts,
    NoQuery,
    Operation,
    Reply,
    Request,
    Returns,
    Services,
    etag,
    parse_if_match,
    requires_absence,
    revision_headers,
)
from sweephand.web.schemas.formats import (
    Cursor,
    Labels,
    Limit,
    Name,
    Prefix,
    QueryParameters,
    WriteQuery,
    labels_of,
    position,
)
from sweephand.web.schemas.job_requests import (
    JobPatchRequest,
    JobRequest,
    read_definition,
    read_payload,
    validate_definition,
    with_unknown_nulls,
)
from sweephand.web.schemas.responses import (
    JobPage,
    JobResponse,
    WholeJobResponse,
    health_response,
    job_response,
    whole_job_response,
)

Include = Annotated[
    Literal["health"] | None,
    Field(description="`health`: show the newest outcomes of each job. One more read for each job."),
]


class JobQuery(QueryParameters):
    """Says what to show of a job."""

    include: Include = None


class JobsQuery(QueryParameters):
    """Selects the jobs to list."""

    prefix: Prefix = ""
    contains: Annotated[
        str, Field(pattern=PREFIX_PATTERN, max_length=NAME_LENGTH_MAX, description=CONTAINS_MEANING)
    ] = ""
    state: JobState | None = Field(None, description="Only jobs in this state. A page may be short or empty.")
    label: Labels = Field([])
    policy: Name | None = Field(
        None,
        description="Only jobs that name this flow policy, also if the policy was deleted. A page may be "
        "short or empty.",
    )
    health: Literal["failing"] | None = Field(
        None,
        description="Only jobs whose newest runs fail, each with its health. A page may be short or empty.",
    )
    sort: Literal["name", "failure"] | None = Field(
        None, description="By name, or failing jobs by their newest failure, newest first, as is the default."
    )
    include: Include = None
    limit: Limit = PAGE_ITEMS_DEFAULT
    cursor: Annotated[Cursor, position("jobs")] = ""


EXAMPLES: Final[Mapping[str, Any]] = {
    "in five seconds": {
        "dueTime": "5s",
        "target": {"type": "http", "url": "https://example.com/hooks/hello"},
        "data": {"hello": "world"},
    },
    "weekdays in Paris": {
        "schedule": "0 30 2 * * MON-FRI",
        "timezone": "Europe/Paris",
        "target": {"type": "http", "url": "https://example.com/hooks/backup", "headers": {"x-team": "ops"}},
        "data": {"task": "db-backup"},
        "labels": {"team": "ops"},
        "description": "Nightly backup",
    },
    "50,000 mails over an hour": {
        "schedule": "0 2 * * *",
        "timezone": "Europe/Paris",
        "batch": {"count": 50_000, "window": "1h"},
        "target": {"type": "http", "url": "https://example.com/mail/{{index}}"},
        "data": {"list": "newsletter"},
    },
    "to a queue, in ten seconds": {
        "dueTime": "10s",
        "target": {"type": "sqs", "queueUrl": "https://sqs.eu-west-1.amazonaws.com/123456789012/orders"},
        "data": {"order": 4711},
    },
}
HEADERS: Final = revision_headers("job")
#: The header of calls that make triggers.
TRACEPARENT: Final = {
    "traceparent": "The caller's trace context (W3C Trace Context). Deliveries continue it or link to it. A "
    "header that is not valid is ignored."
}
JOB_PATH: Final = "/v1/namespaces/{namespace}/jobs/{name}"

#: Fields that a patch replaces whole. Half of an old target and half of a new one make no valid target.
_REPLACED_WHOLE: Final = frozenset({"data", "schedule", *TARGET_FIELDS})
_TIME_FIELDS: Final = frozenset({"schedule", "timezone", "dueTime", "ttl", "repeats"})


def _read_patch(document: Mapping[str, Any], services: Services, requested_at: Instant) -> Patch:
    payload = read_payload(document) if document.get("data") is not None else None
    fields = json_text.with_plain_numbers({name: each for name, each in document.items() if name != "data"})

    def patch(before: Definition) -> Definition:
        try:
            return validate_definition(
                _patched_fields(before.written, fields),
                payload if "data" in document else before.payload,
                services,
                requested_at,
                asked=fields.keys(),
            )
        except InvalidError as error:
            raise InvalidError(_relevant_violations(error.violations, fields)) from None

    return patch


@partial(
    Operation,
    method="PUT",
    path=JOB_PATH,
    tag="Jobs",
    access="write",
    query=WriteQuery,
    accepts=Accepts(JobRequest, EXAMPLES, read_definition, limit="bodyBytesMax"),
    headers=HEADERS.if_match | HEADERS.if_none_match | TRACEPARENT,
    returns={
        200: Returns("The job was replaced, or did not change", JobResponse, HEADERS.etag),
        201: Returns("The job was created", JobResponse, HEADERS.etag),
    },
    problems=(412, 429, 503),
)
def put_job(services: Services, request: Request[WriteQuery, Definition]) -> Reply:
    """Create or replace a job.

    The last write wins, unless you send If-Match or If-None-Match. If the definition equals the stored one,
    nothing changes. So you can safely send a PUT again.
    """
    written = services.writer.put(
        request.key,
        request.body,
        caller=request.caller.key_id,
        requested_at=request.requested_at,
        if_match=parse_if_match(request.headers),
        if_absent=requires_absence(request.headers),
        traceparent=request.traceparent,
        reason=request.query.reason,
    )
    return job_reply(request, written.job, 201 if written.outcome == "created" else 200)


@partial(
    Operation,
    method="GET",
    path=JOB_PATH,
    tag="Jobs",
    access="read",
    query=JobQuery,
    returns={200: Returns("The job, its data and its last run", WholeJobResponse, HEADERS.etag)},
    problems=(404,),
)
def get_job(services: Services, request: Request[JobQuery, None]) -> Reply:
    """Show a job."""
    found = services.reader.get(request.key, request.requested_at)
    response = whole_job_response(found, request.caller)
    if request.query.include == "health":
        ((_, health),) = services.health.of([found], request.requested_at)
        response["health"] = health_response(health)
    return Reply(200, response, {"etag": etag(found.job.rev)})


@partial(
    Operation,
    method="DELETE",
    path=JOB_PATH,
    tag="Jobs",
    access="write",
    query=WriteQuery,
    headers=HEADERS.if_match,
    returns={204: Returns("The job is deleted")},
    problems=(404, 412, 503),
)
def delete_job(services: Services, request: Request[WriteQuery, None]) -> Reply:
    """Delete a job.

    After the answer no delivery of the job begins. Sweephand keeps the records of its runs until their
    `historyRetention` is over. A job whose retention is over is not shown any more. While Sweephand still
    stores it, a DELETE ends what waits of it, and answers 204 too.
    """
    services.writer.delete(
        request.key,
        who=request.caller.key_id,
        requested_at=request.requested_at,
        if_match=parse_if_match(request.headers),
        reason=request.query.reason,
    )
    return Reply(204)


@partial(
    Operation,
    method="GET",
    path="/v1/namespaces/{namespace}/jobs",
    tag="Jobs",
    access="read",
    query=JobsQuery,
    returns={200: Returns("A page of jobs", JobPage)},
)
def list_jobs(services: Services, request: Request[JobsQuery, None]) -> Reply:
    """List jobs by name.

    The list shows jobs without their data. A filtered page can be short or empty. Call again with the
    nextCursor of the answer, until an answer has none. With `contains`, `state`, `label` or `policy` a call
    looks at up to {listExaminedMax} jobs. With `health` it looks at up to {bulkExaminedMax} runs that failed
    or were skipped, or by name at the jobs of one page.
    """
    query = request.query
    selection = Selection(
        request.namespace,
        prefix=query.prefix,
        contains=query.contains,
        labels=labels_of(query.label),
        state=query.state,
        policy=query.policy,
        after=query.cursor,
    )
    by_failure = query.health is not None and query.sort != "name"
    _check_sort(query, by_failure=by_failure)
    now = request.requested_at
    if by_failure:
        return _health_reply(services.health.failing(selection, limit=query.limit, now=now), request)
    page = services.reader.page(selection, limit=query.limit, now=now)
    if query.health is None and query.include is None:
        return Reply(200, cursor.page_of("jobs", page, lambda each: job_response(each, request.caller)))
    found = services.health.of(page.items, now)
    wanted = tuple(each for each in found if query.health is None or each.health.failures)
    return _health_reply(Page(wanted, page.next), request)


@partial(
    Operation,
    method="PATCH",
    path=JOB_PATH,
    tag="Jobs",
    access="write",
    accepts=Accepts(
        JobPatchRequest,
        {
            "another hour": {"schedule": "0 30 3 * * MON-FRI"},
            "no labels, fewer attempts": {"labels": None, "retry": {"maxAttempts": 3}},
        },
        _read_patch,
        types=("application/merge-patch+json", "application/json"),
        limit="bodyBytesMax",
    ),
    headers=HEADERS.if_match | TRACEPARENT,
    returns={200: Returns("The job as it is now", JobResponse, HEADERS.etag)},
    problems=(404, 412, 503),
)
def patch_job(services: Services, request: Request[NoQuery, Patch]) -> Reply:
    """Patch a job: write some of its fields.

    Applies a merge patch (RFC 7396). A field that you leave out keeps its value, and null removes a field.
    `data`, `schedule`, `target`, `onComplete` and `onAlert` are replaced whole. The API validates the result
    like the body of a PUT. Occurrences before the patch still count towards `repeats`. A relative time that
    you leave out keeps its first instant. A paused job stays paused. A patch that changes nothing makes no
    revision.
    """
    written = services.writer.patch(
        request.key,
        request.body,
        caller=request.caller.key_id,
        requested_at=request.requested_at,
        if_match=parse_if_match(request.headers),
        traceparent=request.traceparent,
    )
    return job_reply(request, written.job)


def _check_sort(query: JobsQuery, *, by_failure: bool) -> None:
    if query.sort == "failure" and not by_failure:
        raise InvalidError(
            [Violation("/sort", "Only failing jobs have a newest failure. Add health=failing.")]
        )
    # Positions by failure are those of flags. No name of a job has their separator.
    if query.cursor and ("#" in query.cursor) != by_failure:
        raise InvalidError([Violation("/cursor", cursor.INVALID)])


def _health_reply(page: Page[JobHealth], request: Request[JobsQuery, None]) -> Reply:
    def shown(each: JobHealth) -> JobResponse:
        return {**job_response(each.view, request.caller), "health": health_response(each.health)}

    return Reply(200, cursor.page_of("jobs", page, shown))


def job_reply(request: Request[Any, Any], job: Job, status: int = 200) -> Reply:
    """The reply that shows a job which was written."""
    response = job_response(view(job, request.requested_at), request.caller)
    return Reply(status, response, {"etag": etag(job.rev)})


def apply_merge_patch(target: Any, patch: Any) -> Any:
    """The JSON value `target` after a merge patch (RFC 7396).

    Null removes a field. An object merges into the stored one. Any other value replaces the stored one.
    """
    if not isinstance(patch, Mapping):
        return patch
    found = dict(target) if isinstance(target, Mapping) else {}
    for name, value in patch.items():
        if value is None:
            found.pop(name, None)
        else:
            found[name] = apply_merge_patch(found.get(name), value)
    return found


def _relevant_violations(violations: Sequence[Violation], fields: Mapping[str, Any]) -> Sequence[Violation]:
    """The violations with which the API refuses a patch.

    A time field that the patch leaves out keeps the instant that it had when the job was written. So its
    violations are left out, unless there are no others.
    """
    kept = {pointer(name) for name in _TIME_FIELDS - fields.keys()}
    return [each for each in violations if each.pointer not in kept] or violations


def _patched_fields(before: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in before.items() if name not in _REPLACED_WHOLE & fields.keys()}
    found: dict[str, Any] = apply_merge_patch(kept, fields)
    return with_unknown_nulls(found, fields)
