"""The operations that make triggers on demand: one trigger now, or those of a past range (backfill)."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from sweephand.base.errors import InvalidError, Violation
from sweephand.base.instants import Instant, rfc3339
from sweephand.model.definition import Definition, Payload
from sweephand.model.run_id import batch_id
from sweephand.targets.reach import EVERY_QUEUE
from sweephand.targets.registry import data_violations, stands_for_default, target_violations
from sweephand.web.http import json_text
from sweephand.web.http.operation import (
    Accepts,
    NoQuery,
    Operation,
    ParsedBody,
    Reply,
    Request,
    Returns,
)
from sweephand.web.routes.jobs import JOB_PATH
from sweephand.web.routes.occurrences import read_instant
from sweephand.web.schemas.definition import read_payload
from sweephand.web.schemas.responses import BackfillResponse, TriggerResponse
from sweephand.web.schemas.shapes import check
from sweephand.web.schemas.verb_requests import BackfillRequest, TriggerRequest
from sweephand.web.services import Services


@dataclass(frozen=True, slots=True)
class BackfillWindow:
    """The range of a backfill: the due times from `since` on and before `until`."""

    since: Instant
    until: Instant


def _read_trigger(document: Mapping[str, Any], _: Services, __: Instant) -> ParsedBody[Payload | None]:
    violations = check(TriggerRequest, dict.fromkeys(document))[1]
    return ParsedBody(None, tuple(violations)) if violations else ParsedBody(read_payload(document))


def _read_backfill(document: Mapping[str, Any], _: Services, __: Instant) -> ParsedBody[BackfillWindow]:
    asked, violations = check(BackfillRequest, json_text.with_plain_numbers(document))
    instants: list[Instant] = []
    if asked is not None:
        for at, text in (("/from", asked.from_), ("/to", asked.to)):
            try:
                instants.append(read_instant(text, at))
            except InvalidError as error:
                violations += error.violations
    if violations:
        return ParsedBody(None, tuple(violations))
    return ParsedBody(BackfillWindow(*instants))


@partial(
    Operation,
    method="POST",
    path=JOB_PATH + "/trigger",
    tag="Jobs",
    access="write",
    accepts=Accepts(
        TriggerRequest,
        _read_trigger,
        {"with other data": {"data": {"task": "db-backup"}}},
        required=False,
        limit="bodyBytesMax",
    ),
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
        _read_backfill,
        {"a day": {"from": "2026-11-20T00:00:00Z", "to": "2026-11-21T00:00:00Z"}},
    ),
    returns={202: Returns("Sweephand has begun to make the triggers", BackfillResponse)},
    problems=(404, 409, 503),
)
def backfill_job(services: Services, request: Request[NoQuery, BackfillWindow]) -> Reply:
    """Backfill: make the triggers of a past range.

    Makes the triggers that the job's schedule has from `from` on and before `to`: at most
    {backfillTriggersMax:,} (backfillTriggersMax), or one batch of any size. Sweephand delivers them as soon
    as possible and in no fixed order, also if the job is paused. The triggers of a batch keep their offsets
    within its window. Each call makes other triggers with new ids. The answer is 409 for a job without a
    schedule and dueTime, since it has nothing to backfill.
    """
    made = services.on_demand.backfill(
        request.key, since=request.body.since, until=request.body.until, requested_at=request.requested_at
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
    if payload is not None and (too_much := data_violations(target, payload.size)):
        raise InvalidError(too_much)
