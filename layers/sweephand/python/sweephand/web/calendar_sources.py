"""The days of a calendar that come from elsewhere: the library of holidays, and iCalendar files.

The API alone imports this module, and only to write a calendar.
"""

import datetime as dt
import re
import warnings
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from itertools import islice, takewhile
from typing import Any, Final

import holidays
import icalendar
import recurring_ical_events
from dateutil.rrule import rrulestr

from sweephand.base.errors import InvalidError, Violation
from sweephand.base.limits import (
    CALENDAR_DATES_MAX,
    CALENDAR_ICS_DAYS_MAX,
    CALENDAR_ICS_RULES_MAX,
    CALENDAR_ICS_VALUES_MAX,
    CALENDAR_NOTE_LENGTH_MAX,
)
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

#: What an RRULE may have, by its frequency. A closed day has no hour. What recurs more often, more of it, or
#: longer lists could keep the API busy for longer than a call may take.
_EACH_PARTS: Final = {"FREQ", "INTERVAL", "COUNT", "UNTIL", "WKST"}
_PARTS: Final = {
    "WEEKLY": {"BYDAY"},
    "MONTHLY": {"BYDAY", "BYMONTH", "BYMONTHDAY", "BYSETPOS"},
    "YEARLY": {"BYDAY", "BYMONTH", "BYMONTHDAY", "BYSETPOS", "BYWEEKNO", "BYYEARDAY"},
}
_RULE_VALUES_MAX: Final = 400
_INTERVAL_MAX: Final = 100
_FIRST_YEAR: Final = 1970

#: With this INTERVAL, a rule of months or years has the days of its first period alone.
_NEVER_AGAIN: Final = 12 * dt.MAXYEAR

#: What is read of an event, and what it has to be.
_READ: Final[Mapping[str, type]] = {
    "UID": str,
    "SUMMARY": str,
    "STATUS": str,
    "SEQUENCE": int,
    "DTSTART": dt.date,
    "DTEND": dt.date,
    "RECURRENCE-ID": dt.date,
    "DURATION": dt.timedelta,
    "RRULE": object,
}
_LISTS: Final = {"EXDATE", "RDATE"}

_TOO_MANY_DAYS: Final = (
    f"Its events have too many days; expected at most {CALENDAR_ICS_DAYS_MAX} (calendarIcsDaysMax)."
)

#: What the libraries raise for a text that is none, for days after the year 9999, and for `BYDAY=99MO`.
_UNREADABLE: Final = (ValueError, OverflowError, IndexError)


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
        found = _events(written["ics"], first, last)
    if violations:
        raise InvalidError(violations)
    days, reasons = closed_days_of(written, found)
    row = never_open(days, today)
    if row is not None:
        detail = f"No day from {row[0]} to {row[1]} is open; expected an open day within any 31 days."
        alone = never_open(closed_days_of(written, {})[0], today)
        origin = "ics" if "ics" in written else "holidays"
        field = origin if alone is None else "closed" if "closed" in written else "weekend"
        raise InvalidError([Violation(f"/{field}", detail)])
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


def _events(text: str, first: int, last: int) -> dict[dt.date, str]:
    """The whole days of an iCalendar file, with the summaries of their events.

    InvalidError if there are none, or if reading them could take a second.
    """
    values, begin, end = text.count("\n") + text.count(","), dt.date(first, 1, 1), dt.date(last + 1, 1, 1)
    if values > CALENDAR_ICS_VALUES_MAX:
        most = f"{CALENDAR_ICS_VALUES_MAX} (calendarIcsValuesMax)"
        raise _refusal(f"{values} lines and commas; expected at most {most}.")
    file = icalendar.Calendar()
    try:
        file.subcomponents = [_plain(each) for each in icalendar.Calendar.from_ical(text).walk("VEVENT")]
        _check(file.subcomponents)
        recurring = [_recurring_days(each, end) for each in file.subcomponents]
        if sum(map(len, recurring)) > CALENDAR_ICS_DAYS_MAX:
            raise _refusal(_TOO_MANY_DAYS)
        for event, days in zip(file.subcomponents, recurring, strict=True):
            event.add("RDATE", days)
        return _days_of(file, begin, end)
    except _UNREADABLE as error:
        raise _refusal(f"It is no iCalendar text (RFC 5545): {error}") from error


def _refusal(detail: str) -> InvalidError:
    return InvalidError([Violation("/ics", detail)])


def _plain(event: Any) -> Any:
    """The event with what is read of it, all days as dates. Each of its occurrences copies the event."""
    plain = icalendar.Event()
    for name, kind in _READ.items():
        given = event.get(name)
        value = given.dt if isinstance(given, icalendar.vDDDTypes) else given
        if isinstance(value, dt.datetime) or (isinstance(value, dt.timedelta) and value % _DAY):
            raise _refusal(f"{_named(event)} has a time of day; expected events of whole days.")
        if not isinstance(value, kind | None):
            raise _refusal(f"{_named(event)} has {name} twice, or in a form of its own.")
        if given is not None:
            plain[name] = given[:CALENDAR_NOTE_LENGTH_MAX] if name == "SUMMARY" else given
    for name in _LISTS & event.keys():
        lists = event[name] if isinstance(event[name], list) else [event[name]]
        dates = [each.dt for given in lists for each in getattr(given, "dts", ())]
        if not dates or not all(isinstance(each, dt.date) for each in dates):
            raise _refusal(f"{_named(event)} has {name} without dates.")
        plain.add(name, [*map(_date_of, dates)])
    if "DTSTART" not in plain:
        raise _refusal(f"{_named(event)} has no DTSTART; expected events of whole days.")
    return plain


def _named(event: Any) -> str:
    return quoted(str(event.get("SUMMARY", "an event")))


def _check(events: Sequence[Any]) -> None:
    """Raise InvalidError if events are too many, or too hard to read."""
    rules = [each["RRULE"] for each in events if "RRULE" in each]
    if not events:
        raise _refusal("It has no VEVENT; expected events of whole days.")
    if len(events) > CALENDAR_DATES_MAX:
        raise _refusal(f"{len(events)} events; expected at most {CALENDAR_DATES_MAX}.")
    if len(rules) > CALENDAR_ICS_RULES_MAX:
        raise _refusal(f"{len(rules)} recurring events; expected at most {CALENDAR_ICS_RULES_MAX}.")
    for rule in rules:
        frequency = rule["FREQ"][0] if isinstance(rule, icalendar.vRecur) and "FREQ" in rule else None
        if frequency not in _PARTS:
            raise _refusal(f"An RRULE recurs too often; expected one of {', '.join(_PARTS)}.")
        unknown = sorted(rule.keys() - _EACH_PARTS - _PARTS[frequency])
        if unknown:
            expected = ", ".join(sorted(_EACH_PARTS | _PARTS[frequency]))
            raise _refusal(f"An RRULE with FREQ={frequency} has {unknown[0]}; expected {expected}.")
        if not 1 <= rule.get("INTERVAL", [1])[0] <= _INTERVAL_MAX:
            raise _refusal(f"An RRULE has an INTERVAL that is not from 1 to {_INTERVAL_MAX}.")
        if not all(isinstance(each, dt.date) for each in rule.get("UNTIL", ())):
            raise _refusal("An RRULE has an UNTIL that is no date.")
    values = sum(len(rule[part]) for rule in rules for part in rule if part.startswith("BY"))
    if values > _RULE_VALUES_MAX:
        raise _refusal(f"RRULEs list {values} values; expected at most {_RULE_VALUES_MAX}.")


def _recurring_days(event: Any, end: dt.date) -> list[dt.date]:
    """Take RDATE and RRULE from an event, and return its days by them: those of the rule before `end`.

    RFC 5545 (3.8.5.3) leaves open what a rule means of which DTSTART is no day. The search for the first
    day of such a rule could last until the year 9999.
    """
    rule, start = event.pop("RRULE", None), event["DTSTART"].dt
    listed = [each.dt for each in event.pop("RDATE").dts] if "RDATE" in event else []
    if rule is None:
        return [start, *listed]
    until = min(_date_of(each) for each in (*rule.get("UNTIL", ()), end - _DAY))
    text: Any = icalendar.vRecur({name: each for name, each in rule.items() if name != "UNTIL"})
    days = rrulestr(text.to_ical().decode(), dtstart=dt.datetime.combine(start, dt.time()))
    begun = days if rule["FREQ"][0] == "WEEKLY" else days.replace(interval=_NEVER_AGAIN)
    if next(map(_date_of, begun), None) != start or start.year < _FIRST_YEAR:
        raise _refusal(
            f"DTSTART of {_named(event)} is {start}; expected a day of its RRULE, from {_FIRST_YEAR} on."
        )
    coming = takewhile(lambda each: each <= until, map(_date_of, days))
    return [*listed, *islice(coming, CALENDAR_ICS_DAYS_MAX + 1)]


def _date_of(moment: dt.date) -> dt.date:
    return moment.date() if isinstance(moment, dt.datetime) else moment


def _days_of(file: icalendar.Component, begin: dt.date, end: dt.date) -> dict[dt.date, str]:
    """The days of all events from one day to before another one. Cancelled events have none."""
    found: dict[dt.date, str] = {}
    number = 0
    for event in recurring_ical_events.of(file).between(begin, end):
        starts_on = event["DTSTART"].dt
        ends_on = max(event["DTEND"].dt, starts_on + _DAY)
        days = range(max(starts_on, begin).toordinal(), min(ends_on, end).toordinal())
        number += len(days)
        if number > CALENDAR_ICS_DAYS_MAX:
            raise _refusal(_TOO_MANY_DAYS)
        if event.get("STATUS") != "CANCELLED":
            found |= dict.fromkeys(map(dt.date.fromordinal, days), str(event.get("SUMMARY", "ics")))
    return found
