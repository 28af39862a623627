"""The operations that show the batches of a job. They also show those of a deleted job."""

from functools import partial
from typing import Annotated, Final, Literal, NotRequired

from typing_extensions import TypedDict  # pydantic asks for this one below Python 3.12

from sweephand.base.errors import NotFoundError
from sweephand.base.instants import rfc3339, rfc3339_or_none
from sweephand.model.batch_progress import BatchHead
from sweephand.model.run_id import BatchEnd, parse_batch_name
from sweephand.runs.batch_reads import BatchState, BatchView
from sweephand.web.http import cursor
from sweephand.web.http.operation import NoQuery, Operation, Reply, Request, Returns, Services
from sweephand.web.routes.jobs import JOB_PATH
from sweephand.web.schemas.formats import NextCursor, PageQuery, Time, about, page_query


class BatchEndResponse(TypedDict):
    """How the runs of a batch had ended when all of them were over for the first time."""

    state: Annotated[Literal["succeeded", "failed"], about("`succeeded` if each run had, else `failed`.")]
    succeeded: Annotated[int, about("How many runs had succeeded.")]
    failed: Annotated[int, about("How many runs had failed for good.")]
    cancelled: Annotated[int, about("How many runs had been cancelled or skipped.")]


class ListedBatchResponse(TypedDict):
    """A batch in a list."""

    id: Annotated[
        str,
        about(
            "The batch's name within its job: the due time in epoch ms. The name of a batch on "
            "demand begins with `manual-`, `backfill-` or `chained-` and ends with a token. The name of a "
            "run has its index in addition."
        ),
    ]
    dueAt: Annotated[Time, about("The due time of the batch's occurrence.")]
    total: Annotated[int, about("How many triggers the batch has.")]
    endedAt: Annotated[
        Time | None, about("When all of its runs were over for the first time. Null before that.")
    ]
    overran: Annotated[
        bool,
        about(
            "Whether it ended later than the end of its window and a grace: a tenth of the "
            "window, a minute at most. The window begins at `dueAt`, and that of a batch on demand with its "
            "first run if that is later. False for a batch without a window."
        ),
    ]
    end: NotRequired[
        Annotated[
            BatchEndResponse,
            about(
                "How its runs had ended at `endedAt`. A later redrive does not change it. Absent "
                "before `endedAt`."
            ),
        ]
    ]


class BatchResponse(ListedBatchResponse):
    """The progress of a batch."""

    state: Annotated[
        BatchState,
        about(
            "`scheduled` before its due time, `waiting` while its job is paused, else `running`. "
            "When all runs are over: `succeeded` if each of them has, else `failed`. `cancelled` if its job "
            "was deleted before that."
        ),
    ]
    succeeded: Annotated[int, about("How many runs have succeeded.")]
    failed: Annotated[
        int, about("How many runs have failed for good. A run that is to be retried is not among them.")
    ]
    cancelled: Annotated[int, about("How many runs were cancelled or skipped.")]
    estimatedEndAt: Annotated[
        Time | None,
        about(
            "When all runs will be over if the batch goes on at the pace it has had since its "
            "first run began. Null if it has ended or waits, if no run is over yet and all of its triggers "
            "are due, or if that is after the year 9999."
        ),
    ]


class BatchPage(TypedDict):
    """A page of batches, newest due time first. It has a `nextCursor` if there may be more."""

    items: Annotated[list[ListedBatchResponse], about("The batches, newest due time first.")]
    nextCursor: NotRequired[NextCursor]


def listed_batch_response(head: BatchHead) -> ListedBatchResponse:
    """A batch as a list shows it."""
    response: ListedBatchResponse = {
        "id": str(head.name),
        "dueAt": rfc3339(head.name.due_at),
        "total": head.size.total,
        "endedAt": rfc3339_or_none(head.ended_at),
        "overran": head.overran,
    }
    if head.end is not None:
        response["end"] = _end_response(head.end)
    return response


def _end_response(end: BatchEnd) -> BatchEndResponse:
    succeeded, failed, cancelled = end.counts
    return {"state": end.state, "succeeded": succeeded, "failed": failed, "cancelled": cancelled}


def batch_response(batch: BatchView) -> BatchResponse:
    """The progress of a batch as a response shows it."""
    succeeded, failed, cancelled = batch.counts
    return {
        **listed_batch_response(batch.head),
        "state": batch.state,
        "succeeded": succeeded,
        "failed": failed,
        "cancelled": cancelled,
        "estimatedEndAt": rfc3339_or_none(batch.estimated_end_at),
    }


_PATH: Final = JOB_PATH + "/batches"


@partial(
    Operation,
    method="GET",
    path=_PATH,
    tag="Runs",
    access="read",
    query=page_query("batches"),
    returns={200: Returns("A page of batches", BatchPage)},
    problems=(404,),
)
def list_batches(services: Services, request: Request[PageQuery, None]) -> Reply:
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
    return Reply(200, cursor.page_of("batches", page, listed_batch_response))


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
