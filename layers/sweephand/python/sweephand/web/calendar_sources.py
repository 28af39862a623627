"""The days of a calendar that come from elsewhere: the library of holidays, and iCalendar files.

The API alone imports this module, and only to write a calendar.
"""

import datetime as dt
import re
import warnings
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any, Final

import holidays
import icalendar
import recurring_ical_events

from sweephand.base.errors import InvalidError, Violation
from sweephand.base.limits import CALENDAR_DATES_MAX
from sweephand.base.names import quoted, suggestion
from sweephand.jobs.calendar_fields import closed_days_of, never_open
from sweephand.model.calendar import ResolvedDays

#: A calendar knows the holidays of the year before, and of so many years to come.
_YEARS_AHEAD: Final = 15

#: The library and its version, which decide about holidays.
SOURCE: Final = f"holidays {version('holidays')}"

_ENGLISH: Final = "en_US"

_DAY: Final = dt.timedelta(days=1)

_KNOWN_YEARS: Final = r"from [0-9]{4} to ([0-9]{4})"

#: What recurs more often, or more of it, could keep the API busy for longer than a call may take.
_FREQUENCIES: Final = ("WEEKLY", "MONTHLY", "YEARLY")
_RECURRING_MAX: Final = 50


def resolved(written: Mapping[str, Any], today: dt.date) -> ResolvedDays:
    """The days of a calendar whose fields are valid. InvalidError if a source cannot be read.

    InvalidError, too, if it leaves more than 31 days without an open one.
    """
    first, last = today.year - 1, today.year + _YEARS_AHEAD
    found: dict[dt.date, str] = {}
    known = [last] if {"holidays", "ics"} & written.keys() else []
    violations: list[Violation] = []
    for place, entry in enumerate(written.get("holidays", ())):
        try:
            source, known_to = _holidays(entry, f"/holidays/{place}", first, last)
        except InvalidError as error:
            violations += error.violations
        else:
            known.append(known_to)
            found |= source
    if "ics" in written:
        found, refusal = _events(written["ics"], first, last)
        violations += refusal
    if violations:
        raise InvalidError(violations)
    days, reasons = closed_days_of(written, found)
    row = never_open(days, today)
    if row is not None:
        detail = f"No day from {row[0]} to {row[1]} is open; expected an open day within any 31 days."
        raise InvalidError([Violation("/closed" if "closed" in written else "/weekend", detail)])
    known_until = f"{min(known)}-12-31" if known else None
    return ResolvedDays(days.text(), reasons, known_until, SOURCE if "holidays" in written else None)


def _holidays(entry: Mapping[str, Any], at: str, first: int, last: int) -> tuple[holidays.HolidayBase, int]:
    """The holidays of an entry, by their days, and the last year that is known.

    InvalidError names what the library does not know, and what is near.
    """
    name = "market" if "market" in entry else "country"
    names = holidays.list_supported_financial() if name == "market" else holidays.list_supported_countries()
    if entry[name] not in names:
        what = "a market such as XNYS" if name == "market" else "a country such as FR"
        detail = f"{quoted(entry[name])} is not known; expected {what}.{suggestion(entry[name], names)}"
        raise InvalidError([Violation(f"{at}/{name}", detail)])
    find = holidays.financial_holidays if name == "market" else holidays.country_holidays
    source = find(entry[name])
    parts = (*source.subdivisions, *source.subdivisions_aliases)
    part, categories = entry.get("subdivision"), entry.get("categories")
    if part is not None and part not in parts:
        listed = ", ".join(parts) if parts else "none"
        detail = f"{quoted(part)} is not known; {entry[name]} has {listed}.{suggestion(part, parts)}"
        raise InvalidError([Violation(f"{at}/subdivision", detail)])
    for place, each in enumerate(categories or ()):
        if each not in source.supported_categories:
            listed = ", ".join(source.supported_categories)
            detail = f"{quoted(each)} is not known; {entry[name]} has {listed}."
            raise InvalidError([Violation(f"{at}/categories/{place}", detail)])
    language = _ENGLISH if _ENGLISH in source.supported_languages else source.default_language
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = find(
            entry[name],
            **({} if part is None else {"subdiv": part}),
            years=range(max(first, source.start_year), min(last, source.end_year) + 1),
            expand=False,
            language=language,
            categories=categories,
        )
    # Days by the moon are known for some years alone. The library says so in a warning, and nowhere else.
    ends = [re.search(_KNOWN_YEARS, str(each.message)) for each in told]
    return found, min([source.end_year, *(int(each[1]) for each in ends if each)])


def _events(text: str, first: int, last: int) -> tuple[dict[dt.date, str], list[Violation]]:
    """The whole days of an iCalendar file, with the summaries of their events, and what is wrong with it."""
    try:
        file = icalendar.Calendar.from_ical(text)
        wrong = _why_unusable([*file.walk("VEVENT")])
        return ({}, [Violation("/ics", wrong)]) if wrong else (_days_of(file, first, last), [])
    except Exception as error:  # noqa: BLE001 - the libraries have no error of their own for a text that is none
        return {}, [Violation("/ics", f"It is no iCalendar text (RFC 5545): {error}")]


def _why_unusable(events: Sequence[icalendar.Component]) -> str | None:
    """What is wrong with the events of a file; None if all of them are of whole days, and not too many."""
    recurring = [each["RRULE"] for each in events if "RRULE" in each]
    starts = [(each.get("SUMMARY", "an event"), each.get("DTSTART")) for each in events]
    timed = [str(name) for name, start in starts if start is None or isinstance(start.dt, dt.datetime)]
    if not events:
        return "It has no VEVENT; expected events of whole days."
    if len(events) > CALENDAR_DATES_MAX:
        return f"{len(events)} events; expected at most {CALENDAR_DATES_MAX}."
    if timed:
        return f"{quoted(timed[0])} has a time of day; expected events of whole days."
    if len(recurring) > _RECURRING_MAX:
        return f"{len(recurring)} recurring events; expected at most {_RECURRING_MAX}."
    if not all(isinstance(each, icalendar.vRecur) and each["FREQ"][0] in _FREQUENCIES for each in recurring):
        return f"An RRULE recurs too often; expected one of {', '.join(_FREQUENCIES)}."
    return None


def _days_of(file: icalendar.Component, first: int, last: int) -> dict[dt.date, str]:
    """The days of all events from the first year to the last one. Cancelled events have none."""
    begin, end = dt.date(first, 1, 1), dt.date(last + 1, 1, 1)
    found: dict[dt.date, str] = {}
    for event in recurring_ical_events.of(file).between(begin, end):
        starts_on = event["DTSTART"].dt
        ends_on = max(event["DTEND"].dt, starts_on + _DAY)
        days = range(max(starts_on, begin).toordinal(), min(ends_on, end).toordinal())
        if event.get("STATUS") != "CANCELLED":
            found |= dict.fromkeys(map(dt.date.fromordinal, days), str(event.get("SUMMARY", "ics")))
    return found
