"""The bodies of requests about calendars, and of their answers."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, NotRequired

from pydantic import ConfigDict, Field, PlainValidator, WithJsonSchema
from typing_extensions import TypedDict  # pydantic asks for this one below Python 3.12

from sweephand.base.instants import rfc3339
from sweephand.base.limits import (
    CALENDAR_DATES_MAX,
    CALENDAR_ICS_BYTES_MAX,
    CALENDAR_NOTE_LENGTH_MAX,
    CALENDAR_SOURCES_MAX,
    CALENDAR_SPAN_DAYS_MAX,
)
from sweephand.jobs.calendar_fields import WEEKDAYS, date_of, reason_of_day
from sweephand.jobs.calendars import CalendarView
from sweephand.model.calendar import Calendar
from sweephand.schedules.day_rule import ClosedDays
from sweephand.web.schemas.formats import NextCursor, Time, about
from sweephand.web.schemas.shapes import RequestBody, needs_one_of

#: A date such as 2027-12-24.
DATE: Final = {"type": "string", "format": "date", "minLength": 10, "maxLength": 10}
_Date = Annotated[str, WithJsonSchema(DATE)]


class CalendarSpan(RequestBody):
    """Days in a row."""

    first: _Date = Field(alias="from", description="The first day.")
    to: _Date | None = Field(
        None,
        description=f"The last day, at most {CALENDAR_SPAN_DAYS_MAX} days after the first; the first day by "
        "default.",
    )
    note: str | None = Field(None, max_length=CALENDAR_NOTE_LENGTH_MAX, description="Why, for people.")


def _list(value: object) -> object:
    if not isinstance(value, list):
        raise ValueError("Must be a list.")  # noqa: TRY004 - pydantic takes no other one
    return value


_Weekday = Literal["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"]
#: jobs/calendar_fields.py checks the entries.
_Spans = Annotated[
    list[Any],
    PlainValidator(
        _list,
        json_schema_input_type=Annotated[list[_Date | CalendarSpan], Field(max_length=CALENDAR_DATES_MAX)],
    ),
]
_Code = Annotated[str, Field(min_length=1, max_length=64)]

_WEEKEND: Final = "The days of the week that are closed; SAT and SUN by default."
_CLOSED: Final = (
    "Days that are closed: dates, or objects with `from`, `to` (both included) and a `note`. With `open`, up "
    f"to {CALENDAR_DATES_MAX} entries."
)
_OPEN: Final = "Days that are open whatever else closes them, in the form of `closed`."
_HOLIDAYS: Final = (
    "Whose holidays are closed, up to "
    f"{CALENDAR_SOURCES_MAX} entries. The Python library `holidays` knows their days."
)
_ICS: Final = (
    "The text of an iCalendar file, whose events of whole days are closed. It stands in the place of "
    f"`holidays`, and has up to {CALENDAR_ICS_BYTES_MAX} characters."
)


class CalendarHolidays(RequestBody):
    """The holidays of a country, of a part of it, or of a market."""

    model_config = ConfigDict(json_schema_extra=needs_one_of(country=[None], market=[None]))

    country: _Code | None = Field(None, description="The code of a country, such as FR.")
    market: _Code | None = Field(
        None, description="The code of a market in place of a country, such as XNYS."
    )
    subdivision: _Code | None = Field(None, description="The code of a part of the country, such as 57.")
    categories: list[_Code] | None = Field(
        None, max_length=8, description="Which holidays of the country; `public` by default."
    )


class CalendarRequest(RequestBody):
    """Which days are closed. `open` wins over `closed`, and both over holidays and the weekend."""

    weekend: list[_Weekday] | None = Field(None, max_length=len(WEEKDAYS), description=_WEEKEND)
    holidays: list[CalendarHolidays] | None = Field(None, description=_HOLIDAYS)
    ics: str | None = Field(None, max_length=CALENDAR_ICS_BYTES_MAX, description=_ICS)
    closed: _Spans | None = Field(None, description=_CLOSED)
    open: _Spans | None = Field(None, description=_OPEN)


class CalendarDay(TypedDict):
    """A day that is closed, or that is open against the rule of its week."""

    date: Annotated[str, about("The day, as in 2027-12-24.")]
    isClosed: Annotated[bool, about("Whether the day is closed.")]
    reason: Annotated[
        str, about("The name of the holiday, the note of the day, or `weekend`, `closed` or `open`.")
    ]


class CalendarBriefResponse(TypedDict):
    """A calendar as a list shows it."""

    namespace: Annotated[str, about("The namespace of the calendar.")]
    name: Annotated[str, about("The calendar's name, unique within its namespace.")]
    rev: Annotated[str, about("The revision. The `ETag` header shows it too.")]
    knownUntil: NotRequired[
        Annotated[str, about("The last day whose holidays or events are known. After it, only weekends are.")]
    ]
    source: NotRequired[Annotated[str, about("The library that knows the holidays, and its version.")]]
    state: Annotated[
        Literal["current", "following"],
        about(
            "`following`: the calendar was changed, and some of its jobs still fire by its former days. "
            "`current`: all of them follow it."
        ),
    ]
    jobsChanged: Annotated[int, about("How many jobs have followed the last change.")]
    createdAt: Annotated[Time, about("When the calendar was created.")]
    updatedAt: Annotated[Time, about("When the calendar was last written.")]
    owner: Annotated[
        str, about("The id of the key that wrote the calendar, or the stack and resource of a template.")
    ]


class CalendarResponse(CalendarBriefResponse):
    """A calendar."""

    weekend: NotRequired[Annotated[list[_Weekday], about(_WEEKEND)]]
    holidays: NotRequired[Annotated[list[dict[str, Any]], about(_HOLIDAYS)]]
    ics: NotRequired[Annotated[str, about(_ICS)]]
    closed: NotRequired[Annotated[list[Any], about(_CLOSED)]]
    open: NotRequired[Annotated[list[Any], about(_OPEN)]]
    nextDays: Annotated[
        list[CalendarDay], about("The next days that differ from the rule of their week, up to 20.")
    ]


class CalendarPreview(TypedDict):
    """The days that a calendar would have."""

    nextDays: Annotated[
        list[CalendarDay], about("The next days that differ from the rule of their week, up to 20.")
    ]
    changes: Annotated[
        list[CalendarDay],
        about("The days from today on that the stored calendar has otherwise, up to 400."),
    ]
    knownUntil: NotRequired[
        Annotated[str, about("The last day whose holidays or events are known. After it, only weekends are.")]
    ]


class CalendarDays(TypedDict):
    """Days of a calendar."""

    days: Annotated[
        list[CalendarDay],
        about("The days that are closed, and those that differ from the rule of their week."),
    ]


class CalendarPage(TypedDict):
    """A page of calendars in the order of their names. It has a `nextCursor` if there may be more."""

    items: Annotated[list[CalendarBriefResponse], about("The calendars, in the order of their names.")]
    nextCursor: NotRequired[NextCursor]


def calendar_day(days: ClosedDays, day: int, reasons: Mapping[str, str]) -> CalendarDay:
    """A day of a calendar that has these reasons."""
    reason = reason_of_day(days, day, reasons)
    return {"date": date_of(day).isoformat(), "isClosed": days.has(day), "reason": reason}


def calendar_brief(calendar: Calendar) -> CalendarBriefResponse:
    """A calendar as a list shows it."""
    shown: Any = {
        "namespace": calendar.key.namespace,
        "name": calendar.key.name,
        "rev": calendar.version,
        **({} if calendar.known_until is None else {"knownUntil": calendar.known_until}),
        **({} if calendar.source is None else {"source": calendar.source}),
        "state": "current" if calendar.reached is None else "following",
        "jobsChanged": calendar.followed,
        "createdAt": rfc3339(calendar.created_at),
        "updatedAt": rfc3339(calendar.updated_at),
        "owner": calendar.owner,
    }
    response: CalendarBriefResponse = shown
    return response


def calendar_response(view: CalendarView, coming: list[CalendarDay]) -> CalendarResponse:
    """A calendar with the days to come that differ from the rule of their week."""
    brief: Any = calendar_brief(view.calendar)
    shown: Any = {**brief, **view.content.written, "nextDays": coming}
    response: CalendarResponse = shown
    return response
