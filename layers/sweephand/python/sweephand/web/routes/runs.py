"""The operations that show the runs of a job or of a namespace, and that try failed runs again."""

from functools import partial
from typing import Annotated, Any, Final, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict  # pydantic asks for this one below Python 3.12

from sweephand.base.errors import InvalidError, NotFoundError, Violation
from sweephand.base.instants import Instant, rfc3339
from sweephand.base.limits import PAGE_ITEMS_DEFAULT, REASON_LENGTH_MAX
from sweephand.jobs.read import View
from sweephand.model.job import Job
from sweephand.model.page import Page
from sweephand.model.run import Run, State
from sweephand.model.run_id import RunName, parse_run_name
from sweephand.runs.flagged_list import ListedState, RunFilter
from sweephand.runs.pending import Pending, manual_trigger, pending, series_at, under_policy, waiting_in_line
from sweephand.web.http import cursor
from sweephand.web.http.operation import NoQuery, Operation, Reply, Request, Returns, Services
from sweephand.web.schemas.formats import (
    Cursor,
    Label,
    Limit,
    Moment,
    NextCursor,
    Prefix,
    QueryParameters,
    Time,
    about,
    labels_of,
    position,
)
from sweephand.web.schemas.responses import (
    NamespaceRunResponse,
    RunResponse,
    namespace_run_response,
    pending_run_response,
    run_response,
    whole_run_response,
)


class RunsQuery(QueryParameters):
    """Selects the runs to list."""

    state: Literal[State, "waiting"] | None = Field(
        None, description="Only runs in this state. A page may be short or empty."
    )
    limit: Limit = PAGE_ITEMS_DEFAULT
    cursor: Annotated[Cursor, position("runs")] = ""


class RunQuery(QueryParameters):
    """Says what to show of a run."""

    include: Literal["neighbours"] | None = Field(
        None,
        description="`neighbours`: show the recorded runs of the job before and after this one. Two more "
        "reads, or 34 for a run of a batch.",
    )


REASON_MEANING: Final = (
    "Only runs with this text in `reason`, in `answer`, or in why their last attempt failed."
)


class NeighbourResponse(TypedDict):
    """A run beside another one."""

    id: Annotated[str, about("The run's name within its job.")]
    state: Annotated[State, about("The state of the run.")]
    dueAt: Annotated[Time, about("The due time of its trigger.")]


class NeighboursResponse(TypedDict):
    """The recorded runs of the same job before and after a run, in due time."""

    before: Annotated[NeighbourResponse | None, about("The one before. Null if there is none.")]
    after: Annotated[NeighbourResponse | None, about("The one after. Null if there is none.")]


class WholeRunResponse(RunResponse):
    """A run that was read alone."""

    neighbours: NotRequired[
        Annotated[NeighboursResponse, about("The runs before and after it, if the call asks for them.")]
    ]


class NamespaceRunsQuery(QueryParameters):
    """Selects the runs of a namespace to list."""

    state: ListedState | None = Field(
        None,
        description="Only runs in this state. A page may be short or empty.",
    )
    since: Moment | None = Field(
        None, description="Only runs due at this instant or later (RFC 3339 with an offset)."
    )
    label: list[Label] = Field(
        [],
        description="Only runs of jobs that have this label now, as name:value. Of several, a job must have "
        "all.",
    )
    until: Moment | None = Field(None, description="Only runs due before this instant.")
    prefix: Prefix = ""
    reason: str = Field("", max_length=REASON_LENGTH_MAX, description=REASON_MEANING)
    limit: Limit = PAGE_ITEMS_DEFAULT
    cursor: Annotated[Cursor, position("namespaceRuns")] = ""


class NamespaceRunPage(TypedDict):
    """A page of runs of all jobs, newest due time first. It has a `nextCursor` if there may be more."""

    items: Annotated[list[NamespaceRunResponse], about("The runs, newest due time first.")]
    nextCursor: NotRequired[NextCursor]


class RunPage(TypedDict):
    """A page of runs, newest due time first. It has a `nextCursor` if there may be more."""

    items: Annotated[list[RunResponse], about("The runs, newest due time first.")]
    nextCursor: NotRequired[NextCursor]


class RedriveResponse(TypedDict):
    """A run that Sweephand tries again."""

    id: Annotated[str, about("The run's name within its job.")]
    triggerId: Annotated[str, about("The id by which the consumer recognizes duplicates. It stays the same.")]
    attempt: Annotated[int, about("The number of the next attempt.")]


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
        return Reply(200, cursor.page_of("runs", _page_of_waiting(services, request), pending_run_response))
    page = services.runs.page(request.key, query.state, query.cursor, query.limit)
    if not page.items and not query.cursor:
        _check_job_or_runs_exist(services, request)
    return Reply(200, cursor.page_of("runs", page, run_response))


@partial(
    Operation,
    method="GET",
    path=RUN_PATH,
    tag="Runs",
    access="read",
    query=RunQuery,
    returns={200: Returns("The run", WholeRunResponse)},
    problems=(404,),
)
def get_run(services: Services, request: Request[RunQuery, None]) -> Reply:
    """Show a run.

    If a trigger has no record yet, the API derives its run from the job. The runs beside a run of a batch are
    those of the batch too. Beside other runs, only the first run of each batch is shown.
    """
    run_id = request.path["runId"]
    named = parse_run_name(run_id)
    run = services.runs.get(request.key, run_id) if named else None
    coming = find_pending(services, request, named) if named and run is None else None
    if run is not None:
        shown = whole_run_response(run)
    elif coming is not None and coming.run_id == run_id:
        shown = pending_run_response(coming)
    else:
        raise NotFoundError(f"The job {request.key.name} has no record of a run {run_id}.")
    if named is None or request.query.include != "neighbours":
        return Reply(200, shown)
    is_of_batch = named.index > 0 or (run is not None and run.batch is not None)
    before, after = services.runs.beside(request.key, named, with_batches=is_of_batch)
    neighbours: NeighboursResponse = {"before": _neighbour(before), "after": _neighbour(after)}
    response: WholeRunResponse = {**shown, "neighbours": neighbours}
    return Reply(200, response)


def _neighbour(run: Run | None) -> NeighbourResponse | None:
    return None if run is None else {"id": run.run_id, "state": run.state, "dueAt": rfc3339(run.due_at)}


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
    attempt of it failed, or if it was skipped. So is a run whose consumer has worked on it for longer than a
    heartbeat time-out. The list shows it as it is now. It leaves out a run that has succeeded or was
    cancelled. Triggers that wait for a policy or for another run are not in the list: the policy shows how
    many wait, and the runs of a job with the state `waiting` show the others.
    """
    query = request.query
    check_span(query.since, query.until)
    wanted = RunFilter(
        request.namespace,
        query.state,
        query.since or 0,
        labels_of(query.label),
        until=query.until,
        prefix=query.prefix,
        reason=query.reason,
    )
    page = services.flagged.page(wanted, query.cursor, query.limit, request.requested_at)
    return Reply(200, cursor.page_of("namespaceRuns", page, namespace_run_response))


@partial(
    Operation,
    method="POST",
    path=RUN_PATH + "/redrive",
    tag="Runs",
    access="write",
    returns={202: Returns("The next attempt is in the queue", RedriveResponse)},
    problems=(404, 409, 503),
)
def redrive_run(services: Services, request: Request[NoQuery, None]) -> Reply:
    """Redrive a run: try a failed run again.

    The run gets all attempts of the job's retry policy again, under the same trigger id. Sweephand delivers
    it with the job's present definition, also if the job is paused. The run stays `failed` until the next
    attempt begins.
    """
    run = services.redriver.redrive(request.key, request.path["runId"])
    response: RedriveResponse = {"id": run.run_id, "triggerId": run.trigger_id, "attempt": run.attempts + 1}
    return Reply(202, response)


def check_span(since: Instant | None, until: Instant | None) -> None:
    """Raise InvalidError if a span of due times is empty."""
    if since is not None and until is not None and until <= since:
        raise InvalidError([Violation("/until", "Give an instant after `since`.")])


def _page_of_waiting(services: Services, request: Request[RunsQuery, None]) -> Page[Pending]:
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
    items = tuple(waiting[: query.limit])
    return Page(items, items[-1].run_id if len(waiting) > len(items) else None)


def find_pending(services: Services, request: Request[Any, None], name: RunName) -> Pending | None:
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
    if name.demand:
        # A trigger by hand in a pause belongs to no revision.
        found = manual_trigger(job, series or job.series, name, now)
    else:
        windows = services.windows.all(request.namespace)
        found = None if series is None else pending(job, series, name, now, windows)
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
