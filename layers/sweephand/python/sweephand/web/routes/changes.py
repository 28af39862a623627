"""The operation that lists the changes of a job. It also lists those of a deleted job."""

from typing import Any, Final

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


def list_changes(services: Services, request: Request[ChangesQuery, None]) -> Reply:
    """List the changes of a job, newest first."""
    page = services.changes.page(request.key, request.query.cursor, request.query.limit)
    response: ChangePage = {"items": [change_response(each) for each in page.items]}
    if page.next is not None:
        response["nextCursor"] = cursor.encode("changes", page.next)
    return Reply(200, response)


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    Operation(
        method="GET",
        path=JOB_PATH + "/changes",
        name="listChanges",
        tag="Jobs",
        access="read",
        summary="List the changes of a job",
        description="Lists the newest change first. Sweephand keeps a change for 90 days, also if the "
        "job is deleted.",
        run=list_changes,
        query=ChangesQuery,
        returns={200: Returns("A page of changes", ChangePage)},
        problems=(404,),
    ),
)
