"""The fields of a calendar: which are valid, and which days they close and open by themselves."""

import datetime as dt
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from sweephand.base.errors import Violation
from sweephand.base.limits import (
    CALENDAR_CONTENT_BYTES_MAX,
    CALENDAR_DATES_MAX,
    CALENDAR_NOTE_LENGTH_MAX,
    CALENDAR_SOURCES_MAX,
    CALENDAR_SPAN_DAYS_MAX,
)
from sweephand.base.names import quoted
from sweephand.schedules.day_rule import MOVED_DAYS_MAX, ClosedDays

#: The days of the week as a calendar names them; Monday is 0.
WEEKDAYS: Final = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")

#: The weekend of a calendar that names none.
WEEKEND_DEFAULT: Final = ("SAT", "SUN")

_EPOCH_DAY: Final = dt.date(1970, 1, 1).toordinal()
_YEARS: Final = range(1970, 2200)


class Span(NamedTuple):
    """Days of a list, both included, and what the list says of them."""

    first: dt.date
    last: dt.date
    note: str | None = None

    def dates(self) -> Iterator[dt.date]:
        """Each day of the span."""
        return (self.first + dt.timedelta(days=each) for each in range((self.last - self.first).days + 1))


def read_spans(at: str, entries: Sequence[Any]) -> tuple[list[Span], list[Violation]]:
    """The spans of a list, which is at that JSON pointer, and what is wrong with its entries."""
    found: list[Span] = []
    wrong: list[Violation] = []
    for place, entry in enumerate(entries):
        pointer = f"{at}/{place}"
        span = (
            {name: each for name, each in entry.items() if each is not None}
            if isinstance(entry, Mapping)
            else {"from": entry}
        )
        unknown = next((each for each in span if each not in {"from", "to", "note"}), None)
        if unknown is not None:
            wrong.append(Violation(f"{pointer}/{unknown}", "No such field; expected from, to and note."))
            continue
        first, last = read_date(span.get("from")), read_date(span.get("to", span.get("from")))
        note = span.get("note")
        if first is None or last is None:
            name = "from" if first is None else "to"
            inner = f"/{name}" if isinstance(entry, Mapping) else ""
            wrong.append(Violation(pointer + inner, _NO_DATE.format(quoted(str(span.get(name))))))
        elif not 0 <= (last - first).days <= CALENDAR_SPAN_DAYS_MAX:
            wrong.append(
                Violation(f"{pointer}/to", f"Expected a day up to {CALENDAR_SPAN_DAYS_MAX} days after from.")
            )
        elif note is not None and not (isinstance(note, str) and len(note) <= CALENDAR_NOTE_LENGTH_MAX):
            wrong.append(
                Violation(f"{pointer}/note", f"Expected text of up to {CALENDAR_NOTE_LENGTH_MAX} characters.")
            )
        else:
            found.append(Span(first, last, note))
    return found, wrong


_NO_DATE: Final = "{} is no date; expected one from 1970 to 2199 such as 2027-12-24."


def read_date(text: object) -> dt.date | None:
    """The day of a text such as `2027-12-24`; None if it is none."""
    try:
        day = dt.date.fromisoformat(text) if isinstance(text, str) and len(text) == len(_DATE) else None
    except ValueError:
        return None
    return day if day is not None and day.year in _YEARS and day.isoformat() == text else None


_DATE: Final = "2027-12-24"


def calendar_violations(written: Mapping[str, Any]) -> list[Violation]:
    """What is wrong with a calendar beside the shapes of its fields and what its sources judge."""
    closed, opened = written.get("closed", ()), written.get("open", ())
    found = [*read_spans("/closed", closed)[1], *read_spans("/open", opened)[1]]
    number = len(closed) + len(opened)
    if number > CALENDAR_DATES_MAX:
        detail = f"{number} dates and spans; expected at most {CALENDAR_DATES_MAX} in closed and open."
        found.insert(0, Violation("/closed" if len(closed) >= len(opened) else "/open", detail))
    if "holidays" in written and "ics" in written:
        found.append(Violation("/ics", "Expected either holidays or ics, and not both."))
    if len(written.get("holidays", ())) > CALENDAR_SOURCES_MAX:
        found.append(Violation("/holidays", f"Expected at most {CALENDAR_SOURCES_MAX} entries."))
    return found


def size_violations(written: Mapping[str, Any], reasons: Mapping[str, str]) -> list[Violation]:
    """What is wrong if a calendar with those reasons has no room in its item, which has them deflated."""
    size = sum(len(zlib.compress(json.dumps(each).encode())) for each in (written, reasons))
    if size <= CALENDAR_CONTENT_BYTES_MAX:
        return []
    most = f"{CALENDAR_CONTENT_BYTES_MAX} (calendarContentBytesMax)"
    return [Violation("", f"The calendar takes {size} bytes, deflated; expected at most {most}.")]


def closed_days_of(
    written: Mapping[str, Any], holidays: Mapping[dt.date, str]
) -> tuple[ClosedDays, dict[str, str]]:
    """The closed days of a valid calendar with those holidays, and the reasons of its days by date.

    `open` wins over `closed`, and both over holidays and the weekend.
    """
    weekend = [WEEKDAYS.index(each) for each in written.get("weekend", WEEKEND_DEFAULT)]
    closed: dict[int, bool] = {}
    reasons: dict[str, str] = {}

    def note(day: dt.date, reason: str, *, is_closed: bool) -> None:
        closed[day_number(day)] = is_closed
        reasons[day.isoformat()] = reason

    for day, name in holidays.items():
        note(day, name[:CALENDAR_NOTE_LENGTH_MAX], is_closed=True)
    for field, is_closed in (("closed", True), ("open", False)):
        for span in read_spans("", written.get(field, ()))[0]:
            for day in span.dates():
                note(day, span.note or field, is_closed=is_closed)
    return ClosedDays.of(weekend, closed), dict(sorted(reasons.items()))


def never_open(days: ClosedDays, today: dt.date) -> tuple[dt.date, dt.date] | None:
    """The first row of more than 31 closed days from today on, as its first and last day; None if none."""
    first, run = day_number(today), 0
    for day in range(first, max(first, days.end) + 2 * MOVED_DAYS_MAX):
        run = run + 1 if days.has(day) else 0
        if run > MOVED_DAYS_MAX:
            return date_of(day - run + 1), date_of(day)
    return None


def reason_of_day(days: ClosedDays, day: int, reasons: Mapping[str, str]) -> str:
    """Why a day is closed or open, by the reasons of a calendar.

    A job may still have former days of its calendar, for which the calendar has no reason.
    """
    named = reasons.get(date_of(day).isoformat())
    if named is not None or not days.has(day):
        return named or "open"
    return "closed" if days.differs(day) else "weekend"


def day_number(day: dt.date) -> int:
    """A day as schedules/day_rule.py counts it."""
    return day.toordinal() - _EPOCH_DAY


def date_of(number: int) -> dt.date:
    """The day of that number."""
    return dt.date.fromordinal(number + _EPOCH_DAY)
