"""The operations that show the batches of a job. They also show those of a deleted job."""

from functools import partial
from typing import Final

from sweephand.base.errors import NotFoundError
from sweephand.model.run_id import parse_batch_name
from sweephand.web.http import cursor
from sweephand.web.http.operation import NoQuery, Operation, Reply, Request, Returns
from sweephand.web.routes.jobs import JOB_PATH
from sweephand.web.schemas.batch_responses import (
    BatchPage,
    BatchResponse,
    batch_response,
    listed_batch_response,
)
from sweephand.web.schemas.query import BatchesQuery
from sweephand.web.services import Services

_PATH: Final = JOB_PATH + "/batches"


@partial(
    Operation,
    method="GET",
    path=_PATH,
    tag="Runs",
    access="read",
    query=BatchesQuery,
    returns={200: Returns("A page of batches", BatchPage)},
    problems=(404,),
)
def list_batches(services: Services, request: Request[BatchesQuery, None]) -> Reply:
    """List the batches of a job.

    Lists the batches of which at least one run is over, newest due time first. The list also has the batches
    of a deleted job of this name. A batch that has ended shows how it ended. Show one of them for its present
    counts.
    """
    query = request.query
    page = services.batches.page(request.key, query.cursor, query.limit)
    if not page.items and not query.cursor:
        # A mistyped name is an error.
        services.reader.get(request.key, request.requested_at)
    response: BatchPage = {"items": [listed_batch_response(each) for each in page.items]}
    if page.next is not None:
        response["nextCursor"] = cursor.encode("batches", page.next)
    return Reply(200, response)


@partial(
    Operation,
    method="GET",
    path=_PATH + "/{batchId}",
    tag="Runs",
    access="read",
    returns={200: Returns("The progress", BatchResponse)},
    problems=(404, 409),
)
def get_batch(services: Services, request: Request[NoQuery, None]) -> Reply:
    """Show the progress of a batch.

    Shows how many runs of the batch are over and how they ended. Each run counts once, however often its
    trigger was delivered. After a redrive that succeeds, a run counts as succeeded and no longer as failed.
    The answer is 409 for a job with `"history": "failures"` and without `onComplete`, since it keeps no
    progress. It is 404 for a batch that was skipped as a misfire, and for one whose progress has expired.
    """
    batch = request.path["batchId"]
    first = parse_batch_name(batch)
    if first is None:
        raise NotFoundError(f"The job {request.key.name} has no batch {batch}.")
    return Reply(200, batch_response(services.batches.get(request.key, first, request.requested_at)))
