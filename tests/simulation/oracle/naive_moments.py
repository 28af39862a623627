"""The instant that a `dueTime`, a `ttl` or a period names, read as simply as possible."""

import calendar
import datetime as dt
import re
from fractions import Fraction
from math import ceil, floor
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)

#: An instant up to this long ago means now.
PAST_MAX_MS: Final = 60_000

UNITS_MS: Final = {
    "ns": Fraction(1, 1_000_000),
    "us": Fraction(1, 1_000),
    "µs": Fraction(1, 1_000),
    "μs": Fraction(1, 1_000),
    "ms": Fraction(1),
    "s": Fraction(1_000),
    "m": Fraction(60_000),
    "h": Fraction(3_600_000),
    "d": Fraction(86_400_000),
}


class Length(NamedTuple):
    """A duration: months and days of the calendar, then elapsed milliseconds."""

    months: int
    days: int
    elapsed_ms: Fraction


def length_of(text: str) -> Length:
    """Return a Go duration (`1h30m`, `0`), days (`7d`), or an ISO 8601 duration (`P1M`, `PT2H30M`)."""
    if not text.startswith("P"):
        terms = re.findall(r"([0-9.]+)([a-zµμ]+)", text)
        return Length(0, 0, sum((Fraction(number) * UNITS_MS[unit] for number, unit in terms), Fraction(0)))
    date, _, time = text[1:].partition("T")
    of_date = {unit: int(number) for number, unit in re.findall(r"([0-9]+)([YMWD])", date)}
    of_time = {unit: int(number) for number, unit in re.findall(r"([0-9]+)([HMS])", time)}
    seconds = of_time.get("H", 0) * 3600 + of_time.get("M", 0) * 60 + of_time.get("S", 0)
    return Length(
        of_date.get("Y", 0) * 12 + of_date.get("M", 0),
        of_date.get("W", 0) * 7 + of_date.get("D", 0),
        Fraction(seconds * 1_000),
    )


def instants_of(wall: dt.datetime, zone: ZoneInfo) -> list[int]:
    """Return every instant (epoch milliseconds) at which a zone has that local time: none, one or two."""
    shown = {wall.replace(tzinfo=zone, fold=fold).astimezone(dt.UTC) for fold in (0, 1)}
    return [
        (each - EPOCH) // dt.timedelta(milliseconds=1)
        for each in sorted(shown)
        if each.astimezone(zone).replace(tzinfo=None, fold=0) == wall
    ]


def end_of_gap(wall: dt.datetime, zone: ZoneInfo) -> int:
    """Return the first instant at which a zone's local time is past one that it never has."""
    later = wall.replace(second=0, microsecond=0)
    while not instants_of(later, zone):
        later += dt.timedelta(minutes=1)
    return instants_of(later, zone)[0]


def moved(from_at: int, length: Length, times: int, zone: ZoneInfo) -> Fraction:
    """Return the instant that much after another.

    Calendar parts count in local time, clamped to the month's end.
    """
    moved_at = from_at
    if length.months or length.days:
        wall = (EPOCH + dt.timedelta(milliseconds=from_at)).astimezone(zone).replace(tzinfo=None, fold=0)
        year, month = divmod(wall.year * 12 + wall.month - 1 + length.months * times, 12)
        day = min(wall.day, calendar.monthrange(year, month + 1)[1])
        wall = wall.replace(year, month + 1, day) + dt.timedelta(days=length.days * times)
        shown = instants_of(wall, zone)
        moved_at = shown[0] if shown else end_of_gap(wall, zone)
    return moved_at + length.elapsed_ms * times


def moment_of(text: str, *, asked_at: int, counted_from: int, zone: ZoneInfo, is_last: bool) -> int:
    """Return the instant that a `dueTime` or (`is_last`) a `ttl` names.

    Parts of a ms are rounded strictly.
    """
    whole = floor if is_last else ceil
    absolute = re.fullmatch(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)", text.upper())
    if absolute is None:
        return whole(moved(counted_from, length_of(text), 1, zone))
    seconds = (dt.datetime.fromisoformat(absolute[1] + absolute[3]) - EPOCH) // dt.timedelta(seconds=1)
    instant_at = whole((seconds + Fraction(absolute[2] or 0)) * 1_000)
    return max(instant_at, asked_at) if instant_at >= asked_at - PAST_MAX_MS else instant_at
