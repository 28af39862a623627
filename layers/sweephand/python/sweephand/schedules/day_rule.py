"""Which days of a calendar are closed, and on which day an occurrence of a job with a calendar falls.

A series carries the days themselves, as a text of a few hundred characters. So every function computes the
same occurrences, and a sweep reads no calendar. Days are counted from 1970-01-01.
"""

import zlib
from base64 import b64decode, b64encode
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple, Self, get_args

from sweephand.base.instants import Instant

#: Which days a job with a calendar fires on.
DayKind = Literal["open", "closed"]

#: What becomes of an occurrence on another day: it is skipped, or moved to such a fitting day.
Otherwise = Literal["skip", "next", "previous", "nearest"]

DAY_KINDS: Final[tuple[DayKind, ...]] = get_args(DayKind)
OTHERWISES: Final[tuple[Otherwise, ...]] = get_args(Otherwise)

#: How far away the day may lie to which an occurrence is moved.
MOVED_DAYS_MAX: Final = 31

#: 1970-01-01 was a Thursday, and Monday is 0.
_EPOCH_WEEKDAY: Final = 3
_WEEK: Final = 7
_WHOLE_WEEK: Final = (1 << _WEEK) - 1


@dataclass(frozen=True, slots=True)
class ClosedDays:
    """The closed days of a calendar: those of the weekend, except for some days that differ.

    Bit 0 of `weekend` is Monday. Bit n of `differing` is the day `first + n`. The calendar knows no day that
    differs from `end` on.
    """

    weekend: int
    first: int = 0
    differing: int = 0

    @classmethod
    def of(cls, weekend: Collection[int], closed: Mapping[int, bool]) -> Self:
        """The days of a weekend (0 is Monday), and whether each of some other days is closed."""
        mask = sum(1 << each for each in set(weekend))
        differing = [day for day, is_closed in closed.items() if is_closed != bool(mask >> weekday(day) & 1)]
        first = min(differing, default=0)
        return cls(mask, first, sum(1 << day - first for day in set(differing)))

    @property
    def end(self) -> int:
        """The day after the last one that differs from its week."""
        return self.first + self.differing.bit_length()

    def differs(self, day: int) -> bool:
        """Whether a day is not as the rule of its week says."""
        return day >= self.first and bool(self.differing >> day - self.first & 1)

    def has(self, day: int) -> bool:
        """Whether a day is closed."""
        return bool(self.weekend >> weekday(day) & 1) != self.differs(day)

    def text(self) -> str:
        """The days as a series stores them."""
        size = (self.differing.bit_length() + 7) // 8
        bits = b64encode(zlib.compress(self.differing.to_bytes(size, "little"), 9)).decode()
        return f"{self.weekend},{self.first},{bits if size else ''}"


def weekday(day: int) -> int:
    """The day of the week; Monday is 0."""
    return (day + _EPOCH_WEEKDAY) % _WEEK


@lru_cache(maxsize=256)
def closed_days(text: str) -> ClosedDays:
    """The days of such a text. Answers are kept: many jobs have one calendar."""
    weekend, first, bits = text.split(",")
    differing = int.from_bytes(zlib.decompress(b64decode(bits)), "little") if bits else 0
    return ClosedDays(int(weekend), int(first), differing)


class DayRule(NamedTuple):
    """On which days a series fires: the closed days as text, which days fit, and what becomes of the others.

    After a change of the calendar, some occurrences would fire again that were moved and have fired, and
    others would never fire. The series has none at the instants of `without`, and has further ones at those
    of `also`, both ascending. `fired` are the days of the schedule that have fired and have no place by now
    (jobs/day_change.py).
    """

    days: str
    fits: DayKind = "open"
    otherwise: Otherwise = "skip"
    also: tuple[Instant, ...] = ()
    without: tuple[Instant, ...] = ()
    fired: tuple[int, ...] = ()

    @property
    def moves(self) -> bool:
        """Whether an occurrence may be moved to another day."""
        return self.otherwise != "skip"

    @property
    def closed(self) -> ClosedDays:
        """The closed days."""
        return closed_days(self.days)

    @property
    def end(self) -> int:
        """From this day on, only the day of the week decides."""
        return self.closed.end + MOVED_DAYS_MAX

    @property
    def fits_on_none(self) -> bool:
        """Whether no day fits by its week alone."""
        return self.closed.weekend == (_WHOLE_WEEK if self.fits == "open" else 0)

    def fits_on(self, day: int) -> bool:
        """Whether the series may fire on a day."""
        return self.closed.has(day) == (self.fits == "closed")

    def target(self, day: int) -> int | None:
        """The day on which an occurrence of that day fires; None if it is skipped.

        Of two days that are equally near, it is the later one, as QuantLib's convention "Nearest" has it.
        """
        if self.fits_on(day):
            return day
        return next((each for each in self._others(day) if self.fits_on(each)), None)

    def _others(self, day: int) -> Iterator[int]:
        """The days to which an occurrence may be moved, the first choice first."""
        for distance in range(1, MOVED_DAYS_MAX + 1):
            if self.otherwise in {"next", "nearest"}:
                yield day + distance
            if self.otherwise in {"previous", "nearest"}:
                yield day - distance

    def sources(self, day: int) -> list[int]:
        """The days whose occurrences fire on a fitting day, ascending. That day is one of them."""
        found = [day]
        if not self.moves:
            return found
        for step in (-1, 1):
            source = day + step
            while not self.fits_on(source) and self.target(source) == day:
                found.append(source)
                source += step
        return sorted(found)

    def first_source_after(self, day: int) -> int:
        """A day before which no occurrence fires later than on `day`."""
        source = day + 1
        while self.moves and source > day - MOVED_DAYS_MAX and not self.fits_on(source - 1):
            source -= 1
        return source

    def last_day_from(self, day: int, cycle_days: int) -> int:
        """If a schedule that repeats within `cycle_days` has no day that fits up to this one, it has none."""
        return max(day, self.end) + (MOVED_DAYS_MAX if self.fits_on_none else cycle_days)

    def to_item(self) -> list[Any]:
        """The rule as a series stores it."""
        amendments = self[3:]
        changed = [list(each) for each in amendments] if any(amendments) else []
        return [self.days, self.fits, self.otherwise, *changed]

    @classmethod
    def from_item(cls, item: list[Any]) -> Self:
        """The rule that to_item() wrote; the store may give back any type of number."""
        days, fits, otherwise, *changed = item
        return cls(days, fits, otherwise, *(tuple(map(int, each)) for each in changed))


#: The rule of a series without a calendar: no day is closed.
EVERY_DAY: Final = DayRule("0,0,")
