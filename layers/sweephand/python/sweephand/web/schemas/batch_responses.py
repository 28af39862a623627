"""The responses that show batches."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict  # pydantic asks for this one below Python 3.12

from sweephand.base.instants import rfc3339
from sweephand.model.batch_progress import BatchHead
from sweephand.model.run_id import BatchEnd
from sweephand.runs.batch_reads import BatchState, BatchView
from sweephand.web.schemas.run_responses import NextCursor, Time, time_or_none


class BatchEndResponse(TypedDict):
    """How the runs of a batch had ended when all of them were over for the first time."""

    state: Annotated[
        Literal["succeeded", "failed"], Field(description="`succeeded` if each run had, else `failed`.")
    ]
    succeeded: Annotated[int, Field(description="How many runs had succeeded.")]
    failed: Annotated[int, Field(description="How many runs had failed for good.")]
    cancelled: Annotated[int, Field(description="How many runs had been cancelled or skipped.")]


class ListedBatchResponse(TypedDict):
    """A batch in a list."""

    id: Annotated[
        str,
        Field(
            description="The batch's name within its job: the due time in epoch ms. The name of a batch on "
            "demand begins with `manual-`, `backfill-` or `chained-` and ends with a token. The name of a "
            "run has its index in addition."
        ),
    ]
    dueAt: Annotated[Time, Field(description="The due time of the batch's occurrence.")]
    total: Annotated[int, Field(description="How many triggers the batch has.")]
    endedAt: Annotated[
        Time | None, Field(description="When all of its runs were over for the first time. Null before that.")
    ]
    overran: Annotated[
        bool,
        Field(
            description="Whether it ended later than the end of its window and a grace: a tenth of the "
            "window, a minute at most. The window begins at `dueAt`, and that of a batch on demand with its "
            "first run if that is later. False for a batch without a window."
        ),
    ]
    end: NotRequired[
        Annotated[
            BatchEndResponse,
            Field(
                description="How its runs had ended at `endedAt`. A later redrive does not change it. Absent "
                "before `endedAt`."
            ),
        ]
    ]


class BatchResponse(ListedBatchResponse):
    """The progress of a batch."""

    state: Annotated[
        BatchState,
        Field(
            description="`scheduled` before its due time, `waiting` while its job is paused, else `running`. "
            "When all runs are over: `succeeded` if each of them has, else `failed`. `cancelled` if its job "
            "was deleted before that."
        ),
    ]
    succeeded: Annotated[int, Field(description="How many runs have succeeded.")]
    failed: Annotated[
        int,
        Field(
            description="How many runs have failed for good. A run that is to be retried is not among them."
        ),
    ]
    cancelled: Annotated[int, Field(description="How many runs were cancelled or skipped.")]
    estimatedEndAt: Annotated[
        Time | None,
        Field(
            description="When all runs will be over if the batch goes on at the pace it has had since its "
            "first run began. Null if it has ended or waits, if no run is over yet and all of its triggers "
            "are due, or if that is after the year 9999."
        ),
    ]


class BatchPage(TypedDict):
    """A page of batches, newest due time first. It has a `nextCursor` if there may be more."""

    items: Annotated[list[ListedBatchResponse], Field(description="The batches, newest due time first.")]
    nextCursor: NotRequired[NextCursor]


def listed_batch_response(head: BatchHead) -> ListedBatchResponse:
    """A batch as a list shows it."""
    response: ListedBatchResponse = {
        "id": str(head.name),
        "dueAt": rfc3339(head.name.due_at),
        "total": head.size.total,
        "endedAt": time_or_none(head.ended_at),
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
        "estimatedEndAt": time_or_none(batch.estimated_end_at),
    }
