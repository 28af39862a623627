"""The minutes that a cron expression names in a zone, found by looking at every minute.

It is written from the reference (semantics.md: "When", "Time zones and DST") to be obviously right, not fast.
It does not count, and it jumps only over days on which no minute can match. Offsets are whole minutes, as
everywhere since 1972.
"""

import calendar
import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from typing import Final, Literal, NamedTuple
from zoneinfo import ZoneInfo

MINUTE: Final = dt.timedelta(minutes=1)
DAY: Final = dt.timedelta(days=1)

#: A longer jump of the clock is a correction. No time in it is made up.
GAP_MADE_UP_BELOW: Final = dt.timedelta(hours=3)

#: The search ends here.
LAST_YEAR: Final = 9990

WEEKDAYS: Final = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
MONTHS: Final = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")


class Range(NamedTuple):
    """The numbers that a field takes, and the names of the first of them."""

    low: int
    high: int
    names: tuple[str, ...] = ()


SIXTY: Final = Range(0, 59)
HOUR: Final = Range(0, 23)
DAY_OF_MONTH: Final = Range(1, 31)
MONTH: Final = Range(1, 12, MONTHS)
YEAR: Final = Range(1970, 9999)

Gap = Literal["shift", "skip"]
Overlap = Literal["first", "last", "both"]


@dataclass(frozen=True)
class Cron:
    """Seven fields as written. Weekdays count from `sunday` on: 0, or 1 in EventBridge's notation."""

    second: str
    minute: str
    hour: str
    day_of_month: str
    month: str
    day_of_week: str
    year: str = "*"
    sunday: int = 0

    @property
    def is_fixed(self) -> bool:
        """Whether it names local times, each of which comes once, instead of following real time."""
        return not (is_open(self.minute) or is_open(self.hour))

    def has_date(self, date: dt.date) -> bool:
        """Whether it names that day."""
        return _has_date(self, date)

    def has_minute(self, wall: dt.datetime) -> bool:
        """Whether it names that minute of local time."""
        return has_time(self, wall) and self.has_date(wall.date())

    @property
    def seconds(self) -> list[int]:
        """Return the seconds that it names in each of its minutes."""
        return [each for each in range(60) if _has_number(self.second, each, SIXTY)]

    def instants(self, zone: ZoneInfo, gap: Gap, overlap: Overlap, after_ms: int) -> Iterator[int]:
        """Return its instants in epoch milliseconds, ascending, strictly after that one."""
        named, seen_s, before = self.seconds, 0, None
        for minute_s in _minutes(self, after_ms):
            wall = dt.datetime.fromtimestamp(minute_s, zone)
            if before is None or seen_s != minute_s - 60:
                before = dt.datetime.fromtimestamp(minute_s - 60, zone)
            seconds = named if self._is_shown(wall, overlap) else []
            if self.is_fixed and gap == "shift" and self._was_skipped(before, wall):
                seconds = sorted({0, *seconds})
            for second in seconds:
                if (instant_ms := (minute_s + second) * 1_000) > after_ms:
                    yield instant_ms
            seen_s, before = minute_s, wall

    def _is_shown(self, wall: dt.datetime, overlap: Overlap) -> bool:
        if not self.has_minute(wall):
            return False
        is_twice = wall.replace(fold=0).utcoffset() != wall.replace(fold=1).utcoffset()
        if not is_twice or not self.is_fixed or overlap == "both":
            return True
        return wall.fold == (0 if overlap == "first" else 1)

    def _was_skipped(self, before: dt.datetime, wall: dt.datetime) -> bool:
        """Whether it names a local minute that the clock skipped between these two neighbours."""
        last, first = before.replace(tzinfo=None), wall.replace(tzinfo=None)
        if not MINUTE < first - last < GAP_MADE_UP_BELOW + MINUTE:
            return False
        left_out = (last + number * MINUTE for number in range(1, (first - last) // MINUTE))
        return any(self.has_minute(each) for each in left_out)


def has_time(cron: Cron, wall: dt.datetime) -> bool:
    """Whether an expression names a minute of its days."""
    return _has_number(cron.minute, wall.minute, SIXTY) and _has_number(cron.hour, wall.hour, HOUR)


def cron_of(text: str) -> Cron:
    """Return an expression of five or six fields."""
    fields = text.upper().split()
    second, minute, hour, of_month, month, of_week = fields if len(fields) == 6 else ["0", *fields]
    return Cron(second, minute, hour, of_month, month, of_week)


def is_open(field: str) -> bool:
    """Whether a field is unrestricted, by Debian's rule: it begins with a star (or is `?`)."""
    return field[0] in "*?"


@lru_cache(maxsize=10_000)
def _has_date(cron: Cron, date: dt.date) -> bool:
    if not _has_number(cron.month, date.month, MONTH):
        return False
    if not _has_number(cron.year, date.year, YEAR):
        return False
    of_month = any(_has_day_of_month(term, date) for term in cron.day_of_month.split(","))
    of_week = any(_has_day_of_week(term, date, cron.sunday) for term in cron.day_of_week.split(","))
    if is_open(cron.day_of_month) or is_open(cron.day_of_week):
        return of_month and of_week
    return of_month or of_week


def _minutes(cron: Cron, after_ms: int) -> Iterator[int]:
    """Return the epoch seconds of each minute from an instant on, without days that have no match nearby."""
    for day in count(after_ms // 86_400_000):
        date = dt.date(1970, 1, 1) + day * DAY
        if date.year > LAST_YEAR:
            return
        if any(cron.has_date(date + number * DAY) for number in (-1, 0, 1)):
            first_s = max(day * 86_400, after_ms // 60_000 * 60)
            yield from range(first_s, (day + 1) * 86_400, 60)


@lru_cache(maxsize=10_000)
def _has_number(field: str, value: int, numbers: Range) -> bool:
    return any(_term_has(term, value, numbers) for term in field.split(","))


def _term_has(term: str, value: int, numbers: Range) -> bool:
    def number(text: str) -> int:
        return numbers.names.index(text) + numbers.low if text in numbers.names else int(text)

    span, _, step = term.partition("/")
    if span in ("*", "?"):
        start, end = numbers.low, numbers.high
    elif "-" in span:
        start, end = (number(each) for each in span.split("-"))
    else:
        # As in robfig/cron, a step after a single number runs to the end.
        start = number(span)
        end = max(start, numbers.high) if step else start
    return value in range(start, end + 1, int(step or 1))


def _has_day_of_month(term: str, date: dt.date) -> bool:
    length = calendar.monthrange(date.year, date.month)[1]
    if term == "L":
        return date.day == length
    if term == "LW":
        return date == _nearest_workday(date.replace(day=length))
    if term.endswith("W"):
        wanted = int(term[:-1])
        return wanted <= length and date == _nearest_workday(date.replace(day=wanted))
    return _term_has(term, date.day, DAY_OF_MONTH)


def _nearest_workday(date: dt.date) -> dt.date:
    """Return the workday nearest to a day within its month."""
    near = [date + number * DAY for number in (0, -1, 1, -2, 2)]
    return next(each for each in near if each.month == date.month and each.isoweekday() <= 5)


def _has_day_of_week(term: str, date: dt.date, sunday: int) -> bool:
    today = date.isoweekday() % 7 + sunday
    length = calendar.monthrange(date.year, date.month)[1]

    def is_today(text: str) -> bool:
        value = WEEKDAYS.index(text) + sunday if text in WEEKDAYS else int(text)
        # In Unix cron, 7 is Sunday too.
        return today == (value % 7 if sunday == 0 else value)

    if sunday == 1 and term == "L":
        return is_today("SAT")
    last = re.fullmatch(r"L(\d)|(\w+)L", term)
    if last is not None:
        return is_today(last[1] or last[2]) and date.day + 7 > length
    if "#" in term:
        day, nth = term.split("#")
        return is_today(day) and (date.day - 1) // 7 + 1 == int(nth)

    def names(value: int) -> bool:
        return _term_has(term, value, Range(sunday, 6 + sunday, WEEKDAYS))

    return names(today) or (sunday == 0 and today == 0 and names(7))
