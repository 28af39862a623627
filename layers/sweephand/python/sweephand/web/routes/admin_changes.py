"""The operation that lists what admins did to keys, secrets and settings."""

from typing import Any, Final

from sweephand.model.api_key import EVERY_NAMESPACE
from sweephand.model.change import position_at
from sweephand.web.http import cursor
from sweephand.web.http.operation import Operation, Reply, Request, Returns
from sweephand.web.routes.occurrences import read_instant
from sweephand.web.schemas.admin_change_responses import AdminChangePage, admin_change_response
from sweephand.web.schemas.query import AdminChangesQuery
from sweephand.web.services import Services


def list_admin_changes(services: Services, request: Request[AdminChangesQuery, None]) -> Reply:
    """List the changes in the caller's namespace, or in the whole stack, newest first."""
    query, namespace = request.query, request.caller.namespace
    since = 0 if query.since is None else read_instant(query.since, "/since")
    before = "" if query.until is None else position_at(read_instant(query.until, "/until"))
    if query.cursor:
        before = min(query.cursor, before or query.cursor)
    of = None if namespace == EVERY_NAMESPACE else namespace
    page = services.admin_changes.page(of, before, query.limit, since)
    response: AdminChangePage = {"items": [admin_change_response(each) for each in page.items]}
    if page.next is not None:
        response["nextCursor"] = cursor.encode("adminChanges", page.next)
    return Reply(200, response)


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    Operation(
        method="GET",
        path="/v1/changes",
        name="listAdminChanges",
        tag="Access",
        access="admin",
        summary="List changes of keys, secrets and settings",
        description="Says who made, rotated and revoked API keys, wrote, rotated and deleted secrets and "
        "signing keys, and wrote the settings of namespaces; newest first. An admin of one namespace sees "
        "the changes in that namespace only. Sweephand keeps a change for 90 days. Jobs and policies have "
        "lists of their own. A deletion is listed before it is made, so after an outage one may be listed "
        "that was not made.",
        run=list_admin_changes,
        query=AdminChangesQuery,
        returns={200: Returns("A page of changes", AdminChangePage)},
    ),
)
