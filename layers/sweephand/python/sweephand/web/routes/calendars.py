"""The operations that write, show, list and delete calendars, and that show their days."""

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Annotated, Any, Final, NamedTuple

from pydantic import Field, WithJsonSchema

from sweephand.base.errors import InvalidError, NotFoundError, Violation
from sweephand.base.instants import DAY_MS, Instant, to_datetime
from sweephand.jobs.calendar_fields import (
    calendar_violations,
    date_of,
    day_number,
    read_date,
    size_violations,
)
from sweephand.jobs.calendars import CalendarView
from sweephand.model.calendar import CalendarKey, ResolvedDays
from sweephand.schedules.day_rule import closed_days
from sweephand.web.http import cursor
from sweephand.web.http.operation import (
    Accepts,
    NoQuery,
    Operation,
    Reply,
    Request,
    Returns,
    Services,
    etag,
    parse_if_match,
    requires_absence,
    revision_headers,
)
from sweephand.web.schemas.calendars import (
    DATE,
    CalendarDay,
    CalendarDays,
    CalendarPage,
    CalendarPreview,
    CalendarRequest,
    CalendarResponse,
    calendar_brief,
    calendar_day,
    calendar_response,
)
from sweephand.web.schemas.formats import PageQuery, QueryParameters, Whole, from_text, page_query
from sweephand.web.schemas.shapes import check, given_fields, without_nulls

_NEXT_DAYS_MAX: Final = 20
#: How many days one call shows or compares, more than a year.
_DAYS_MAX: Final = 400


class WantedCalendar(NamedTuple):
    """A calendar as its caller wrote it, with its days."""

    written: Mapping[str, Any]
    days: ResolvedDays


def _read_calendar(document: Mapping[str, Any], _: Services, requested_at: Instant) -> WantedCalendar:
    given = given_fields(document, "calendarValuesMax")
    violations = check(CalendarRequest, given)[1] or [*calendar_violations(given), *_unnamed(given)]
    if violations:
        raise InvalidError(violations)
    given["holidays"] = [without_nulls(each) for each in given.get("holidays", ())]
    written = {name: value for name, value in given.items() if name != "holidays" or value}
    # The libraries take 0.3 s to import, and few calls write a calendar.
    from sweephand.web.calendar_sources import resolved  # noqa: PLC0415 - as above

    days = resolved(written, to_datetime(requested_at).date())
    violations = size_violations(written, days.reasons)
    if violations:
        raise InvalidError(violations)
    return WantedCalendar(written, days)


def _unnamed(given: Mapping[str, Any]) -> Iterator[Violation]:
    for place, entry in enumerate(given.get("holidays", ())):
        if len({"country", "market"} & without_nulls(entry).keys()) != 1:
            yield Violation(f"/holidays/{place}", "Expected either a country or a market.")


EXAMPLES: Final[Mapping[str, Any]] = {
    "France, with a works holiday": {
        "holidays": [{"country": "FR"}],
        "closed": [{"from": "2027-08-02", "to": "2027-08-13", "note": "works closed"}],
    },
    "closed on Sundays": {"weekend": ["SUN"]},
    "the stock exchange of New York": {"holidays": [{"market": "XNYS"}]},
}
_LIST_PATH: Final = "/v1/namespaces/{namespace}/calendars"
_PATH: Final = _LIST_PATH + "/{calendar}"
_HEADERS: Final = revision_headers("calendar")


def _read_day(text: str) -> int:
    day = read_date(text)
    if day is None:
        raise ValueError("Expected a date such as 2027-12-24.")
    return day_number(day)


Day = Annotated[int, from_text(_read_day), WithJsonSchema(DATE)]


class DaysQuery(QueryParameters):
    """Selects the days to show."""

    since: Day | None = Field(
        None, alias="from", description="The first day, as in 2027-01-01; today by default, in UTC."
    )
    days: Whole = Field(
        366, ge=1, le=_DAYS_MAX, description=f"How many days; 1 to {_DAYS_MAX}, 366 by default."
    )


@partial(
    Operation,
    method="PUT",
    path=_PATH,
    tag="Calendars",
    access="write",
    accepts=Accepts(CalendarRequest, EXAMPLES, _read_calendar, limit="bodyBytesMax"),
    headers=_HEADERS.if_match | _HEADERS.if_none_match,
    returns={
        200: Returns("The calendar was changed, or did not change", CalendarResponse, _HEADERS.etag),
        201: Returns("The calendar was created", CalendarResponse, _HEADERS.etag),
    },
    problems=(412, 503),
)
def put_calendar(services: Services, request: Request[NoQuery, WantedCalendar]) -> Reply:
    """Create or change a calendar.

    Jobs that name the calendar follow a change, a thousand of them within a minute. No time of their
    schedules fires twice. The call looks up the holidays of the year before and of fifteen years to come, as
    far as they are known. After an update of the stack, the same call may find other holidays.
    """
    written, days = request.body
    view, outcome = services.calendars.put(
        key_of(request),
        written,
        days,
        who=request.caller.key_id,
        requested_at=request.requested_at,
        if_match=parse_if_match(request.headers),
        if_absent=requires_absence(request.headers),
    )
    return _reply(view, request.requested_at, 201 if outcome == "created" else 200)


@partial(
    Operation,
    method="POST",
    path=_PATH + "/preview",
    tag="Calendars",
    access="read",
    accepts=Accepts(CalendarRequest, EXAMPLES, _read_calendar, limit="bodyBytesMax"),
    returns={200: Returns("The days that it would have", CalendarPreview)},
)
def preview_calendar(services: Services, request: Request[NoQuery, WantedCalendar]) -> Reply:
    """Show what a calendar would be.

    Nothing is written. The answer shows which days the stored calendar has otherwise, if there is one.
    """
    days = request.body.days
    try:
        stored = services.calendars.get(key_of(request)).calendar.closed
    except NotFoundError:
        stored = days.closed
    today = request.requested_at // DAY_MS
    before, after = closed_days(stored), closed_days(days.closed)
    differing = (day for day in range(today, max(before.end, after.end)) if before.has(day) != after.has(day))
    changes = [calendar_day(after, day, days.reasons) for day in islice(differing, _DAYS_MAX)]
    preview: CalendarPreview = {
        "nextDays": _coming(days.closed, days.reasons, today),
        "changes": changes,
        **({} if days.known_until is None else {"knownUntil": days.known_until}),  # type: ignore[typeddict-item]
    }
    return Reply(200, preview)


@partial(
    Operation,
    method="GET",
    path=_PATH,
    tag="Calendars",
    access="read",
    returns={200: Returns("The calendar", CalendarResponse, _HEADERS.etag)},
    problems=(404,),
)
def get_calendar(services: Services, request: Request[NoQuery, None]) -> Reply:
    """Show a calendar, its next days, and whether its jobs have followed the last change."""
    return _reply(services.calendars.get(key_of(request)), request.requested_at)


@partial(
    Operation,
    method="GET",
    path=_PATH + "/days",
    tag="Calendars",
    access="read",
    query=DaysQuery,
    returns={200: Returns("The days", CalendarDays)},
    problems=(404,),
)
def list_calendar_days(services: Services, request: Request[DaysQuery, None]) -> Reply:
    """Show which days of a calendar are closed, and why."""
    view = services.calendars.get(key_of(request))
    first = request.requested_at // DAY_MS if request.query.since is None else request.query.since
    closed, reasons = closed_days(view.calendar.closed), view.content.reasons
    shown: CalendarDays = {
        "days": [
            calendar_day(closed, day, reasons)
            for day in range(first, first + request.query.days)
            if closed.has(day) or date_of(day).isoformat() in reasons
        ]
    }
    return Reply(200, shown)


@partial(
    Operation,
    method="DELETE",
    path=_PATH,
    tag="Calendars",
    access="write",
    headers=_HEADERS.if_match,
    returns={204: Returns("The calendar is deleted")},
    problems=(404, 409, 412, 503),
)
def delete_calendar(services: Services, request: Request[NoQuery, None]) -> Reply:
    """Delete a calendar.

    The answer is 409 while jobs name the calendar, and it names some of them. It is 409, too, if the
    namespace has more than {calendarJobsExaminedMax} jobs.
    """
    services.calendars.delete(
        key_of(request),
        who=request.caller.key_id,
        requested_at=request.requested_at,
        if_match=parse_if_match(request.headers),
    )
    return Reply(204)


@partial(
    Operation,
    method="GET",
    path=_LIST_PATH,
    tag="Calendars",
    access="read",
    query=page_query("calendars"),
    returns={200: Returns("A page of calendars", CalendarPage)},
)
def list_calendars(services: Services, request: Request[PageQuery, None]) -> Reply:
    """List calendars by name, without their days."""
    page = services.calendars.page(request.namespace, request.query.cursor, request.query.limit)
    return Reply(200, cursor.page_of("calendars", page, calendar_brief))


def _reply(view: CalendarView, now: Instant, status: int = 200) -> Reply:
    coming = _coming(view.calendar.closed, view.content.reasons, now // DAY_MS)
    return Reply(status, calendar_response(view, coming), {"etag": etag(view.calendar.version)})


def _coming(closed: str, reasons: Mapping[str, str], today: int) -> list[CalendarDay]:
    """The next days that differ from the rule of their week."""
    days = closed_days(closed)
    differing = (day for day in range(today, days.end) if days.differs(day))
    return [calendar_day(days, day, reasons) for day in islice(differing, _NEXT_DAYS_MAX)]


def key_of(request: Request[Any, Any]) -> CalendarKey:
    """The calendar that a request names."""
    return CalendarKey(request.namespace, request.path["calendar"])
