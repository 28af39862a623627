"""The days of a calendar as a client wrote it, and on which of them the times of a schedule fire.

Each question is answered by trying one day after the other (semantics.md, "Calendars").
"""

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count
from typing import Any, Final
from zoneinfo import ZoneInfo

from tests.simulation.oracle.naive_cron import DAY, MINUTE, Cron, Gap, Overlap, has_time
from tests.simulation.oracle.naive_moments import end_of_gap, instants_of

EPOCH: Final = dt.date(1970, 1, 1)
WEEK: Final = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")

#: An occurrence moves by at most this many days.
MOVED_DAYS_MAX: Final = 31

#: A schedule that fits on no day up to the end of this year has ended, for a world of a few days.
LAST_YEAR: Final = 2029


@dataclass(frozen=True)
class Days:
    """How a job uses a calendar that was `written` so.

    After a change of the calendar it also fires at the instants of `also`, and not at those of `without`.
    `fired` are the names of all occurrences that have fired before (day_changes.py).
    """

    closed: str
    fits: str
    otherwise: str
    also: tuple[int, ...] = ()
    without: tuple[int, ...] = ()
    fired: frozenset[Any] = frozenset()
    written: Mapping[str, Any] = field(compare=False, default_factory=dict)
    _known: dict[dt.date, dt.date | None] = field(compare=False, default_factory=dict)
    _moved: dict[dt.date, list[dt.date]] = field(compare=False, default_factory=dict)

    def is_like(self, other: "Days") -> bool:
        """Whether it moves each day as the other does, by the same calendar."""
        mine, others = ((each.closed, each.fits, each.otherwise) for each in (self, other))
        return mine == others

    def fits_on(self, date: dt.date) -> bool:
        """Whether the job may fire on a day."""
        return self._is_closed(date) == (self.fits == "closed")

    def place(self, date: dt.date) -> dt.date | None:
        """Return the day on which an occurrence of a day fires, or None."""
        if date not in self._known:
            self._known[date] = next((each for each in self._choices(date) if self.fits_on(each)), None)
        return self._known[date]

    def sources(self, date: dt.date) -> list[dt.date]:
        """Return the days of the schedule whose occurrences fire on a day. The nearest comes first."""
        if date not in self._moved:
            around = (date + number * DAY for number in range(-MOVED_DAYS_MAX, MOVED_DAYS_MAX + 1))
            found = (each for each in around if self.place(each) == date)
            self._moved[date] = sorted(found, key=lambda each: abs(each - date))
        return self._moved[date]

    def _choices(self, date: dt.date) -> Iterator[dt.date]:
        yield date
        for number in range(1, MOVED_DAYS_MAX + 1):
            if self.otherwise in {"next", "nearest"}:
                yield date + number * DAY
            if self.otherwise in {"previous", "nearest"}:
                yield date - number * DAY

    def _is_closed(self, date: dt.date) -> bool:
        if _is_listed(self.written.get("open", ()), date):
            return False
        if _is_listed(self.written.get("closed", ()), date):
            return True
        return WEEK[date.weekday()] in self.written.get("weekend", ("SAT", "SUN"))


def _is_listed(entries: list[Any], date: dt.date) -> bool:
    for each in entries:
        first, last = (
            (each["from"], each.get("to", each["from"])) if isinstance(each, Mapping) else (each, each)
        )
        if dt.date.fromisoformat(first) <= date <= dt.date.fromisoformat(last):
            return True
    return False


#: The days of a job without a calendar: none is closed.
EVERY_DAY: Final = Days("", "open", "skip", written={"weekend": ()})


@dataclass(frozen=True)
class FittingCron(Cron):
    """Cron on the days of a calendar: a fitting day has the times of each day that moves there.

    It goes from day to day, since it is asked for two months around each change of a calendar.
    """

    days: Days = field(compare=False, default=EVERY_DAY)
    _dates: dict[dt.date, bool] = field(compare=False, default_factory=dict)

    def instants(self, zone: ZoneInfo, gap: Gap, overlap: Overlap, after_ms: int) -> Iterator[int]:
        """Return its instants in epoch milliseconds, ascending, strictly after that one."""
        times = _times(self)
        for day in count(after_ms // 86_400_000 - 1):
            date = EPOCH + day * DAY
            if date.year > LAST_YEAR:
                return
            if self.has_date(date):
                walls = (dt.datetime.combine(date, each) for each in times)
                found = {at for wall in walls for at in self._shown(wall, zone, gap, overlap)}
                yield from sorted(at for at in found if at > after_ms)

    def _shown(self, wall: dt.datetime, zone: ZoneInfo, gap: Gap, overlap: Overlap) -> list[int]:
        shown = instants_of(wall, zone)
        if not self.is_fixed or overlap == "both":
            chosen = shown
        else:
            chosen = shown[:1] if overlap == "first" else shown[-1:]
        return [end_of_gap(wall, zone)] if not shown and self.is_fixed and gap == "shift" else chosen

    def has_date(self, date: dt.date) -> bool:
        """Whether a day that it names fires on that one."""
        if date not in self._dates:
            self._dates[date] = any(
                super(FittingCron, self).has_date(each) for each in self.days.sources(date)
            )
        return self._dates[date]


@lru_cache
def _times(cron: Cron) -> list[dt.time]:
    """Return the local times that an expression names on each of its days."""
    walls = (dt.datetime.combine(EPOCH, dt.time()) + number * MINUTE for number in range(24 * 60))
    named = (wall for wall in walls if has_time(cron, wall))
    return [wall.time().replace(second=second) for wall in named for second in cron.seconds]


def days_of(
    definition: Mapping[str, Any], closed: str | None, written: Mapping[str, Any] | None
) -> Days | None:
    """Return the days of a job with the calendar that was written so, or None if it names none."""
    used = definition.get("calendar")
    if used is None or closed is None:
        return None
    return Days(closed, used.get("days", "open"), used.get("otherwise", "skip"), written=written or {})
