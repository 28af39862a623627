"""At which seconds of a wall clock without a zone a cron expression matches.

A wall time is a whole number of seconds since 1970-01-01T00:00:00 on the wall, in any zone.

Which days of a month match depends on nothing but the month's length and the weekday of its first day. So
there are 28 kinds of months. croniter finds the days that `LW`, `15W`, `5L` and `5#2` name, each by itself.
This module joins the two day fields, because croniter joins them by other rules.
"""

import calendar
import datetime as dt
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from sweephand.base.errors import ScheduleError
from sweephand.base.names import quoted
from sweephand.schedules.clock.zones import DAY_S, year_start_s
from sweephand.schedules.notations.cron_fields import CronField, Kind, Special

_HOUR_S: Final = 3_600
_MINUTE_S: Final = 60
_EPOCH_DAY: Final = dt.date(1970, 1, 1).toordinal()
_YEAR_LAST: Final = 9999
#: Days since 1970 between which Python has dates.
_DAY_MIN: Final = dt.date.min.toordinal() - _EPOCH_DAY
_DAY_MAX: Final = dt.date.max.toordinal() - _EPOCH_DAY
#: The Gregorian calendar repeats itself after 400 years. A pattern without a match in them has none.
_CYCLE_MONTHS: Final = 400 * 12
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
    # Imported with the first special day: the import takes 3 ms.
    from croniter import croniter  # noqa: PLC0415

    months = _months_of_each_kind()
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
    return tuple(int(each) // DAY_S + 1 for each in found_s)


@lru_cache(maxsize=1)
def _months_of_each_kind() -> dict[tuple[int, int], float]:
    """The beginning (epoch seconds) of a month of each kind: within 28 years every kind occurs."""
    return {
        calendar.monthrange(year, month): dt.datetime(year, month, 1, tzinfo=dt.UTC).timestamp()
        for year in range(2001, 2029)
        for month in range(1, 13)
    }


class TimesOfDay(NamedTuple):
    """The seconds of a day that match: each hour combined with each minute and each second."""

    hours: tuple[int, ...]
    minutes: tuple[int, ...]
    seconds: tuple[int, ...]

    @property
    def per_day(self) -> int:
        """How many seconds of a day match."""
        return len(self.hours) * len(self.minutes) * len(self.seconds)

    def at_or_after(self, second_of_day: int) -> int | None:
        """The first matching second of the day from this one on."""
        place = self.count_before(second_of_day)
        if place == self.per_day:
            return None
        hour_at, rest = divmod(place, len(self.minutes) * len(self.seconds))
        minute_at, second_at = divmod(rest, len(self.seconds))
        return self.hours[hour_at] * _HOUR_S + self.minutes[minute_at] * _MINUTE_S + self.seconds[second_at]

    def count_before(self, second_of_day: int) -> int:
        """How many seconds of the day match before this one."""
        hour, rest = divmod(second_of_day, _HOUR_S)
        minute, second = divmod(rest, _MINUTE_S)
        hour_at, minute_at = bisect_left(self.hours, hour), bisect_left(self.minutes, minute)
        count = hour_at * len(self.minutes)
        if hour_at == len(self.hours) or self.hours[hour_at] != hour:
            return count * len(self.seconds)
        count = (count + minute_at) * len(self.seconds)
        if minute_at < len(self.minutes) and self.minutes[minute_at] == minute:
            count += bisect_left(self.seconds, second)
        return count


class WallPattern:
    """A pattern of times of day, on days of months, in the given years or in every year.

    It keeps the days that it has found.
    """

    is_seldom = False
    cycle_s = None

    def __init__(
        self, times: TimesOfDay, days: DayRule, months: tuple[int, ...], years: tuple[int, ...] | None = None
    ) -> None:
        self.times = times
        self._first_second = times.at_or_after(0) or 0
        self._days = days
        self._months = frozenset(months)
        self._years = None if years is None else frozenset(years)
        self._days_of_kind: dict[MonthKind, tuple[int, ...]] = {}
        self._last_search: tuple[int, int | None] | None = None
        self.is_finite = years is not None
        self.before_s = None if years is None else year_start_s(max(years) + 1)
        self.steady_year = 0 if years is None else None

    def ever_matches(self) -> bool:
        """Whether any day matches. It looks once per kind of month, or once per month of `years`."""
        if self._years is None:
            return any(self._days.days_in(kind) for month in self._months for kind in kinds_of(month))
        return any(self._days_of(year, month) for year in self._years for month in self._months)

    def at_or_after(self, wall_s: int) -> int | None:
        """The first match from a wall time on; None if there is none before the year 10000."""
        day, second_of_day = divmod(wall_s, DAY_S)
        match_day = self._day_at_or_after(day)
        if match_day == day:
            second = self.times.at_or_after(second_of_day)
            if second is not None:
                return day * DAY_S + second
            match_day = self._day_at_or_after(day + 1)
        return None if match_day is None else match_day * DAY_S + self._first_second

    def count(self, from_s: int, before_s: int) -> int:
        """How many wall times match, `from_s` included and `before_s` not. It takes one step per month."""
        if before_s <= from_s:
            return 0
        first, last = _date_of(from_s), _date_of(before_s)
        whole_months = _months(
            first.year, first.month, (last.year - first.year) * 12 + last.month - first.month
        )
        days = sum(len(self._days_of(year, month)) for year, month in whole_months)
        return days * self.times.per_day + self._count_in_month(before_s) - self._count_in_month(from_s)

    def _count_in_month(self, wall_s: int) -> int:
        """How many matches lie between the beginning of the month and a wall time."""
        date = _date_of(wall_s)
        days = self._days_of(date.year, date.month)
        at = bisect_left(days, date.day)
        # Python has no date for the year 10000, so its first second is 24:00 of the last day.
        second_of_day = wall_s - (date.toordinal() - _EPOCH_DAY) * DAY_S
        today = self.times.count_before(second_of_day) if date.day in days[at : at + 1] else 0
        return at * self.times.per_day + today

    def _day_at_or_after(self, day: int) -> int | None:
        """The first matching day, as days since 1970. For all days up to a match, it is looked for once."""
        # Two threads may take turns here. Each of them reads and writes a search with its own result.
        last = self._last_search
        if last is None or day < last[0] or (last[1] is not None and day > last[1]):
            last = self._last_search = (day, self._search_day(day))
        return last[1]

    def _search_day(self, day: int) -> int | None:
        """The first matching day. The search ends after the 400 years of the calendar."""
        if day > _DAY_MAX:
            return None
        if self.before_s is not None and day * DAY_S >= self.before_s:
            return None
        date = _date_of(day * DAY_S)
        earliest = date.day
        for year, month in _months(date.year, date.month, _CYCLE_MONTHS + 1):
            days = self._days_of(year, month)
            at = bisect_left(days, earliest)
            if at < len(days):
                return dt.date(year, month, days[at]).toordinal() - _EPOCH_DAY
            earliest = 1
        return None

    def _days_of(self, year: int, month: int) -> tuple[int, ...]:
        if month not in self._months or (self._years is not None and year not in self._years):
            return ()
        kind = kind_of(year, month)
        days = self._days_of_kind.get(kind)
        if days is None:
            # Two threads may both find the days; they find the same.
            days = self._days_of_kind[kind] = self._days.days_in(kind)
        return days


def _months(year: int, month: int, months_max: int) -> Iterator[tuple[int, int]]:
    """That many months from this one on, and none after the year 9999."""
    first = year * 12 + month - 1
    for at in range(first, min(first + months_max, (_YEAR_LAST + 1) * 12)):
        yield at // 12, at % 12 + 1


def _date_of(wall_s: int) -> dt.date:
    return dt.date.fromordinal(min(max(wall_s // DAY_S, _DAY_MIN), _DAY_MAX) + _EPOCH_DAY)
