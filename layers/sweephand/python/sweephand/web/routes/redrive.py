"""The operations that try anew what was given up: one run, or those of many jobs."""

from collections.abc import Mapping
from typing import Any, Final

from sweephand.base import limits
from sweephand.base.instants import Instant
from sweephand.runs.redrive import Progress
from sweephand.web.http import cursor
from sweephand.web.http.operation import (
    Accepts,
    Gives,
    NoQuery,
    Operation,
    Reply,
    Request,
    Taken,
)
from sweephand.web.routes.runs import RUN_PATH
from sweephand.web.schemas.filter_requests import FilterDocument
from sweephand.web.schemas.filters import read_filter
from sweephand.web.schemas.responses import CountResource
from sweephand.web.schemas.run_responses import RedriveResource
from sweephand.web.services import Services

#: Between a job's name and a position among its runs; no name has it.
_SEPARATOR: Final = "#"


def redrive_run(services: Services, request: Request[NoQuery, None]) -> Reply:
    """Redrive one run."""
    run = services.redriver.redrive(request.key, request.path["runId"])
    shown: RedriveResource = {"id": run.run_id, "triggerId": run.trigger_id, "attempt": run.attempts + 1}
    return Reply(202, shown)


def redrive_runs(services: Services, request: Request[NoQuery, FilterDocument]) -> Reply:
    """Redrive what has failed of many jobs."""
    wanted = request.body
    name, _, before = (
        cursor.decode("redrive", wanted.cursor).partition(_SEPARATOR) if wanted.cursor else ("", "", "")
    )
    redriven = services.redriver.redrive_many(
        request.namespace,
        prefix=wanted.prefix or "",
        labels=wanted.labels or {},
        since=Progress(name, before),
    )
    shown: CountResource = {"count": redriven.count}
    if redriven.reached is not None:
        shown["nextCursor"] = cursor.encode("redrive", _SEPARATOR.join(redriven.reached))
    return Reply(200, shown)


def _read(document: Mapping[str, Any], _: Services, __: Instant) -> Taken[FilterDocument]:
    return read_filter(FilterDocument, "redrive", document)


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    Operation(
        method="POST",
        path=RUN_PATH + "/redrive",
        name="redriveRun",
        tag="Runs",
        access="write",
        summary="Redrive a run: try a failed run again",
        description="The run has all attempts of the job's retry policy before it again, under the same "
        "trigger id. It is delivered with the job as it is now, paused or not. It stays `failed` until "
        "the next attempt begins.",
        run=redrive_run,
        gives={202: Gives("The next attempt is on its way", RedriveResource)},
        problems=(404, 409, 503),
    ),
    Operation(
        method="POST",
        path="/v1/namespaces/{namespace}/redrive",
        name="redriveRuns",
        tag="Runs",
        access="write",
        summary="Redrive the failed runs of many jobs",
        description="Redrives the failed runs of the jobs whose names have the prefix and that have the "
        f"labels. One call looks at up to {limits.BULK_EXAMINED_MAX} jobs and runs: go on as long as there "
        "is a nextCursor.",
        run=redrive_runs,
        accepts=Accepts(FilterDocument, _read, {"of one team": {"labels": {"team": "ops"}}}),
        gives={200: Gives("The number of runs that were redriven", CountResource)},
    ),
)
