"""On which days of a month a cron expression matches.

Which days match depends on nothing but the month's length and the weekday of its first day, so that there are
28 kinds of months. croniter finds the days, asked about one item of one field at a time and about one month
of each kind: it joins the two day fields otherwise than semantics.md settles as soon as an item is special
(`15W` or `5#2` beside a weekday), mixes no specials with numbers, and fails far in the future. Joining the
items is done here.
"""

import calendar
import datetime as dt
from functools import lru_cache
from typing import Final, NamedTuple

from sweephand.schedules.cron_fields import Field, Kind, Special
from sweephand.schedules.errors import ScheduleError, quoted

_SATURDAY: Final = 5
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
    items = [",".join(map(str, field.values))] if field.values else []
    days: set[int] = set()
    for special in field.specials:
        if special.kind is Kind.LAST_WORKDAY:
            days.add(_last_workday(kind))
        elif special.kind is Kind.LAST_DAY:
            days.update({kind.length - special.value} & set(range(1, kind.length + 1)))
        elif special.kind is not Kind.NEAREST_WORKDAY or special.value <= kind.length:
            # Asked for `31W` in a shorter month, croniter would take the month's last workday.
            items.append(_spelled(special))
    for item in items:
        days |= _found("*" if is_weekday else item, item if is_weekday else "*", kind)
    return frozenset(days)


def _spelled(special: Special) -> str:
    """A special day as croniter writes it."""
    match special.kind:
        case Kind.NEAREST_WORKDAY:
            return f"{special.value}w"
        case Kind.LAST_WEEKDAY:
            return f"l{special.value}"
        case _:
            return f"{special.value}#{special.nth}"


def _last_workday(kind: MonthKind) -> int:
    last_weekday = (kind.first_weekday + kind.length - 1) % 7
    return kind.length - max(0, last_weekday - _SATURDAY + 1)


@lru_cache(maxsize=4096)
def _found(day_of_month: str, day_of_week: str, kind: MonthKind) -> frozenset[int]:
    from croniter import croniter  # noqa: PLC0415 - 25 ms that only cron expressions need to pay

    first = _example_of(kind)
    end = first + dt.timedelta(days=kind.length)
    days: set[int] = set()
    try:
        finder = croniter(
            f"0 0 {day_of_month} * {day_of_week}", first - dt.timedelta(seconds=1), ret_type=dt.datetime
        )
        while (found := finder.get_next()) < end:
            days.add(found.day)
    except (ValueError, ArithmeticError, LookupError, TypeError) as fault:
        # What it refuses was checked before it was asked: this guards against a version that reads otherwise.
        raise ScheduleError(
            f"{quoted(day_of_month)} and {quoted(day_of_week)} cannot be read as days"
        ) from fault
    return frozenset(days)


@lru_cache(maxsize=28)
def _example_of(kind: MonthKind) -> dt.datetime:
    """The first day of a month of that kind: every kind occurs within these 28 years."""
    return next(
        dt.datetime(year, month, 1)  # noqa: DTZ001 - wall time, which has no zone
        for year in range(2001, 2029)
        for month in range(1, 13)
        if kind_of(year, month) == kind
    )
