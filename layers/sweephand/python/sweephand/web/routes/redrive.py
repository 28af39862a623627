"""The operations that try failed runs again: one run, or in bulk those of the jobs that a filter selects."""

from functools import partial
from typing import Final

from sweephand.runs.redrive import Progress
from sweephand.web.http import cursor
from sweephand.web.http.operation import (
    Accepts,
    NoQuery,
    Operation,
    Reply,
    Request,
    Returns,
)
from sweephand.web.routes.runs import RUN_PATH
from sweephand.web.schemas.filters import FilterRequest, filter_reader
from sweephand.web.schemas.responses import CountResponse
from sweephand.web.schemas.run_responses import RedriveResponse
from sweephand.web.services import Services

#: Separates a job's name from a position among its runs. No name contains it.
_SEPARATOR: Final = "#"


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


@partial(
    Operation,
    method="POST",
    path="/v1/namespaces/{namespace}/redrive",
    tag="Runs",
    access="write",
    accepts=Accepts(
        FilterRequest,
        filter_reader(FilterRequest, "redrive"),
        {"of one team": {"labels": {"team": "ops"}}},
    ),
    returns={200: Returns("The number of runs that were redriven", CountResponse)},
)
def redrive_runs(services: Services, request: Request[NoQuery, FilterRequest]) -> Reply:
    """Redrive failed runs in bulk.

    Redrives the failed runs of the jobs whose names begin with the prefix and that have the labels. One call
    looks at up to {bulkExaminedMax} jobs and runs. Call again with the nextCursor of the answer, until an
    answer has none.
    """
    filters = request.body
    name, _, before = (
        cursor.decode("redrive", filters.cursor).partition(_SEPARATOR) if filters.cursor else ("", "", "")
    )
    redriven = services.redriver.redrive_many(
        request.namespace,
        prefix=filters.prefix or "",
        labels=filters.labels or {},
        since=Progress(name, before),
    )
    response: CountResponse = {"count": redriven.count}
    if redriven.reached is not None:
        response["nextCursor"] = cursor.encode("redrive", _SEPARATOR.join(redriven.reached))
    return Reply(200, response)
