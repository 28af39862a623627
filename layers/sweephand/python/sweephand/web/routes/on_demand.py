"""The operations that make triggers on demand: one trigger now, or those of a past range (backfill)."""

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict  # pydantic asks for this one below Python 3.12

from sweephand.base import limits
from sweephand.base.errors import InvalidError, Violation
from sweephand.base.instants import Instant, rfc3339
from sweephand.model.definition import Definition, Payload
from sweephand.model.run_id import batch_id
from sweephand.targets.reach import EVERY_QUEUE
from sweephand.targets.registry import data_violations, stands_for_default, target_violations
from sweephand.web.http.operation import Accepts, NoQuery, Operation, Reply, Request, Returns, Services
from sweephand.web.routes.jobs import JOB_PATH, TRACEPARENT
from sweephand.web.schemas.formats import Moment, Time, about
from sweephand.web.schemas.job_requests import read_payload
from sweephand.web.schemas.shapes import RequestBody, read_as


class TriggerRequest(RequestBody):
    """The data of a trigger on demand."""

    data: Any = Field(
        None,
        description=f"Any JSON up to {limits.DATA_BYTES_MAX:,} bytes, which Sweephand delivers in place "
        "of the job's data.",
    )


class BackfillRequest(RequestBody):
    """The range of a backfill."""

    from_: Moment = Field(
        alias="from", description="The first instant of the range (RFC 3339 with an offset)."
    )
    to: Moment = Field(description="The end of the range, which is not part of it. It must be in the past.")


class TriggerResponse(TypedDict):
    """A trigger on demand."""

    id: Annotated[
        str, about("The name of the trigger's run. The run is `enqueued` until an attempt is over.")
    ]
    triggerId: Annotated[str, about("The id by which the consumer recognizes duplicates (`webhook-id`).")]
    dueAt: Annotated[Time, about("The due time: the instant of this request.")]
    count: NotRequired[
        Annotated[
            int,
            about(
                "How many triggers the batch has that begins now. `id` and `triggerId` are those "
                "of its first trigger. Only a job with a batch has this field."
            ),
        ]
    ]
    batchId: NotRequired[
        Annotated[
            str,
            about(
                "The name of the batch that begins now. GET …/batches/{batchId} shows its "
                "progress. Only a job with a batch has this field."
            ),
        ]
    ]


class BackfillResponse(TypedDict):
    """The triggers that a backfill makes."""

    count: Annotated[int, about("How many triggers the backfill makes.")]
    firstId: Annotated[str | None, about("The name of the first trigger's run. Null without triggers.")]
    lastId: Annotated[str | None, about("The name of the last trigger's run. Null without triggers.")]


def _read_trigger(document: Mapping[str, Any], _: Services, __: Instant) -> Payload | None:
    read_as(TriggerRequest, dict.fromkeys(document))
    return read_payload(document)


@partial(
    Operation,
    method="POST",
    path=JOB_PATH + "/trigger",
    tag="Jobs",
    access="write",
    accepts=Accepts(
        TriggerRequest,
        {"with other data": {"data": {"task": "db-backup"}}},
        _read_trigger,
        required=False,
        limit="bodyBytesMax",
    ),
    headers=TRACEPARENT,
    returns={202: Returns("The trigger is in the queue", TriggerResponse)},
    problems=(404, 503),
)
def trigger_job(services: Services, request: Request[NoQuery, Payload | None]) -> Reply:
    """Trigger a job now.

    Makes a trigger that is due now, in addition to those of the schedule. The job may be paused. Each call
    makes another trigger with a new id. Sweephand delivers `data` in place of the job's data. For a job with
    a batch, a whole batch begins now, and the answer names it.
    """
    trigger = services.on_demand.trigger(
        request.key,
        payload=request.body,
        requested_at=request.requested_at,
        check_data=partial(_check_data, services, request.key.namespace, request.body),
        traceparent=request.traceparent,
    )
    response: TriggerResponse = {
        "id": trigger.run_id,
        "triggerId": trigger.id,
        "dueAt": rfc3339(trigger.due_at),
    }
    if trigger.batch is not None:
        response["count"] = trigger.batch.size
        response["batchId"] = batch_id(trigger.due_at, trigger.demand)
    return Reply(202, response)


@partial(
    Operation,
    method="POST",
    path=JOB_PATH + "/backfill",
    tag="Jobs",
    access="write",
    accepts=Accepts(
        BackfillRequest,
        {"a day": {"from": "2026-11-20T00:00:00Z", "to": "2026-11-21T00:00:00Z"}},
    ),
    headers=TRACEPARENT,
    returns={202: Returns("Sweephand has begun to make the triggers", BackfillResponse)},
    problems=(404, 409, 503),
)
def backfill_job(services: Services, request: Request[NoQuery, BackfillRequest]) -> Reply:
    """Backfill: make the triggers of a past range.

    Makes the triggers that the job's schedule has from `from` on and before `to`: at most
    {backfillTriggersMax:,} (backfillTriggersMax), or one batch of any size. Sweephand delivers them as soon
    as possible and in no fixed order, also if the job is paused. The triggers of a batch keep their offsets
    within its window. Each call makes other triggers with new ids. The answer is 409 for a job without a
    schedule and dueTime, since it has nothing to backfill.
    """
    made = services.on_demand.backfill(
        request.key,
        since=request.body.from_,
        until=request.body.to,
        requested_at=request.requested_at,
        traceparent=request.traceparent,
    )
    response: BackfillResponse = {
        "count": made.count,
        "firstId": None if made.first is None else str(made.first),
        "lastId": None if made.last is None else str(made.last),
    }
    return Reply(202, response)


def _check_data(services: Services, namespace: str, payload: Payload | None, definition: Definition) -> None:
    """Raise InvalidError if the job's target cannot send the data of the trigger."""
    # The delivery function checks whether the stack still lists the queue. This check is about data only.
    reach = services.reach._replace(queues=EVERY_QUEUE)
    target = definition.target
    if stands_for_default(target):
        # Without a default target, the delivery function records why the run failed.
        target = services.defaults.target(namespace, target) or target
    found = target_violations(target, has_data=True, reach=reach)
    if found:
        raise InvalidError([Violation("/data", found[0].detail)])
    if payload is not None and (too_much := data_violations(target, payload, definition.labels)):
        raise InvalidError(too_much)
