"""The bodies of calls about calendars, and their answers.

`make client-types` writes this module from the OpenAPI document, which says what each field means. Times in
answers are RFC 3339 in UTC. A newer stack may answer with more fields.
"""

from typing import Any, Literal, NotRequired, TypedDict

from sweephand_client.openapi.job_answers import CalendarDay


class CalendarHolidays(TypedDict):
    """The holidays of a country, of a part of it, or of a market."""

    country: NotRequired[str | None]
    market: NotRequired[str | None]
    subdivision: NotRequired[str | None]
    categories: NotRequired[list[str] | None]


#: Days in a row.
CalendarSpan = TypedDict(
    "CalendarSpan",
    {
        "from": str,
        "to": NotRequired[str | None],
        "note": NotRequired[str | None],
    },
)


class CalendarRequest(TypedDict):
    """Which days are closed."""

    weekend: NotRequired[list[Literal["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"]] | None]
    holidays: NotRequired[list[CalendarHolidays] | None]
    ics: NotRequired[str | None]
    closed: NotRequired[list[str | CalendarSpan] | None]
    open: NotRequired[list[str | CalendarSpan] | None]


class CalendarResponse(TypedDict):
    """A calendar."""

    namespace: str
    name: str
    rev: str
    knownUntil: NotRequired[str]
    source: NotRequired[str]
    state: Literal["current", "following"]
    jobsChanged: int
    createdAt: str
    updatedAt: str
    owner: str
    weekend: NotRequired[list[Literal["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"]]]
    holidays: NotRequired[list[dict[str, Any]]]
    ics: NotRequired[str]
    closed: NotRequired[list[Any]]
    open: NotRequired[list[Any]]
    nextDays: list[CalendarDay]


class CalendarPreview(TypedDict):
    """The days that a calendar would have."""

    nextDays: list[CalendarDay]
    changes: list[CalendarDay]
    knownUntil: NotRequired[str]


class CalendarDays(TypedDict):
    """Days of a calendar."""

    days: list[CalendarDay]


class CalendarBriefResponse(TypedDict):
    """A calendar as a list shows it."""

    namespace: str
    name: str
    rev: str
    knownUntil: NotRequired[str]
    source: NotRequired[str]
    state: Literal["current", "following"]
    jobsChanged: int
    createdAt: str
    updatedAt: str
    owner: str
