"""On which days of a month a cron expression matches.

Which days match depends on nothing but the month's length and the weekday of its first day, so that there are
28 kinds of months. The rest is arithmetic, by the references that cron_fields.py names for each special day;
croniter, asked about one item in one month of each kind, finds the same days.
"""

import calendar
from typing import Final, NamedTuple

from sweephand.schedules.notations.cron_fields import Field, Kind, Special

_SATURDAY: Final = 5
_SUNDAY: Final = 6
_FEBRUARY: Final = 2


class MonthKind(NamedTuple):
    """The weekday of the first day (Monday is 0, as in Python's calendar) and the number of days."""

    first_weekday: int
    length: int


class DayRule(NamedTuple):
    """The day-of-month and day-of-week fields together."""

    day_of_month: Field
    day_of_week: Field

    def days_in(self, kind: MonthKind) -> tuple[int, ...]:
        """The days of such a month that match, in order.

        Debian's rule: two restricted fields match where either does, and a field that begins with a star
        restricts nothing: there both must match, which of `*` is always true and of `*/2` is what it says.
        """
        of_month = _days_of_field(self.day_of_month, kind, is_weekday=False)
        of_week = _days_of_field(self.day_of_week, kind, is_weekday=True)
        both = self.day_of_month.begins_with_star or self.day_of_week.begins_with_star
        return tuple(sorted(of_month & of_week if both else of_month | of_week))


def kind_of(year: int, month: int) -> MonthKind:
    """Of which kind a month is."""
    return MonthKind(*calendar.monthrange(year, month))


def kinds_of(month: int) -> list[MonthKind]:
    """Every kind that a calendar month comes in: each weekday begins it in some year, leap or not."""
    lengths = (28, 29) if month == _FEBRUARY else (calendar.monthrange(2001, month)[1],)
    return [MonthKind(first_weekday, length) for length in lengths for first_weekday in range(7)]


def _days_of_field(field: Field, kind: MonthKind, *, is_weekday: bool) -> frozenset[int]:
    if field.is_whole:
        return frozenset(range(1, kind.length + 1))
    days = {
        day
        for day in range(1, kind.length + 1)
        if _number_of(day, kind, is_weekday=is_weekday) in field.values
    }
    found = (_day_of(special, kind) for special in field.specials)
    return frozenset(days | {day for day in found if day is not None})


def _number_of(day: int, kind: MonthKind, *, is_weekday: bool) -> int:
    """What a day is called in its field: its weekday, of which Sunday is 0, or its own number."""
    return (kind.first_weekday + day) % 7 if is_weekday else day


def _day_of(special: Special, kind: MonthKind) -> int | None:
    """Which day of such a month it is; None where the month has no such day."""
    match special.kind:
        case Kind.LAST_DAY:
            day = kind.length - special.value
        case Kind.LAST_WORKDAY:
            day = _nearest_workday(kind.length, kind)
        case Kind.NEAREST_WORKDAY:
            day = _nearest_workday(special.value, kind) if special.value <= kind.length else 0
        case Kind.LAST_WEEKDAY:
            day = kind.length - (kind.first_weekday + kind.length - special.value) % 7
        case Kind.NTH_WEEKDAY:
            day = 1 + (special.value - kind.first_weekday - 1) % 7 + 7 * (special.nth - 1)
    return day if 1 <= day <= kind.length else None


def _nearest_workday(day: int, kind: MonthKind) -> int:
    """The workday nearest to a day, within its month (Quartz)."""
    weekday = (kind.first_weekday + day - 1) % 7
    if weekday == _SATURDAY:
        return day - 1 if day > 1 else day + 2
    if weekday == _SUNDAY:
        return day + 1 if day < kind.length else day - 2
    return day
