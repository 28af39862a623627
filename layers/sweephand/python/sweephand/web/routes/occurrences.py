"""The operations that show the due times of a stored job, and of a schedule that is not stored."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from operator import itemgetter
from typing import Annotated, Any, Final, Literal, NamedTuple, NotRequired

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict  # pydantic asks for this one below Python 3.12

from sweephand.base.errors import InvalidError, NotFoundError, ScheduleError, Violation
from sweephand.base.instants import INSTANT_MAX, SECOND_MS, Instant, rfc3339, rfc3339_or_none
from sweephand.base.limits import OCCURRENCES_MAX, PAGE_ITEMS_DEFAULT
from sweephand.jobs.fields.field import top_field
from sweephand.jobs.fields.timing import series_of_fields, timing_violations
from sweephand.model.calendar import CalendarKey
from sweephand.model.definition import Definition
from sweephand.schedules import Series
from sweephand.schedules.clock.dst import ClockEffect
from sweephand.schedules.clock.zones import Zone, zone_named
from sweephand.schedules.day_effects import day_effects, moved_from
from sweephand.schedules.day_rule import DayRule
from sweephand.schedules.time_points import parse_instant
from sweephand.web.http.operation import Accepts, NoQuery, Operation, Reply, Request, Returns, Services
from sweephand.web.schemas.calendars import CalendarDay, calendar_day
from sweephand.web.schemas.formats import Moment, Name, QueryParameters, Time, Whole, about, read_instant
from sweephand.web.schemas.job_requests import Timing
from sweephand.web.schemas.schedule_description import describe
from sweephand.web.schemas.shapes import check, given_fields, needs_one_of, without_nulls

#: The effect of a clock change or a calendar on a due time.
Reason = Literal["gap-shifted", "overlap-first", "overlap-last", "calendar-moved", "calendar-owed"]


class OccurrenceResponse(TypedDict):
    """One due time."""

    utc: Annotated[Time, about("The due time in UTC.")]
    local: Annotated[Time, about("The same instant in the job's time zone.")]
    reason: NotRequired[
        Annotated[
            Reason,
            about(
                "`gap-shifted`: the due time replaces a local "
                "time that does not exist that day. `overlap-first`, `overlap-last`: the local time exists "
                "twice that day, and this is its first or last instant. `calendar-moved`: the calendar has "
                "moved it from the day `movedFrom`. `calendar-owed`: the calendar was changed, and the due "
                "time replaces one that was then past."
            ),
        ]
    ]
    movedFrom: NotRequired[Annotated[CalendarDay, about("The day from which the calendar has moved it.")]]


class SkippedResponse(TypedDict):
    """A time of the schedule that is not a due time, because the clock changes, or by the calendar."""

    utc: Annotated[Time, about("The instant. Of `gap-skipped`, the end of the gap.")]
    local: Annotated[str, about("The local time. It has no offset if it does not exist that day.")]
    reason: Annotated[
        Literal["gap-skipped", "overlap-skipped", "calendar-skipped", "calendar-fired"],
        about(
            "`gap-skipped`: the local time does not exist that day. `overlap-skipped`: it "
            "exists twice that day, and its other instant fires. `calendar-skipped`: the job does not fire "
            "on `day`, and this is the first time of the schedule on it. `calendar-fired`: the calendar was "
            "changed, and what is due then has already fired on another day."
        ),
    ]
    day: NotRequired[Annotated[CalendarDay, about("The day that the calendar skips.")]]


class OccurrencesResponse(TypedDict):
    """Due times in order, and a description of the schedule."""

    occurrences: Annotated[list[OccurrenceResponse], about("The due times, earliest first.")]
    skipped: Annotated[
        list[SkippedResponse],
        about("The times that clock changes and the calendar dropped before the last due time."),
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
    namespace: Name | None = Field(
        None, description="The namespace of the `calendar`; required with it. The caller must see it."
    )


_REASONS: Final[Mapping[str, Reason]] = {
    "gap": "gap-shifted",
    "first": "overlap-first",
    "second": "overlap-last",
}

#: The most effects of clock changes, and days that do not fit, that one call reads. An expression can name
#: each second of a repeated hour.
_EFFECTS_MAX: Final = 10_000

#: No schedule has an occurrence before 1970.
_EARLIEST: Final[Instant] = 0


class Days(NamedTuple):
    """The calendar of a series, and the reasons of its days."""

    name: str
    reasons: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Preview:
    """A series, and which of its occurrences to show."""

    series: Series
    after: Instant
    limit: int
    days: Days | None = None


class AskedPreview(NamedTuple):
    """A valid preview whose calendar is not read yet: its fields, its beginning, and what to show."""

    fields: Mapping[str, Any]
    reference_at: Instant
    after: Instant
    limit: int


def _read_preview(document: Mapping[str, Any], _: Services, requested_at: Instant) -> AskedPreview:
    given = given_fields(document)
    if isinstance(given.get("calendar"), Mapping):
        given["calendar"] = without_nulls(given["calendar"])
    asked, violations = check(PreviewRequest, given)
    invalid = {top_field(each) for each in violations}
    valid = {name: value for name, value in given.items() if name not in invalid}
    after = read_instant(valid["after"]) if "after" in valid else None
    reference_at = (
        requested_at if after is None else _reference_instant(valid.get("dueTime"), after, requested_at)
    )
    violations += [*timing_violations(given, valid, reference_at), *_misplaced(given)]
    if violations or asked is None:
        raise InvalidError(violations)
    since = requested_at - 1 if after is None else after
    return AskedPreview(given, reference_at, since, asked.limit or PAGE_ITEMS_DEFAULT)


def _misplaced(given: Mapping[str, Any]) -> Iterator[Violation]:
    if "calendar" in given and "namespace" not in given:
        yield Violation("/namespace", "Give the namespace of the calendar.")
    elif "namespace" in given and "calendar" not in given:
        yield Violation("/namespace", "It says where a calendar is. Leave it out, or give a calendar.")


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
    days = _days_of(services, request.namespace, job.definition)
    return Reply(200, _occurrences_response(Preview(job.series, after, request.query.limit, days)))


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
def preview_occurrences(services: Services, request: Request[NoQuery, AskedPreview]) -> Reply:
    """Show the due times of a schedule that is not stored."""
    fields, reference_at, after, limit = request.body
    definition = Definition(fields)
    if definition.calendar is None:
        return Reply(
            200, _occurrences_response(Preview(series_of_fields(fields, reference_at), after, limit))
        )
    namespace = fields["namespace"]
    if not request.caller.sees(namespace):
        detail = "There is no such namespace, or you are a caller of another one."
        raise InvalidError([Violation("/namespace", detail)])
    definition = services.calendar_check.with_days(namespace, definition)
    series = series_of_fields(fields, reference_at, closed=definition.closed)
    days = _days_of(services, namespace, definition)
    return Reply(200, _occurrences_response(Preview(series, after, limit, days)))


def _days_of(services: Services, namespace: str, definition: Definition) -> Days | None:
    name = definition.calendar
    if name is None:
        return None
    with suppress(NotFoundError):
        return Days(name, services.calendars.get(CalendarKey(namespace, name)).content.reasons)
    return Days(name, {})


def _occurrences_response(preview: Preview) -> OccurrencesResponse:
    series, days = preview.series, preview.days
    zone = zone_named(series.timezone)
    coming = list(islice(series.due_times(preview.after), preview.limit))
    effects: list[ClockEffect] = []
    if coming:
        effects = list(islice(series.clock_effects(preview.after, coming[-1]), _EFFECTS_MAX))
    reasons = {each.instant: _REASONS[each.cause] for each in effects if each.fires}
    shown = [_occurrence(each, zone, reasons.get(each)) for each in coming]
    skipped = [(each.instant, _skipped(each, zone)) for each in effects if not each.fires]
    if days is not None and series.days is not None and coming:
        for due_at, response in zip(coming, shown, strict=True):
            _add_day(response, series, due_at, days)
        skipped += _dropped(series, series.days, days, preview.after, coming[-1])
        skipped.sort(key=itemgetter(0))
    return {
        "occurrences": shown,
        "skipped": [each for _, each in skipped][: preview.limit],
        "description": describe(series, None if days is None else days.name),
        "end": rfc3339_or_none(series.last_at()),
    }


def _occurrence(due_at: Instant, zone: Zone, reason: Reason | None) -> OccurrenceResponse:
    response: OccurrenceResponse = {"utc": rfc3339(due_at), "local": _local(due_at, zone)}
    if reason is not None:
        response["reason"] = reason
    return response


def _add_day(response: OccurrenceResponse, series: Series, due_at: Instant, days: Days) -> None:
    """Add what the calendar has done to a due time."""
    assert series.days is not None, "the series has a calendar"
    source = moved_from(series, due_at)
    if source is not None:
        response["reason"] = "calendar-moved"
        response["movedFrom"] = calendar_day(series.days.closed, source, days.reasons)
    elif due_at in series.days.also:
        response["reason"] = "calendar-owed"


def _dropped(
    series: Series, rule: DayRule, days: Days, after: Instant, through: Instant
) -> Iterator[tuple[Instant, SkippedResponse]]:
    """What the calendar drops between two instants."""
    zone = zone_named(series.timezone)
    for effect in islice(day_effects(series, after, through), _EFFECTS_MAX):
        if effect.target is None:
            at = effect.first_at
            response: SkippedResponse = {
                "utc": rfc3339(at),
                "local": _local(at, zone),
                "reason": "calendar-skipped",
                "day": calendar_day(rule.closed, effect.day, days.reasons),
            }
            yield at, response
    for at in rule.without:
        if after < at <= through:
            yield at, {"utc": rfc3339(at), "local": _local(at, zone), "reason": "calendar-fired"}


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
