"""The due times of EventBridge Scheduler's expressions, counted day by day from what AWS documents.

It shares nothing with the package. AWS, "Schedule types in EventBridge Scheduler": a local time that does not
exist is passed over, and one that comes twice fires once. A rate counts elapsed time from its StartDate on,
or from its creation.
"""

import calendar
import datetime as dt
from collections.abc import Iterator
from zoneinfo import ZoneInfo

DAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
UNITS = {"minute": 60, "hour": 3_600, "day": 86_400}


def due_times(
    expression: str,
    *,
    zone: str = "UTC",
    start: dt.datetime | None = None,
    end: dt.datetime | None = None,
    created: dt.datetime,
    after: dt.datetime,
) -> Iterator[dt.datetime]:
    """The due times after an instant, in UTC."""
    kind, _, rest = expression.partition("(")
    body = rest.removesuffix(")")
    if kind == "at":
        yield from (
            each for each in [_instant(dt.datetime.fromisoformat(body), zone)] if each and each > after
        )
        return
    for each in _rate(body, start or created) if kind == "rate" else _cron(body, zone, after):
        if end is not None and each > end:
            return
        if each > after and (start is None or each >= start):
            yield each


def _rate(body: str, began: dt.datetime) -> Iterator[dt.datetime]:
    value, unit = body.split()
    period = dt.timedelta(seconds=int(value) * UNITS[unit.removesuffix("s")])
    at = began
    while True:
        yield at
        at += period


def _cron(body: str, zone: str, after: dt.datetime) -> Iterator[dt.datetime]:
    minute, hour, day_of_month, month, day_of_week, year = body.split()
    minutes, hours = _values(minute, 0, 59), _values(hour, 0, 23)
    months, years = _values(month, 1, 12, MONTHS), _values(year, 1970, 2199)
    day = after.astimezone(ZoneInfo(zone)).date() - dt.timedelta(days=1)
    while day.year < 2100:
        if day.month in months and day.year in years and _is_day(day, day_of_month, day_of_week):
            found = {
                at
                for each in hours
                for past in minutes
                if (at := _instant(dt.datetime.combine(day, dt.time(each, past)), zone)) is not None
            }
            yield from sorted(found)
        day += dt.timedelta(days=1)


def _instant(local: dt.datetime, zone: str) -> dt.datetime | None:
    """The first instant that shows a local time, None if no clock shows it."""
    at = local.replace(tzinfo=ZoneInfo(zone), fold=0).astimezone(dt.UTC)
    return at if at.astimezone(ZoneInfo(zone)).replace(tzinfo=None) == local else None


def _is_day(day: dt.date, day_of_month: str, day_of_week: str) -> bool:
    last = calendar.monthrange(day.year, day.month)[1]
    number = (day.weekday() + 1) % 7 + 1  # 1 is Sunday
    if day_of_month != "?":
        if day_of_month == "L":
            return day.day == last
        if day_of_month.endswith("W"):
            return day == _workday(day.year, day.month, int(day_of_month[:-1]))
        return day.day in _values(day_of_month, 1, 31)
    if "#" in day_of_week:
        named, _, which = day_of_week.partition("#")
        return number in _values(named, 1, 7, DAYS) and (day.day - 1) // 7 + 1 == int(which)
    if day_of_week.endswith("L") and day_of_week != "L":
        return number in _values(day_of_week[:-1], 1, 7, DAYS) and day.day > last - 7
    return number in ({7} if day_of_week == "L" else _values(day_of_week, 1, 7, DAYS))


def _workday(year: int, month: int, day: int) -> dt.date | None:
    """The workday nearest to a day, within its month."""
    last = calendar.monthrange(year, month)[1]
    if day > last:
        return None
    within = [dt.date(year, month, each) for each in range(1, last + 1)]
    workdays = [each for each in within if each.weekday() < 5]
    return min(workdays, key=lambda each: abs((each - dt.date(year, month, day)).days))


def _values(text: str, low: int, high: int, names: tuple[str, ...] = ()) -> set[int]:
    def number(word: str) -> int:
        return names.index(word) + 1 if word in names else int(word)

    found: set[int] = set()
    for part in text.split(","):
        span, _, step = part.partition("/")
        first, _, final = span.partition("-")
        begin = low if first in "*?" else number(first)
        stop = number(final) if final else (begin if first not in "*?" and not step else high)
        found |= set(range(begin, stop + 1, int(step or 1)))
    return found
