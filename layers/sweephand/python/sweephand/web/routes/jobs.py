"""The operations that write, read, list and delete jobs."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from sweephand.base.errors import NotFoundError, PreconditionError
from sweephand.jobs.read import Selection, view
from sweephand.model.definition import Definition
from sweephand.web.http import cursor
from sweephand.web.http.operation import (
    Accepts,
    NoQuery,
    Operation,
    Reply,
    Request,
    Returns,
)
from sweephand.web.http.preconditions import etag, parse_if_match, requires_absence
from sweephand.web.schemas.definition import read_definition
from sweephand.web.schemas.job_requests import JobRequest
from sweephand.web.schemas.job_responses import (
    JobPage,
    JobResponse,
    WholeJobResponse,
    job_response,
    whole_job_response,
)
from sweephand.web.schemas.query import JobsQuery, labels_of
from sweephand.web.services import Services

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
ETAG: Final = {"ETag": "The revision of the job, in double quotes."}
IF_MATCH: Final = {
    "If-Match": "An ETag: the call writes only if the job has this revision. `*`: only if the job exists."
}
_ABSENT: Final = {"If-None-Match": "`*`: the call writes the job only if it does not exist."}
JOB_PATH: Final = "/v1/namespaces/{namespace}/jobs/{name}"


@partial(
    Operation,
    method="PUT",
    path=JOB_PATH,
    tag="Jobs",
    access="write",
    accepts=Accepts(JobRequest, read_definition, EXAMPLES, limit="bodyBytesMax"),
    headers=IF_MATCH | _ABSENT,
    returns={
        200: Returns("The job was replaced, or did not change", JobResponse, ETAG),
        201: Returns("The job was created", JobResponse, ETAG),
    },
    problems=(412, 429, 503),
)
def put_job(services: Services, request: Request[NoQuery, Definition]) -> Reply:
    """Create or replace a job.

    The last write wins, unless you send If-Match or If-None-Match. If the definition equals the stored one,
    nothing changes. So you can safely send a PUT again.
    """
    if_match = expected_revision(services, request)
    if_absent = requires_absence(request.headers.get("if-none-match"))
    written = services.writer.put(
        request.key,
        request.body,
        caller=request.caller.key_id,
        requested_at=request.requested_at,
        if_match=if_match,
        if_absent=if_absent,
    )
    job = written.job
    response = job_response(view(job, request.requested_at), request.caller)
    return Reply(201 if written.outcome == "created" else 200, response, {"etag": etag(job.rev)})


@partial(
    Operation,
    method="GET",
    path=JOB_PATH,
    tag="Jobs",
    access="read",
    returns={200: Returns("The job, its data and its last run", WholeJobResponse, ETAG)},
    problems=(404,),
)
def get_job(services: Services, request: Request[NoQuery, None]) -> Reply:
    """Show a job."""
    found = services.reader.get(request.key, request.requested_at)
    return Reply(200, whole_job_response(found, request.caller), {"etag": etag(found.job.rev)})


@partial(
    Operation,
    method="DELETE",
    path=JOB_PATH,
    tag="Jobs",
    access="write",
    headers=IF_MATCH,
    returns={204: Returns("The job is deleted")},
    problems=(404, 412, 503),
)
def delete_job(services: Services, request: Request[NoQuery, None]) -> Reply:
    """Delete a job.

    After the answer no delivery of the job begins. Sweephand keeps the records of its runs until their
    `historyRetention` is over. A job whose retention is over is not shown any more. While Sweephand still
    stores it, a DELETE ends what waits of it, and answers 204 too.
    """
    services.writer.delete(
        request.key,
        who=request.caller.key_id,
        requested_at=request.requested_at,
        if_match=expected_revision(services, request),
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
    looks at up to {bulkExaminedMax} jobs.
    """
    query = request.query
    selection = Selection(
        prefix=query.prefix,
        contains=query.contains,
        labels=labels_of(query.label),
        state=query.state,
        policy=query.policy,
        after=query.cursor,
    )
    page = services.reader.page(request.namespace, selection, limit=query.limit, now=request.requested_at)
    response: JobPage = {"items": [job_response(each, request.caller) for each in page.items]}
    if page.next is not None:
        response["nextCursor"] = cursor.encode("jobs", page.next)
    return Reply(200, response)


def expected_revision(services: Services, request: Request[Any, Any]) -> str | None:
    """The revision that the job must have, by the If-Match header. None without that header.

    If the header names several revisions, the result is the one that the job has now. Raises
    PreconditionError if the job has none of them.
    """
    revs = parse_if_match(request.headers.get("if-match"))
    if revs is None or len(revs) == 1:
        return revs[0] if revs else None
    try:
        rev = services.reader.get(request.key, request.requested_at).job.rev
    except NotFoundError:
        return revs[0]
    if rev not in revs:
        raise PreconditionError(f"The job has none of these revisions. Its revision is {rev}.")
    return rev
