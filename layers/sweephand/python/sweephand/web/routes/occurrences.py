"""The operations that show the due times of a stored job, and of a schedule that is not stored."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Annotated, Any, Final, Literal, NotRequired

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict  # pydantic asks for this one below Python 3.12

from sweephand.base.errors import InvalidError, ScheduleError
from sweephand.base.instants import INSTANT_MAX, SECOND_MS, Instant, rfc3339
from sweephand.base.limits import OCCURRENCES_MAX, PAGE_ITEMS_DEFAULT
from sweephand.jobs.fields.field import top_field
from sweephand.jobs.fields.timing import series_of_fields, timing_violations
from sweephand.schedules import Series
from sweephand.schedules.clock.dst import ClockEffect
from sweephand.schedules.clock.zones import Zone, zone_named
from sweephand.schedules.time_points import parse_instant
from sweephand.web.http.operation import Accepts, NoQuery, Operation, Reply, Request, Returns, Services
from sweephand.web.schemas.formats import (
    Moment,
    QueryParameters,
    Time,
    Whole,
    about,
    read_instant,
    time_or_none,
)
from sweephand.web.schemas.job_requests import Timing
from sweephand.web.schemas.schedule_description import describe
from sweephand.web.schemas.shapes import check, given_fields, needs_one_of

#: The effect of a clock change on a due time.
Reason = Literal["gap-shifted", "overlap-first", "overlap-last"]


class OccurrenceResponse(TypedDict):
    """One due time."""

    utc: Annotated[Time, about("The due time in UTC.")]
    local: Annotated[Time, about("The same instant in the job's time zone.")]
    reason: NotRequired[
        Annotated[
            Reason,
            about(
                "Only where the clock changes. `gap-shifted`: the due time replaces a local "
                "time that does not exist that day. `overlap-first`, `overlap-last`: the local time exists "
                "twice that day, and this is its first or last instant."
            ),
        ]
    ]


class SkippedResponse(TypedDict):
    """A local time of the schedule that is not a due time, because the clock changes."""

    utc: Annotated[Time, about("Of `overlap-skipped`, the instant. Of `gap-skipped`, the end of the gap.")]
    local: Annotated[str, about("The local time. It has no offset if it does not exist that day.")]
    reason: Annotated[
        Literal["gap-skipped", "overlap-skipped"],
        about(
            "`gap-skipped`: the local time does not exist that day. `overlap-skipped`: it "
            "exists twice that day, and its other instant fires."
        ),
    ]


class OccurrencesResponse(TypedDict):
    """Due times in order, and a description of the schedule."""

    occurrences: Annotated[list[OccurrenceResponse], about("The due times, earliest first.")]
    skipped: Annotated[
        list[SkippedResponse], about("The local times that clock changes dropped before the last due time.")
    ]
    description: Annotated[str, about("The schedule in words, without time zone and bounds.")]
    end: Annotated[
        Time | None, about("The last due time of the series. Null if it has no end, or a very distant one.")
    ]


class OccurrencesQuery(QueryParameters):
    """Selects the occurrences to show."""

    after: Moment | None = Field(
        None,
        description="Only due times after this instant (RFC 3339 with an offset). By default those from now "
        "on. They include a due time at the very instant of the request.",
    )
    limit: Whole = Field(
        PAGE_ITEMS_DEFAULT,
        ge=1,
        le=OCCURRENCES_MAX,
        description=f"How many due times; 1 to {OCCURRENCES_MAX}, {PAGE_ITEMS_DEFAULT} by default.",
    )


class PreviewRequest(Timing):
    """A schedule that is not stored: `schedule`, `dueTime` or both are required."""

    # Unlike a stored job, a preview cannot fire on demand.
    model_config = ConfigDict(json_schema_extra=needs_one_of(schedule=[None], due_time=[None]))

    after: Moment | None = Field(
        None,
        description="Only due times after this instant (RFC 3339 with an offset). By default those from now "
        "on. They include a due time at the very instant of the request. With an instant in the past, the "
        "schedule begins at that instant.",
    )
    limit: int | None = Field(
        None,
        ge=1,
        le=OCCURRENCES_MAX,
        description=f"How many due times; 1 to {OCCURRENCES_MAX}, {PAGE_ITEMS_DEFAULT} by default.",
    )


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


@dataclass(frozen=True, slots=True)
class Preview:
    """A series, and which of its occurrences to show."""

    series: Series
    after: Instant
    limit: int


def _read_preview(document: Mapping[str, Any], _: Services, requested_at: Instant) -> Preview:
    given = given_fields(document)
    asked, violations = check(PreviewRequest, given)
    invalid = {top_field(each) for each in violations}
    valid = {name: value for name, value in given.items() if name not in invalid}
    after = read_instant(valid["after"]) if "after" in valid else None
    reference_at = (
        requested_at if after is None else _reference_instant(valid.get("dueTime"), after, requested_at)
    )
    violations += timing_violations(given, valid, reference_at)
    if violations or asked is None:
        raise InvalidError(violations)
    since = requested_at - 1 if after is None else after
    return Preview(series_of_fields(given, reference_at), since, asked.limit or PAGE_ITEMS_DEFAULT)


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
    after = request.requested_at - 1 if request.query.after is None else request.query.after
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
        {
            "weekdays in Paris": {"schedule": "30 2 * * MON-FRI", "timezone": "Europe/Paris", "limit": 3},
            "cron by name": {"schedule": {"hour": "3,6,9", "dayOfWeek": "MON-FRI"}},
            "EventBridge's notation": {"schedule": "cron(0 10 ? * 6L 2027)"},
            "an ISO 8601 repetition": {"schedule": "R4/2027-01-31T09:00:00Z/P1M"},
            "instants": {"schedule": ["2027-12-24T14:00:00Z", "2027-12-31T14:00:00Z"]},
        },
        _read_preview,
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
    effects: list[ClockEffect] = []
    if coming:
        effects = list(islice(series.clock_effects(preview.after, coming[-1].due_at), _EFFECTS_MAX))
    reasons = {each.instant: _REASONS[each.cause] for each in effects if each.fires}
    return {
        "occurrences": [_occurrence(each.due_at, zone, reasons.get(each.due_at)) for each in coming],
        "skipped": [_skipped(each, zone) for each in effects if not each.fires][: preview.limit],
        "description": describe(series),
        "end": time_or_none(series.last_at()),
    }


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


def _reference_instant(due_time: Any, after: Instant, requested_at: Instant) -> Instant:
    """The instant at which a previewed schedule begins: the instant of the request, or a past `after`.

    If `after` is past and `dueTime` is an instant before it, the schedule begins at `dueTime`.
    """
    past = [after, requested_at]
    if isinstance(due_time, str):
        with suppress(ScheduleError):
            past.append(parse_instant(due_time))
    return max(_EARLIEST, min(past)) if after < requested_at else requested_at
