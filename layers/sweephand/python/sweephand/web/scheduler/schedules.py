"""The operations of EventBridge Scheduler on schedules. Each is a job of its group's namespace."""

import datetime as dt
import json
import re
from collections.abc import Mapping
from functools import partial
from typing import Any, Final, NamedTuple

from sweephand.base.errors import (
    ConflictError,
    InvalidError,
    MalformedError,
    NotFoundError,
    PreconditionError,
    Violation,
)
from sweephand.base.instants import MINUTE_MS, SECOND_MS, Instant
from sweephand.base.names import EVERY_NAMESPACE
from sweephand.jobs.eventbridge.targets import AGE_S_DEFAULT, RETRIES_DEFAULT, NoTargetError
from sweephand.jobs.eventbridge.translation import OverError, Translated, translate
from sweephand.jobs.eventbridge.written import (
    FIELD,
    Written,
    is_as_written,
    is_repeated,
    written_of,
    written_text,
)
from sweephand.jobs.read import Selection, View
from sweephand.jobs.validation import payload_of
from sweephand.model.definition import Definition
from sweephand.model.job import JobKey
from sweephand.model.schedule_group import DEFAULT_GROUP
from sweephand.web.http import cursor, json_text
from sweephand.web.http.operation import Accepts, NoQuery, Operation, Reply, Request, Services
from sweephand.web.scheduler.errors import aws_refusal
from sweephand.web.scheduler.places import new_name, own_group, position, schedule_arn
from sweephand.web.scheduler.requests import ScheduleBody, ScheduleQuery, SchedulesQuery
from sweephand.web.schemas.job_requests import read_definition
from sweephand.web.schemas.shapes import given_fields, read_as

_PATH: Final = "/v1/scheduler/schedules"
_ONE: Final = f"{_PATH}/{{name}}"

_EXPRESSION: Final = re.compile(r"(?:cron|rate|at)\(.*\)")

#: A StartDate that is longer past is refused (AWS, CreateSchedule).
_START_PAST_MS_MAX: Final = 5 * MINUTE_MS

#: EventBridge Scheduler keeps a schedule that is over for good. A completed job is kept for a year.
_RETENTION: Final = "365d"

#: Groups that one list looks into.
_GROUPS_MAX: Final = 25


class Asked(NamedTuple):
    """A request to write a schedule: the model of its body, and the body as it was written."""

    body: ScheduleBody
    document: Mapping[str, Any]


def _read(document: Mapping[str, Any], _: Services, now: Instant) -> Asked:
    """The body. Raises InvalidError for what AWS refuses too, and for what no job can be."""
    given = given_fields(document)
    body = read_as(ScheduleBody, given)
    found = []
    if not _EXPRESSION.fullmatch(body.schedule_expression):
        said = f"Invalid Schedule Expression {body.schedule_expression}. Give cron(…), rate(…) or at(…)."
        found.append(Violation("/ScheduleExpression", said))
    window = body.flexible_time_window
    if window.mode == "FLEXIBLE" and window.maximum_window_in_minutes is None:
        found.append(
            Violation("/FlexibleTimeWindow/MaximumWindowInMinutes", "A flexible window needs its length.")
        )
    if body.kms_key_arn is not None:
        found.append(Violation("/KmsKeyArn", "A stack has one key for all jobs. Leave it out."))
    if body.start_date is not None and body.start_date * SECOND_MS < now - _START_PAST_MS_MAX:
        found.append(Violation("", "The StartDate you specify cannot be earlier than 5 minutes ago."))
    if found:
        raise InvalidError(found)
    return Asked(body, given)


_operation = partial(Operation, tag="Scheduler", returns={}, refuses=aws_refusal)
_WRITES: Final = Accepts(ScheduleBody, read=_read, limit="bodyBytesMax")


@partial(_operation, method="POST", path=_ONE, access="write", accepts=_WRITES)
def create_schedule(services: Services, request: Request[NoQuery, Asked]) -> Reply:
    """CreateSchedule. A call that the SDK sends again changes nothing."""
    body = request.body.body
    key = JobKey(own_group(request, body.group_name), new_name(request))
    if services.schedule_groups.get(key.namespace).is_deleting:
        raise ConflictError(f"Schedule group {key.namespace} is being deleted.")
    now = request.requested_at
    reply = Reply(200, {"ScheduleArn": schedule_arn(request.function_arn, *key)})
    stored = _stored(services, key, now)
    if stored is None:
        definition = _definition(services, request, key, created_at=now)
        try:
            services.writer.put(
                key,
                definition,
                caller=request.caller.key_id,
                requested_at=now,
                if_absent=True,
                is_paused=body.state == "DISABLED",
            )
        except PreconditionError:
            # Another call came first. It may be this one, which the SDK has sent again.
            stored = _stored(services, key, now)
        else:
            return reply
    written = None if stored is None else written_of(stored.job.definition)
    if written is not None and is_repeated(written, request.body.document, body.client_token):
        return reply
    said = f"Schedule {key.name} already exists."
    raise ConflictError(said if written is not None else f"{said} {_NO_SCHEDULE}")


@partial(_operation, method="PUT", path=_ONE, access="write", accepts=_WRITES)
def update_schedule(services: Services, request: Request[NoQuery, Asked]) -> Reply:
    """UpdateSchedule. What the call leaves out is reset."""
    body, now = request.body.body, request.requested_at
    key = JobKey(own_group(request, body.group_name), request.path["name"])
    stored, _ = _schedule(services, key, now)
    definition = _definition(services, request, key, created_at=stored.job.created_at)
    who = request.caller.key_id
    is_paused = stored.state == "paused"
    if body.state == "DISABLED" and not is_paused:
        services.pauser.pause(key, reason="UpdateSchedule", who=who, requested_at=now)
    services.writer.put(key, definition, caller=who, requested_at=now)
    if body.state == "ENABLED" and is_paused:
        services.resumer.resume(key, who=who, requested_at=now, mode="none")
    return Reply(200, {"ScheduleArn": schedule_arn(request.function_arn, *key)})


@partial(_operation, method="GET", path=_ONE, access="read", query=ScheduleQuery)
def get_schedule(services: Services, request: Request[ScheduleQuery, None]) -> Reply:
    """GetSchedule."""
    key = JobKey(own_group(request, request.query.group_name), request.path["name"])
    view, written = _schedule(services, key, request.requested_at)
    if not is_as_written(view.job.definition, written):
        raise ConflictError(
            f"The job of schedule {key.name} was changed by Sweephand's own API. GET /v1/namespaces/"
            f"{key.namespace}/jobs/{key.name} shows it. UpdateSchedule makes it a schedule again."
        )
    schedule = written.schedule
    payload = view.job.definition.payload
    retry = {"MaximumEventAgeInSeconds": AGE_S_DEFAULT, "MaximumRetryAttempts": RETRIES_DEFAULT}
    target = {**schedule["Target"], "RetryPolicy": retry | schedule["Target"].get("RetryPolicy", {})}
    if written.has_input and payload is not None:
        target["Input"] = _input_of(payload.text or "null")
    return Reply(
        200,
        {
            "ScheduleExpressionTimezone": "UTC",
            "ActionAfterCompletion": "NONE",
            **{name: value for name, value in schedule.items() if name != "Target"},
            "Target": target,
            **_summary(request, view),
        },
    )


@partial(_operation, method="DELETE", path=_ONE, access="write", query=ScheduleQuery)
def delete_schedule(services: Services, request: Request[ScheduleQuery, None]) -> Reply:
    """DeleteSchedule."""
    key = JobKey(own_group(request, request.query.group_name), request.path["name"])
    now = request.requested_at
    _schedule(services, key, now)
    services.writer.delete(key, who=request.caller.key_id, requested_at=now)
    return Reply(200, {})


@partial(_operation, method="GET", path=_PATH, access="any", query=SchedulesQuery)
def list_schedules(services: Services, request: Request[SchedulesQuery, None]) -> Reply:
    """ListSchedules. A page can be short or empty, and NextToken says that there may be more."""
    query, now = request.query, request.requested_at
    group, _, after = (position("schedules", query.next_token) or DEFAULT_GROUP).partition("/")
    only = query.schedule_group
    if only is None and request.caller.namespace != EVERY_NAMESPACE:
        only = request.caller.namespace
    elif only is not None:
        only = services.schedule_groups.get(own_group(request, only)).name
    group = only or group
    found: list[dict[str, Any]] = []
    for _ in range(_GROUPS_MAX):
        page = services.reader.page(
            Selection(group, query.name_prefix, after=after), limit=query.max_results - len(found), now=now
        )
        found += [
            {**_summary(request, view), "Target": {"Arn": written.schedule["Target"]["Arn"]}}
            for view in page.items
            if (written := written_of(view.job.definition)) and query.state in (None, _state(view))
        ]
        after = page.next or ""
        if page.next is None:
            following = None if only else _next(services, group)
            if following is None:
                return Reply(200, {"Schedules": found})
            group = following
        if len(found) == query.max_results:
            break
    return Reply(200, {"Schedules": found, "NextToken": cursor.encode("schedules", f"{group}/{after}")})


SCHEDULES: Final = (create_schedule, update_schedule, get_schedule, delete_schedule, list_schedules)


def _next(services: Services, group: str) -> str | None:
    """The group whose schedules are listed after those of a group. The first one is `default`."""
    after = "" if group == DEFAULT_GROUP else group
    names = [each.name for each in services.schedule_groups.page("", after, 2).items]
    return next((name for name in names if name != DEFAULT_GROUP), None)


def _stored(services: Services, key: JobKey, now: Instant) -> View | None:
    try:
        return services.reader.get(key, now)
    except NotFoundError:
        return None


def _schedule(services: Services, key: JobKey, now: Instant) -> tuple[View, Written]:
    """The job of a schedule, and what it was written as. Raises NotFoundError."""
    view = _stored(services, key, now)
    if view is None:
        raise NotFoundError(f"Schedule {key.name} does not exist.")
    written = written_of(view.job.definition)
    if written is None:
        raise NotFoundError(f"Schedule {key.name} does not exist. {_NO_SCHEDULE}")
    return view, written


_NO_SCHEDULE: Final = "A job of this name was not written as a schedule."


def _definition(
    services: Services, request: Request[NoQuery, Asked], key: JobKey, *, created_at: Instant
) -> Definition:
    """The job of a schedule. Raises InvalidError."""
    document, now = request.body.document, request.requested_at
    arn = schedule_arn(request.function_arn, *key)
    try:
        made = translate(_with_dates(document), arn=arn, created_at=_datetime(created_at), now=_datetime(now))
    except NoTargetError as error:
        raise InvalidError([Violation("/Target/Arn", str(error))]) from None
    except OverError as error:
        raise InvalidError([Violation("/ScheduleExpression", str(error))]) from None
    definition = read_definition({"retention": _RETENTION, **made.fields, "data": _data(made)}, services, now)
    digest = None if definition.payload is None else definition.payload.digest
    text = written_text(document, definition.written, digest, request.body.body.client_token)
    return Definition({**definition.written, FIELD: text}, definition.payload)


def _data(made: Translated) -> Any:
    """The data of the job. An input that is no JSON is a text. An HTTP target gets none: InvalidError."""
    try:
        value = json_text.read(made.input)
    except MalformedError as error:
        if made.fields["target"]["type"] == "http":
            said = f"An https address gets its Input as the body. {error}"
            raise InvalidError([Violation("/data", said)]) from None
        return made.input
    return made.data(value, payload_of(json_text.write(value)).text or "")


def _input_of(text: str) -> str:
    """The Input of which the data of a job was made. `text` is the JSON text of the data."""
    return str(json.loads(text)) if text.startswith('"') else text


def _with_dates(document: Mapping[str, Any]) -> dict[str, Any]:
    dates = {name: _datetime(round(document[name] * SECOND_MS)) for name in _DATES if name in document}
    return {**document, **dates}


_DATES: Final = ("StartDate", "EndDate")


def _datetime(at: Instant) -> dt.datetime:
    return dt.datetime.fromtimestamp(at / SECOND_MS, dt.UTC)


def _state(view: View) -> str:
    return "DISABLED" if view.state == "paused" else "ENABLED"


def _summary(request: Request[Any, Any], view: View) -> dict[str, Any]:
    """What Get and List show of a schedule. Dates are seconds since 1970, as AWS writes them."""
    key = view.job.key
    return {
        "Arn": schedule_arn(request.function_arn, *key),
        "Name": key.name,
        "GroupName": key.namespace,
        "State": _state(view),
        "CreationDate": view.job.created_at / SECOND_MS,
        "LastModificationDate": view.job.updated_at / SECOND_MS,
    }
