"""The operation that lists the runs of a namespace that did not simply succeed."""

from functools import partial

from sweephand.runs.flagged_list import RunFilter
from sweephand.web.http import cursor
from sweephand.web.http.operation import Operation, Reply, Request, Returns
from sweephand.web.routes.occurrences import read_instant
from sweephand.web.schemas.query import NamespaceRunsQuery, labels_of
from sweephand.web.schemas.run_responses import NamespaceRunPage, namespace_run_response
from sweephand.web.services import Services


@partial(
    Operation,
    method="GET",
    path="/v1/namespaces/{namespace}/runs",
    tag="Runs",
    access="read",
    query=NamespaceRunsQuery,
    returns={200: Returns("A page of runs", NamespaceRunPage)},
)
def list_namespace_runs(services: Services, request: Request[NamespaceRunsQuery, None]) -> Reply:
    """List the runs of a namespace that failed, were skipped, or are retried.

    Lists the runs of all jobs, also of deleted ones, newest due time first. A run is in the list if an
    attempt of it failed, if it was skipped, or if its consumer has worked on it for longer than a heartbeat
    time-out. The list shows it as it is now, and leaves it out once it has succeeded or was cancelled.
    Triggers that wait for a policy or for another run are not in the list: the policy shows how many wait,
    and the runs of a job with the state `waiting` show the others.
    """
    query = request.query
    since = 0 if query.since is None else read_instant(query.since, "/since")
    wanted = RunFilter(request.namespace, query.state, since, labels_of(query.label))
    page = services.flagged.page(wanted, query.cursor, query.limit, request.requested_at)
    response: NamespaceRunPage = {"items": [namespace_run_response(run) for run in page.items]}
    if page.next is not None:
        response["nextCursor"] = cursor.encode("namespaceRuns", page.next)
    return Reply(200, response)
