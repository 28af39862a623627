"""Which wall times lie at whole multiples of a calendar period after a first one.

The period is multiplied before it is added to the first wall time. So a month after 31 January is 28
February, and two months after it is 31 March. All of it is arithmetic: the hundred-thousandth costs as much
as the first.
"""

import calendar
import datetime as dt
from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from math import lcm
from typing import ClassVar, Final

from sweephand.schedules.clock.zones import CYCLE_S, DAY_S, year_of, year_start_s

_EPOCH_DAY: Final = dt.date(1970, 1, 1).toordinal()
_CALENDAR_END_S: Final = year_start_s(10_000)
_MONTHS_END: Final = 10_000 * 12
_YEAR_MONTHS: Final = 12
_CYCLE_MONTHS: Final = 400 * _YEAR_MONTHS
_WEEK_S: Final = 7 * DAY_S
_SHORTEST_MONTH: Final = 28
#: The length of a month on average over the 400 years of the calendar.
_MEAN_MONTH_S: Final = CYCLE_S // _CYCLE_MONTHS


@dataclass(frozen=True)
class CalendarPeriods:
    """A wall_timeline.Pattern: the wall time `first_s`, and the multiples of a period after it.

    The period has months and seconds. There are `number` wall times; without `number` they go on to the year
    9999.
    """

    first_s: int
    months: int
    seconds: int
    number: int | None = None
    is_seldom: ClassVar[bool] = True

    @classmethod
    def once(cls, wall_s: int) -> "CalendarPeriods":
        """A single wall time."""
        return cls(wall_s, 0, 1, 1)

    @property
    def steady_year(self) -> int | None:
        """The year after the first wall time, if each week, or each year, has the same ones from then on."""
        each_week = self.months == 0 and _WEEK_S % self.seconds == 0
        each_year = self.seconds == 0 and self.months > 0 and _YEAR_MONTHS % self.months == 0
        is_steady = self.number is None and (each_week or each_year)
        return year_of(self.first_s) + 1 if is_steady else None

    @property
    def cycle_s(self) -> int | None:
        """As wall_timeline.Pattern promises. Only periods of whole days have one time of the day."""
        return None if self.months or self.seconds % DAY_S else lcm(self.seconds, _WEEK_S)

    @property
    def is_finite(self) -> bool:
        """Whether the wall times end."""
        return self.before_s is not None

    @cached_property
    def before_s(self) -> int | None:
        """A wall time after the last one; None if the wall times repeat every 400 years."""
        if self.number is not None:
            return min(self.at(self._number_in_all - 1) + 1, _CALENDAR_END_S)
        is_repeated = (
            (_CYCLE_MONTHS % self.months == 0 and self.seconds == 0)
            if self.months
            else CYCLE_S % self.seconds == 0
        )
        return None if is_repeated else _CALENDAR_END_S

    def at(self, step: int) -> int:
        """The wall time after `step` periods; the end of the calendar if it lies after the last one."""
        if step >= self._number_in_all:
            return _CALENDAR_END_S
        if self.months == 0:
            return self.first_s + step * self.seconds
        year, month = divmod(self._first_month + step * self.months, 12)
        day = self._first_date.day
        if day > _SHORTEST_MONTH:
            day = min(day, calendar.monthrange(year, month + 1)[1])
        date_s = (dt.date(year, month + 1, day).toordinal() - _EPOCH_DAY) * DAY_S
        return date_s + self.first_s % DAY_S + step * self.seconds

    def at_or_after(self, wall_s: int) -> int | None:
        """The first wall time of the pattern from this one on."""
        step = self.reached(wall_s)
        return self.at(step) if step < self._number_in_all else None

    def count(self, from_s: int, before_s: int) -> int:
        """How many wall times of the pattern lie between the bounds."""
        step = self.reached(from_s)
        if before_s - from_s > DAY_S:
            return max(0, self.reached(before_s) - step)
        # No two wall times of the pattern lie within a day.
        return int(step < self._number_in_all and self.at(step) < before_s)

    def reached(self, wall_s: int) -> int:
        """How many wall times of the pattern lie before this one."""
        if self.months == 0:
            return min(max(0, -(-(wall_s - self.first_s) // self.seconds)), self._number_in_all)
        if self.seconds:
            # If all months had one length, none would begin more than four days earlier or later.
            step = (wall_s - self.first_s) // (self.months * _MEAN_MONTH_S + self.seconds)
            near = range(max(0, step - 1), max(0, min(step + 3, self._number_in_all)))
            return near.start + bisect_left(near, wall_s, key=self.at)
        if wall_s <= self.first_s or wall_s >= _CALENDAR_END_S:
            return 0 if wall_s <= self.first_s else self._number_in_all
        date = dt.date.fromordinal(wall_s // DAY_S + _EPOCH_DAY)
        step = (date.year * 12 + date.month - 1 - self._first_month) // self.months
        return min(step + (self.at(step) < wall_s), self._number_in_all)

    @cached_property
    def _number_in_all(self) -> int:
        """How many wall times there are up to the year 9999."""
        if self.months == 0:
            within = (_CALENDAR_END_S - 1 - self.first_s) // self.seconds + 1
        else:
            within = (_MONTHS_END - 1 - self._first_month) // self.months + 1
        return within if self.number is None else min(within, self.number)

    @cached_property
    def _first_date(self) -> dt.date:
        # A wall clock ahead of UTC can show the year 10000, for which Python has no dates.
        return dt.date.fromordinal(min(self.first_s // DAY_S + _EPOCH_DAY, dt.date.max.toordinal()))

    @property
    def _first_month(self) -> int:
        return self._first_date.year * 12 + self._first_date.month - 1
