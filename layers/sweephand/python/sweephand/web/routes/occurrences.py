"""The operations that show the due times of a stored job, and of a schedule that is not stored."""

import datetime as dt
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, Final

from sweephand.base.errors import InvalidError, Violation
from sweephand.base.instants import (
    INSTANT_MAX,
    SECOND_MS,
    Instant,
    from_datetime,
    rfc3339,
)
from sweephand.base.limits import PAGE_ITEMS_DEFAULT
from sweephand.jobs.fields.field import top_field
from sweephand.jobs.fields.timing import series_of_fields, timing_violations
from sweephand.schedules import Series
from sweephand.schedules.clock.dst import ClockEffect
from sweephand.schedules.clock.zones import Zone, zone_named
from sweephand.schedules.errors import ScheduleError
from sweephand.schedules.time_points import RFC3339_PATTERN, parse_instant
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
from sweephand.web.schemas.job_requests import PreviewRequest
from sweephand.web.schemas.query import OccurrencesQuery
from sweephand.web.schemas.responses import (
    OccurrenceResponse,
    OccurrencesResponse,
    Reason,
    SkippedResponse,
)
from sweephand.web.schemas.schedule_description import describe
from sweephand.web.schemas.shapes import check
from sweephand.web.services import Services

_REASONS: Final[Mapping[str, Reason]] = {
    "gap": "gap-shifted",
    "first": "overlap-first",
    "second": "overlap-last",
}
#: The most effects of clock changes that one call reads. An expression can name each second of a repeated
#: hour.
_EFFECTS_MAX: Final = 10_000
#: No schedule has an occurrence before 1970.
_EARLIEST: Final[Instant] = 0
_RULE: Final = "Give an RFC 3339 instant with Z or an offset, as in 2027-01-31T09:00:00Z."


@dataclass(frozen=True, slots=True)
class Preview:
    """A series, and which of its occurrences to show."""

    series: Series
    after: Instant
    limit: int


def _read(document: Mapping[str, Any], _: Services, requested_at: Instant) -> ParsedBody[Preview]:
    given = {
        name: json_text.with_plain_numbers(value) for name, value in document.items() if value is not None
    }
    asked, violations = check(PreviewRequest, given)
    invalid = {top_field(each) for each in violations}
    valid = {name: value for name, value in given.items() if name not in invalid}
    after = None
    if "after" in valid:
        try:
            after = read_instant(valid["after"], "/after")
        except InvalidError as error:
            violations += error.violations
    reference_at = (
        requested_at if after is None else _reference_instant(valid.get("dueTime"), after, requested_at)
    )
    violations += timing_violations(given, valid, reference_at)
    if violations or asked is None:
        return ParsedBody(None, tuple(violations))
    series = series_of_fields(given, reference_at)
    since = requested_at - 1 if after is None else after
    return ParsedBody(Preview(series, since, PAGE_ITEMS_DEFAULT if asked.limit is None else asked.limit))


@partial(
    Operation,
    method="GET",
    path="/v1/namespaces/{namespace}/jobs/{name}/occurrences",
    tag="Occurrences",
    access="read",
    query=OccurrencesQuery,
    returns={200: Returns("The due times in order", OccurrencesResponse)},
    problems=(404,),
)
def list_occurrences(services: Services, request: Request[OccurrencesQuery, None]) -> Reply:
    """Show a job's next due times."""
    after = request.requested_at - 1
    if request.query.after is not None:
        after = read_instant(request.query.after, "/after")
    job = services.reader.get(request.key, request.requested_at).job
    return Reply(200, _occurrences_response(Preview(job.series, after, request.query.limit)))


@partial(
    Operation,
    method="POST",
    path="/v1/occurrences",
    tag="Occurrences",
    access="any",
    accepts=Accepts(
        PreviewRequest,
        _read,
        {
            "weekdays in Paris": {"schedule": "30 2 * * MON-FRI", "timezone": "Europe/Paris", "limit": 3},
            "cron by name": {"schedule": {"hour": "3,6,9", "dayOfWeek": "MON-FRI"}},
            "EventBridge's notation": {"schedule": "cron(0 10 ? * 6L 2027)"},
            "an ISO 8601 repetition": {"schedule": "R4/2027-01-31T09:00:00Z/P1M"},
            "instants": {"schedule": ["2027-12-24T14:00:00Z", "2027-12-31T14:00:00Z"]},
        },
    ),
    returns={200: Returns("The due times in order", OccurrencesResponse)},
)
def preview_occurrences(_: Services, request: Request[NoQuery, Preview]) -> Reply:
    """Show the due times of a schedule that is not stored."""
    return Reply(200, _occurrences_response(request.body))


def _occurrences_response(preview: Preview) -> OccurrencesResponse:
    series = preview.series
    zone = zone_named(series.timezone)
    coming = list(islice(series.occurrences(preview.after), preview.limit))
    effects = _clock_effects(preview, coming[-1].due_at) if coming else []
    reasons = {each.instant: _REASONS[each.cause] for each in effects if each.fires}
    end_at = series.last_at()
    response: OccurrencesResponse = {
        "occurrences": [_occurrence(each.due_at, zone, reasons.get(each.due_at)) for each in coming],
        "skipped": [_skipped(each, zone) for each in effects if not each.fires][: preview.limit],
        "description": describe(series),
        "end": None if end_at is None else rfc3339(end_at),
    }
    return response


def _clock_effects(preview: Preview, through: Instant) -> list[ClockEffect]:
    return list(islice(preview.series.clock_effects(preview.after, through), _EFFECTS_MAX))


def _occurrence(due_at: Instant, zone: Zone, reason: Reason | None) -> OccurrenceResponse:
    response: OccurrenceResponse = {"utc": rfc3339(due_at), "local": _local(due_at, zone)}
    if reason is not None:
        response["reason"] = reason
    return response


def _skipped(effect: ClockEffect, zone: Zone) -> SkippedResponse:
    if effect.cause == "gap":
        # A local time that does not exist has no offset from UTC.
        local = rfc3339(effect.wall_s * SECOND_MS).removesuffix("Z")
        return {"utc": rfc3339(effect.instant), "local": local, "reason": "gap-skipped"}
    return {
        "utc": rfc3339(effect.instant),
        "local": _local(effect.instant, zone),
        "reason": "overlap-skipped",
    }


def _local(instant: Instant, zone: Zone) -> str:
    """The local time of an instant in the zone, as RFC 3339 with the offset."""
    offset_s = zone.offset_at(instant // 1_000)
    sign = "-" if offset_s < 0 else "+"
    # Old offsets have seconds (local mean time). RFC 3339 has no way to write them.
    hours, minutes = divmod(abs(offset_s) // 60, 60)
    shift_ms = (hours * 60 + minutes) * 60_000
    wall_at = instant + (shift_ms if sign == "+" else -shift_ms)
    if wall_at > INSTANT_MAX:
        return rfc3339(instant)  # the local year is 10000, which RFC 3339 cannot write
    wall = rfc3339(wall_at)
    return f"{wall.removesuffix('Z')}{sign}{hours:02d}:{minutes:02d}"


def read_instant(text: str, at: str) -> Instant:
    """The instant that an RFC 3339 text names, rounded down to whole milliseconds.

    The instant may lie outside the years 1 to 9999 by the text's offset, since it only bounds a list. Raises
    InvalidError with the JSON pointer `at` for any other text.
    """
    with suppress(ScheduleError):
        return parse_instant(text, round_up=False)
    try:
        if not re.fullmatch(RFC3339_PATTERN, text):
            raise ValueError(text)  # noqa: TRY301 - the handler below refuses it like a date that does not exist
        return from_datetime(dt.datetime.fromisoformat(text))
    except ValueError:
        raise InvalidError([Violation(at, _RULE)]) from None


def _reference_instant(due_time: Any, after: Instant, requested_at: Instant) -> Instant:
    """The instant at which a previewed schedule begins: the instant of the request, or a past `after`.

    If `after` is past and `dueTime` is an instant before it, the schedule begins at `dueTime`.
    """
    past = [after, requested_at]
    if isinstance(due_time, str):
        with suppress(ScheduleError):
            past.append(parse_instant(due_time))
    return max(_EARLIEST, min(past)) if after < requested_at else requested_at
