"""The bulk operations that pause, resume and delete jobs by prefix and labels."""

from functools import partial
from typing import Any, Final

from sweephand.base.errors import InvalidError, Violation
from sweephand.base.limits import BULK_EXAMINED_MAX
from sweephand.jobs.bulk import BulkResult
from sweephand.jobs.examine import Filter
from sweephand.web.http import cursor
from sweephand.web.http.operation import (
    Accepts,
    NoQuery,
    Operation,
    Reply,
    Request,
    Returns,
)
from sweephand.web.schemas.filters import (
    SELECTION_RULE,
    BulkPauseRequest,
    BulkResumeRequest,
    FilterRequest,
    filter_reader,
)
from sweephand.web.schemas.query import DeleteQuery, labels_of
from sweephand.web.schemas.responses import CountResponse
from sweephand.web.services import Services

_ABOUT: Final = (
    "Selects the jobs whose names begin with the prefix and that have the labels. A prefix or labels are "
    f"required. One call looks at up to {BULK_EXAMINED_MAX} jobs. Call again with the nextCursor of the "
    "answer, until an answer has none."
)


@partial(
    Operation,
    method="POST",
    path="/v1/namespaces/{namespace}/pause",
    tag="Jobs",
    access="write",
    about=_ABOUT,
    accepts=Accepts(
        BulkPauseRequest,
        filter_reader(BulkPauseRequest, "pause"),
        {"of one team": {"labels": {"team": "ops"}, "reason": "The database moves tonight."}},
    ),
    returns={200: Returns("The number of jobs that were paused", CountResponse)},
)
def pause_jobs(services: Services, request: Request[NoQuery, BulkPauseRequest]) -> Reply:
    """Pause jobs in bulk.

    A job that is already paused does not change and does not count.
    """
    done = services.bulk.pause(
        _filter_of(request, "pause"), reason=request.body.reason, who=request.caller.key_id
    )
    return _count_reply("pause", done)


@partial(
    Operation,
    method="POST",
    path="/v1/namespaces/{namespace}/resume",
    tag="Jobs",
    access="write",
    about=_ABOUT,
    accepts=Accepts(
        BulkResumeRequest,
        filter_reader(BulkResumeRequest, "resume"),
        {"of one team": {"labels": {"team": "ops"}}},
    ),
    returns={200: Returns("The number of jobs that were resumed", CountResponse)},
)
def resume_jobs(services: Services, request: Request[NoQuery, BulkResumeRequest]) -> Reply:
    """Resume jobs in bulk.

    A job that is not paused does not change and does not count.
    """
    done = services.bulk.resume(
        _filter_of(request, "resume"), mode=request.body.catchup, who=request.caller.key_id
    )
    return _count_reply("resume", done)


@partial(
    Operation,
    method="DELETE",
    path="/v1/namespaces/{namespace}/jobs",
    tag="Jobs",
    access="write",
    about=_ABOUT,
    query=DeleteQuery,
    returns={200: Returns("The number of jobs that were deleted", CountResponse)},
)
def delete_jobs(services: Services, request: Request[DeleteQuery, None]) -> Reply:
    """Delete jobs in bulk."""
    query = request.query
    if not query.prefix and not query.label:
        raise InvalidError([Violation("", SELECTION_RULE)])
    filters = Filter(request.namespace, query.prefix, labels_of(query.label), query.cursor)
    return _count_reply("delete", services.bulk.delete(filters, who=request.caller.key_id))


def _filter_of(request: Request[NoQuery, Any], kind: str) -> Filter:
    filters: FilterRequest = request.body
    after = cursor.decode(kind, filters.cursor) if filters.cursor else ""
    return Filter(request.namespace, filters.prefix or "", filters.labels, after)


def _count_reply(kind: str, done: BulkResult) -> Reply:
    response: CountResponse = {"count": done.count}
    if done.reached is not None:
        response["nextCursor"] = cursor.encode(kind, done.reached)
    return Reply(200, response)
