"""The operations that show the runs of a job. They also show those of a deleted job."""

from functools import partial
from typing import Any, Final

from sweephand.base.errors import InvalidError, NotFoundError, Violation
from sweephand.jobs.read import View
from sweephand.model.job import Job
from sweephand.model.run_id import RunName, parse_run_name
from sweephand.runs.pending import Pending, manual_trigger, pending, under_policy, waiting_in_line
from sweephand.runs.series_at import series_at
from sweephand.web.http import cursor
from sweephand.web.http.operation import (
    NoQuery,
    Operation,
    Reply,
    Request,
    Returns,
)
from sweephand.web.schemas.query import RunsQuery
from sweephand.web.schemas.run_responses import (
    RunPage,
    RunResponse,
    pending_run_response,
    run_response,
)
from sweephand.web.services import Services

_PATH: Final = "/v1/namespaces/{namespace}/jobs/{name}/runs"
RUN_PATH: Final = _PATH + "/{runId}"


@partial(
    Operation,
    method="GET",
    path=_PATH,
    tag="Runs",
    access="read",
    query=RunsQuery,
    returns={200: Returns("A page of runs", RunPage)},
    problems=(404,),
)
def list_runs(services: Services, request: Request[RunsQuery, None]) -> Reply:
    """List the runs of a job.

    Lists the newest due time first. The list also has the runs of a deleted job of this name. With the state
    `waiting` it has instead the triggers that wait for another run of the job. Triggers that wait for a
    policy are not in the list; the policy shows how many there are.
    """
    query = request.query
    if query.state == "waiting":
        return Reply(200, _page_of_waiting(services, request))
    page = services.runs.page(request.key, query.state, query.cursor, query.limit)
    if not page.items and not query.cursor:
        _check_job_or_runs_exist(services, request)
    response: RunPage = {"items": [run_response(run) for run in page.items]}
    if page.next is not None:
        response["nextCursor"] = cursor.encode("runs", page.next)
    return Reply(200, response)


@partial(
    Operation,
    method="GET",
    path=RUN_PATH,
    tag="Runs",
    access="read",
    returns={200: Returns("The run", RunResponse)},
    problems=(404,),
)
def get_run(services: Services, request: Request[NoQuery, None]) -> Reply:
    """Show a run.

    If a trigger has no record yet, the API derives its run from the job.
    """
    run_id = request.path["runId"]
    named = parse_run_name(run_id)
    run = services.runs.get(request.key, run_id) if named else None
    if run is not None:
        return Reply(200, run_response(run))
    coming = find_pending(services, request, named) if named else None
    if coming is None or coming.run_id != run_id:
        raise NotFoundError(f"The job {request.key.name} has no record of a run {run_id}.")
    return Reply(200, pending_run_response(coming))


def _page_of_waiting(services: Services, request: Request[RunsQuery, None]) -> RunPage:
    """A page of the triggers that wait for another run of the job.

    They have no run records. The position in the cursor is the name of a run.
    """
    query = request.query
    _check_job_or_runs_exist(services, request)
    view = _view_or_none(services, request)
    waiting = [] if view is None else _waiting_triggers(services, view.job)
    if query.cursor:
        last = parse_run_name(query.cursor)
        if last is None:
            raise InvalidError([Violation("/cursor", cursor.INVALID)])
        waiting = [each for each in waiting if (each.due_at, each.run_id) < (last.due_at, query.cursor)]
    waiting.sort(key=lambda each: (each.due_at, each.run_id), reverse=True)
    items = waiting[: query.limit]
    response: RunPage = {"items": [pending_run_response(each) for each in items]}
    if len(waiting) > len(items):
        response["nextCursor"] = cursor.encode("runs", items[-1].run_id)
    return response


def find_pending(services: Services, request: Request[NoQuery, None], name: RunName) -> Pending | None:
    """The trigger whose run will have that name, and has no record yet.

    None if the job does not exist or will not make that trigger.
    """
    view = _view_or_none(services, request)
    if view is None:
        return None
    job = view.job
    for each in _waiting_triggers(services, job):
        if each.run_id == str(name):
            return each
    now = request.requested_at
    series = series_at(job, name.due_at, services.changes)
    missing_since = view.policy_missing_since
    if name.demand:
        # A trigger by hand in a pause belongs to no revision.
        found = manual_trigger(job, series or job.series, name, now, missing_since)
    else:
        found = None if series is None else pending(job, series, name, now, missing_since)
    return under_policy(found, job, view.policy_block)


def _view_or_none(services: Services, request: Request[Any, None]) -> View | None:
    try:
        return services.reader.get(request.key, request.requested_at)
    except NotFoundError:
        return None


def _waiting_triggers(services: Services, job: Job) -> list[Pending]:
    """The triggers that wait for another run of the job, oldest first."""
    stored = services.lines.get(job.key) if job.definition.overlap.is_limited else None
    return [] if stored is None or stored.uid != job.uid else waiting_in_line(stored.line)


def _check_job_or_runs_exist(services: Services, request: Request[RunsQuery, None]) -> None:
    """Raise NotFoundError if the job does not exist and has no runs, so that a mistyped name is an error."""
    try:
        services.reader.get(request.key, request.requested_at)
    except NotFoundError:
        if not services.runs.page(request.key, None, "", 1).items:
            raise
