"""On which days of a month a cron expression matches.

Which days match depends on nothing but the month's length and the weekday of its first day, so there are 28
kinds of months. croniter finds the days that `LW`, `15W`, `5L` and `5#2` name, each by itself. This module
joins the two day fields, because croniter joins them by other rules.
"""

import calendar
import datetime as dt
from functools import lru_cache
from typing import Final, NamedTuple

from sweephand.schedules.errors import ScheduleError, quoted
from sweephand.schedules.notations.cron_fields import CronField, Kind, Special

_DAY_S: Final = 86_400
_FEBRUARY: Final = 2
_SHORTEST: Final = 28
_LONGEST: Final = 31


class MonthKind(NamedTuple):
    """The weekday of the first day (Monday is 0, as in Python's calendar) and the number of days."""

    first_weekday: int
    length: int


class DayRule(NamedTuple):
    """The day-of-month and day-of-week fields together."""

    day_of_month: CronField
    day_of_week: CronField

    def days_in(self, kind: MonthKind) -> tuple[int, ...]:
        """The days of such a month that match, in order.

        Source: Debian's cron(8). Two restricted fields match where either of them does. A field that begins
        with a star is not restricted: then both must match, so that `*/2` still means every second day.
        """
        days, first = range(1, kind.length + 1), kind.first_weekday
        of_month = {day for day in days if day in self.day_of_month.values}
        of_week = {day for day in days if (first + day) % 7 in self.day_of_week.values}
        of_month.update(day for day in _special_days(self.day_of_month, kind) if day in days)
        of_week.update(day for day in _special_days(self.day_of_week, kind) if day in days)
        both = self.day_of_month.begins_with_star or self.day_of_week.begins_with_star
        return tuple(sorted(of_month & of_week if both else of_month | of_week))


@lru_cache(maxsize=1024)
def kind_of(year: int, month: int) -> MonthKind:
    """The kind of a month."""
    return MonthKind(*calendar.monthrange(year, month))


def kinds_of(month: int) -> list[MonthKind]:
    """Every kind that a calendar month comes in: each weekday begins it in some year, leap or not."""
    lengths = (28, 29) if month == _FEBRUARY else (calendar.monthrange(2001, month)[1],)
    return [MonthKind(first_weekday, length) for length in lengths for first_weekday in range(7)]


def _special_days(field: CronField, kind: MonthKind) -> list[int]:
    """The days that the specials of a field name; one outside of the month stands for none."""
    return [_day_of(special, kind) for special in field.specials]


def _day_of(special: Special, kind: MonthKind) -> int:
    first, length, day = kind.first_weekday, kind.length, special.value
    match special.kind:
        case Kind.LAST_DAY:
            return length - day
        case Kind.LAST_WORKDAY:
            return _found(f"{length}W * *", length)[first]
        case Kind.NEAREST_WORKDAY if day > length:
            return 0  # croniter would take the last workday.
        case Kind.NEAREST_WORKDAY:
            # Only the last day of a month depends on where the month ends.
            return _found(f"{day}W * *", length if day >= _SHORTEST else _LONGEST)[first]
        # The weekdays are counted from the one asked for, as if it were Sunday. Then few questions suffice.
        case Kind.LAST_WEEKDAY:
            return _found("* * L0", length)[(first - day) % 7]
        case Kind.NTH_WEEKDAY:
            return _found(f"* * 0#{special.nth}", _LONGEST)[(first - day) % 7]


@lru_cache(maxsize=64)  # There are fewer different questions.
def _found(days: str, length: int) -> tuple[int, ...]:
    """The day that croniter finds, in a month of that length, for each weekday on which the month may begin.

    A day beyond the month means that the month has no such day. Raises ScheduleError if croniter refuses.
    """
    # Imported with the first special day: the import takes 40 ms.
    from croniter import croniter  # noqa: PLC0415

    months = _months()
    try:
        finder = croniter(f"0 0 {days}", 0.0)
        # Each question starts where its month begins, so croniter searches no further than it has to.
        found_s = [
            finder.get_next(float, months[first, length] - 1.0) - months[first, length] for first in range(7)
        ]
    except ValueError as fault:
        raise ScheduleError(
            f"{quoted(days)} (day-of-month, month, day-of-week) cannot be read; expected days of a month"
        ) from fault
    return tuple(int(each) // _DAY_S + 1 for each in found_s)


@lru_cache(maxsize=1)
def _months() -> dict[tuple[int, int], float]:
    """The beginning (epoch seconds) of a month of each kind: within 28 years every kind occurs."""
    return {
        calendar.monthrange(year, month): dt.datetime(year, month, 1, tzinfo=dt.UTC).timestamp()
        for year in range(2001, 2029)
        for month in range(1, 13)
    }
