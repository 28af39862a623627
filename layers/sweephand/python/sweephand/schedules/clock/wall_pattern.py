"""At which seconds of a wall clock without a zone a cron expression matches.

A wall time is a whole number of seconds since 1970-01-01T00:00:00 on the wall, in any zone.
"""

import datetime as dt
from bisect import bisect_left
from collections.abc import Hashable, Iterator
from typing import Final, NamedTuple, Protocol

from sweephand.schedules.clock.zones import year_start_s
from sweephand.schedules.notations.cron_days import (
    DayRule,
    MonthKind,
    kind_of,
    kinds_of,
)

_DAY_S: Final = 86_400
_HOUR_S: Final = 3_600
_MINUTE_S: Final = 60
_EPOCH_DAY: Final = dt.date(1970, 1, 1).toordinal()
_YEAR_LAST: Final = 9999
#: Days since 1970 between which Python has dates.
_DAY_MIN: Final = dt.date.min.toordinal() - _EPOCH_DAY
_DAY_MAX: Final = dt.date.max.toordinal() - _EPOCH_DAY
#: The Gregorian calendar repeats itself after 400 years. A pattern without a match in them has none.
_CYCLE_MONTHS: Final = 400 * 12


class TimesOfDay(NamedTuple):
    """The seconds of a day that match: each hour combined with each minute and each second."""

    hours: tuple[int, ...]
    minutes: tuple[int, ...]
    seconds: tuple[int, ...]

    @property
    def per_day(self) -> int:
        """How many seconds of a day match."""
        return len(self.hours) * len(self.minutes) * len(self.seconds)

    @property
    def first(self) -> int:
        """The first second of the day that matches."""
        return self.hours[0] * _HOUR_S + self.minutes[0] * _MINUTE_S + self.seconds[0]

    def at_or_after(self, second_of_day: int) -> int | None:
        """The first matching second of the day from this one on."""
        hour, rest = divmod(second_of_day, _HOUR_S)
        minute, second = divmod(rest, _MINUTE_S)
        hour_at = bisect_left(self.hours, hour)
        if hour_at == len(self.hours):
            return None
        if self.hours[hour_at] > hour:
            return self.hours[hour_at] * _HOUR_S + self.minutes[0] * _MINUTE_S + self.seconds[0]
        minute_at = bisect_left(self.minutes, minute)
        if minute_at < len(self.minutes) and self.minutes[minute_at] == minute:
            second_at = bisect_left(self.seconds, second)
            if second_at < len(self.seconds):
                return hour * _HOUR_S + minute * _MINUTE_S + self.seconds[second_at]
            minute_at += 1
        if minute_at < len(self.minutes):
            return hour * _HOUR_S + self.minutes[minute_at] * _MINUTE_S + self.seconds[0]
        if hour_at + 1 < len(self.hours):
            return self.hours[hour_at + 1] * _HOUR_S + self.minutes[0] * _MINUTE_S + self.seconds[0]
        return None

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


class Pattern(Hashable, Protocol):
    """Which seconds of the wall clock match."""

    @property
    def is_seldom(self) -> bool:
        """Whether no two matches lie within a day, and a count costs the same over any time.

        If not, and the pattern has no end, all years with the same weekdays on the same dates have equal
        matches.
        """
        ...

    @property
    def before_s(self) -> int | None:
        """A wall time from which on nothing matches; None if the matches repeat every 400 years."""
        ...

    def at_or_after(self, wall_s: int) -> int | None:
        """The first match from a wall time on; None if there is none before the year 10000."""
        ...

    def count(self, from_s: int, before_s: int) -> int:
        """How many wall times match, `from_s` included and `before_s` not."""
        ...


class WallPattern:
    """A pattern of times of day, on days of months, in the given years or in every year.

    It keeps the days that it has found.
    """

    is_seldom = False

    def __init__(
        self, times: TimesOfDay, days: DayRule, months: tuple[int, ...], years: tuple[int, ...] | None = None
    ) -> None:
        self.times = times
        self._days = days
        self._months = frozenset(months)
        self._years = None if years is None else frozenset(years)
        self._days_of_kind: dict[MonthKind, tuple[int, ...]] = {}
        self._last_search: tuple[int, int | None] | None = None
        self.before_s = None if years is None else year_start_s(max(years) + 1)

    def ever_matches(self) -> bool:
        """Whether any day matches. It looks once per kind of month, or once per month of `years`."""
        if self._years is None:
            return any(self._days.days_in(kind) for month in self._months for kind in kinds_of(month))
        return any(self._days_of(year, month) for year in self._years for month in self._months)

    def at_or_after(self, wall_s: int) -> int | None:
        """The first match from a wall time on; None if there is none before the year 10000."""
        day, second_of_day = divmod(wall_s, _DAY_S)
        match_day = self._day_at_or_after(day)
        if match_day == day:
            second = self.times.at_or_after(second_of_day)
            if second is not None:
                return day * _DAY_S + second
            match_day = self._day_at_or_after(day + 1)
        return None if match_day is None else match_day * _DAY_S + self.times.first

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
        second_of_day = wall_s - (date.toordinal() - _EPOCH_DAY) * _DAY_S
        today = self.times.count_before(second_of_day) if date.day in days[at : at + 1] else 0
        return at * self.times.per_day + today

    def _day_at_or_after(self, day: int) -> int | None:
        """The first matching day, as days since 1970. A walk through the matches of a day asks once."""
        # Two threads may take turns here. Each of them reads and writes a search with its own result.
        last = self._last_search
        if last is None or last[0] != day:
            last = self._last_search = (day, self._search_day(day))
        return last[1]

    def _search_day(self, day: int) -> int | None:
        """The first matching day. The search ends after the 400 years of the calendar."""
        if day > _DAY_MAX:
            return None
        if self.before_s is not None and day * _DAY_S >= self.before_s:
            return None
        date = _date_of(day * _DAY_S)
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
    """So many months from this one on, and none after the year 9999."""
    first = year * 12 + month - 1
    for at in range(first, min(first + months_max, (_YEAR_LAST + 1) * 12)):
        yield at // 12, at % 12 + 1


def _date_of(wall_s: int) -> dt.date:
    return dt.date.fromordinal(min(max(wall_s // _DAY_S, _DAY_MIN), _DAY_MAX) + _EPOCH_DAY)
