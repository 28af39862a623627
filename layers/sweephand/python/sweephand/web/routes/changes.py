"""The operation that lists the changes of a job. It also lists those of a deleted job."""

from functools import partial

from sweephand.web.http import cursor
from sweephand.web.http.operation import (
    Operation,
    Reply,
    Request,
    Returns,
)
from sweephand.web.routes.jobs import JOB_PATH
from sweephand.web.schemas.query import ChangesQuery
from sweephand.web.schemas.responses import ChangePage, change_response
from sweephand.web.services import Services


@partial(
    Operation,
    method="GET",
    path=JOB_PATH + "/changes",
    tag="Jobs",
    access="read",
    query=ChangesQuery,
    returns={200: Returns("A page of changes", ChangePage)},
    problems=(404,),
)
def list_changes(services: Services, request: Request[ChangesQuery, None]) -> Reply:
    """List the changes of a job.

    Lists the newest change first. Sweephand keeps a change for 90 days, also if the job is deleted.
    """
    page = services.changes.page(request.key, request.query.cursor, request.query.limit)
    response: ChangePage = {"items": [change_response(each) for each in page.items]}
    if page.next is not None:
        response["nextCursor"] = cursor.encode("changes", page.next)
    return Reply(200, response)
