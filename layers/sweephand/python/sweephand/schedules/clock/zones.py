"""Which changes of offset a zone's file lists, and whether a rule for all later years follows them.

Reference: RFC 9636, the Time Zone Information Format. This module reads the second data block of a file of
version 2 or later, which has instants of 64 bits, and the footer.
"""

import calendar
import datetime as dt
import importlib.resources
import io
import struct
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from sweephand.base.errors import ScheduleError
from sweephand.base.names import quoted, suggestion

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

#: Magic and version, then the numbers of UT and standard indicators, leap seconds, instants, types, letters.
_HEADER: Final = struct.Struct(">4sc15x6l")
_TYPE: Final = struct.Struct(">lbB")


class Transition(NamedTuple):
    """A change of offset: `after_s` applies from the instant `at_s` (epoch seconds) on."""

    at_s: int
    before_s: int
    after_s: int


class ZoneTransitions(NamedTuple):
    """The changes that a zone's file lists, ascending, up to `until_s` (epoch seconds; None without any).

    `goes_on` says that a rule changes the clock in all later years, too.
    """

    changes: tuple[Transition, ...]
    until_s: int | None
    goes_on: bool


def read_tzif(data: bytes) -> ZoneTransitions:
    """The transitions of a file. The file comes with the package, so a bad one is a broken installation."""
    _, version, *counts = _HEADER.unpack_from(data)
    assert version >= b"2", "the packaged zones have instants of 64 bits"
    at = _HEADER.size + _block_size(counts, instant_size=4)
    _, _, *counts = _HEADER.unpack_from(data, at)
    at += _HEADER.size
    footer = data[at + _block_size(counts, instant_size=8) :]
    instants = struct.unpack_from(f">{counts[3]}q", data, at)
    changes = tuple(each for each in _changes(data, at, instants, counts[4]) if each.before_s != each.after_s)
    # The footer is a rule as POSIX writes it in TZ. A rule that changes the clock names two dates after a
    # comma. The rule begins after the last instant, even if that instant changed only the zone's
    # abbreviation.
    return ZoneTransitions(changes, instants[-1] if instants else None, b"," in footer)


def _block_size(counts: list[int], *, instant_size: int) -> int:
    utc, standard, leaps, instants, types, letters = counts
    leap_size = instant_size + 4
    return instants * (instant_size + 1) + types * _TYPE.size + letters + leaps * leap_size + standard + utc


def _changes(data: bytes, at: int, instants: tuple[int, ...], types: int) -> Iterator[Transition]:
    kinds_at, types_at = at + 8 * len(instants), at + 9 * len(instants)
    offsets = [_TYPE.unpack_from(data, types_at + _TYPE.size * number)[0] for number in range(types)]
    # Before the first change, the first type applies.
    ruling = pairwise([offsets[0], *(offsets[kind] for kind in data[kinds_at:types_at])])
    for instant, (before_s, after_s) in zip(instants, ruling, strict=True):
        yield Transition(instant, before_s, after_s)


DAY_S: Final = 86_400

#: The zone of a job that names none.
UTC: Final = "UTC"

_EPOCH: Final = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - the wall clock's own zero, which has no zone
_YEAR_LAST: Final = 9999
#: Python has dates of the years 1 to 9999 only, so offsets are asked for within these years less a day.
_ASKABLE_MIN_S: Final = -62_135_596_800 + DAY_S
_ASKABLE_MAX_S: Final = 253_402_300_799 - DAY_S
#: Two transitions that undo each other lie at least 6.9 days apart in all data (Gaza, Recife), and months
#: apart by a yearly rule. So a look every three days finds each of them.
_PROBE_S: Final = 3 * DAY_S
#: The calendar repeats itself, with its weekdays, after this time.
CYCLE_YEARS: Final = 400
CYCLE_S: Final = 146_097 * DAY_S
#: From this year on no zone's file lists changes; the last ones are of 2086.
STEADY_YEAR: Final = 2100
#: No transition repeats or skips more than 24 hours, so it no longer matters two days from it.
_REACH_S: Final = 2 * DAY_S


class OffsetPeriod(NamedTuple):
    """The instants `start_s <= instant < end_s` (epoch seconds), during which one offset applies.

    `covered_s` is the wall time that the clock had reached before. If the period begins later on the wall, it
    begins after a gap. If it begins earlier, it repeats wall times. From the wall time `repeated_s` on, a
    later period repeats this one. If none does, `repeated_s` is the end of the period on the wall.
    """

    start_s: int
    end_s: int
    offset_s: int
    covered_s: int
    repeated_s: int


class Zone:
    """One IANA time zone, as a sequence of offset periods."""

    def __init__(self, name: str, info: "ZoneInfo", listed: ZoneTransitions) -> None:
        self.name = name
        self._info = info
        self._goes_on = listed.goes_on
        self._listed_changes: dict[int, list[Transition]] = {}
        for change in listed.changes:
            if change.at_s > _ASKABLE_MIN_S:
                self._listed_changes.setdefault(year_of(change.at_s), []).append(change)
        self._listed_to_year = 0 if listed.until_s is None else year_of(listed.until_s)
        self._transitions: dict[int, tuple[Transition, ...]] = {}
        self._offset_periods: dict[int, tuple[OffsetPeriod, ...]] = {}
        #: The last steady year that was asked for. Counts within a year ask for the same one again and again.
        self._last_steady: tuple[int, tuple[OffsetPeriod, ...]] = (0, ())

    @property
    def steady_year(self) -> int:
        """From this year on one rule applies for good, so that years with the same weekdays are alike."""
        # The year after the last listed change may still repeat wall times of that change.
        return max(self._listed_to_year + 2, _EPOCH.year)

    def offset_at(self, instant_s: int) -> int:
        """The seconds that the wall clock is ahead of UTC at an instant (epoch seconds)."""
        askable_s = min(max(instant_s, _ASKABLE_MIN_S), _ASKABLE_MAX_S)
        moment = self._info.fromutc((_EPOCH + dt.timedelta(seconds=askable_s)).replace(tzinfo=self._info))
        offset = moment.utcoffset()
        assert offset is not None, "a zone of the database always has an offset"
        return offset // dt.timedelta(seconds=1)

    def offset_periods(self, from_s: int) -> Iterator[OffsetPeriod]:
        """The offset periods from the one that contains `from_s`, up to the year 9999, lazily.

        A period ends with its year at the latest. So a zone without transitions yields without a walk to the
        year 9999.
        """
        for year in range(year_of(from_s), _YEAR_LAST + 1):
            for period in self.offset_periods_in(year):
                if period.end_s > from_s:
                    yield period

    def instant_of(self, wall_s: int) -> int:
        """The first instant (epoch seconds) that shows a wall time, or the end of the gap that drops it."""
        for period in self.offset_periods(wall_s - _REACH_S):
            if wall_s < period.end_s + period.offset_s:
                return max(period.start_s, wall_s - period.offset_s)
        # Only the last day of the year 9999 lies after every period.
        return wall_s - self.offset_at(_ASKABLE_MAX_S)

    def begins_within_overlap(self, year: int) -> bool:
        """Whether the wall clock repeats wall times as a year (UTC) begins."""
        first = self.offset_periods_in(min(year, _YEAR_LAST))[0]
        return first.covered_s != first.start_s + first.offset_s

    def offset_periods_in(self, year: int) -> tuple[OffsetPeriod, ...]:
        """The offset periods of a year (UTC), cut off where the year begins and ends."""
        if year >= self.steady_year:
            like = year_like(year, self.steady_year)
            if like != year:
                # Two threads may take turns here. Each of them reads and writes a year with its own periods.
                last = self._last_steady
                if last[0] != year:
                    moved_s = year_start_s(year) - year_start_s(like)
                    moved = tuple(_moved(period, moved_s) for period in self.offset_periods_in(like))
                    last = self._last_steady = (year, moved)
                return last[1]
        known = self._offset_periods.get(year)
        if known is None:
            # Two threads may both find them; they find the same.
            known = self._offset_periods[year] = tuple(self._find_offset_periods(year))
        return known

    def _find_offset_periods(self, year: int) -> Iterator[OffsetPeriod]:
        start_s, end_s = year_start_s(year), year_start_s(year + 1)
        changes = self._transitions_around(year)
        cuts = [start_s, *(change.at_s for change in changes if start_s < change.at_s < end_s), end_s]
        for low_s, high_s in pairwise(cuts):
            offset_s = self.offset_at(low_s)
            earlier_local_s = [each.at_s + each.before_s for each in changes if each.at_s <= low_s]
            later_local_s = [each.at_s + each.after_s for each in changes if each.at_s >= high_s]
            if low_s == start_s and start_s not in {each.at_s for each in changes}:
                # Only the year begins here, and the wall clock runs on.
                earlier_local_s.append(low_s + offset_s)
            yield OffsetPeriod(
                low_s, high_s, offset_s, max(earlier_local_s), min([*later_local_s, high_s + offset_s])
            )

    def _transitions_around(self, year: int) -> list[Transition]:
        """The transitions of a year, and those near it that make a period of the year repeat another one."""
        start_s, end_s = year_start_s(year), year_start_s(year + 1)
        found = list(self._transitions_in(year))
        if self.offset_at(start_s - _REACH_S) != self.offset_at(start_s - 1):
            earlier = self._transitions_in(year - 1)
            found[:0] = [each for each in earlier if each.at_s >= start_s - _REACH_S]
        if self.offset_at(end_s - 1) != self.offset_at(end_s + _REACH_S):
            found += [each for each in self._transitions_in(year + 1) if each.at_s <= end_s + _REACH_S]
        return found

    def _transitions_in(self, year: int) -> tuple[Transition, ...]:
        if year < self._listed_to_year or not self._goes_on:
            return tuple(self._listed_changes.get(year, ()))
        known = self._transitions.get(year)
        if known is None:
            # Two threads may both find them; they find the same.
            known = self._transitions[year] = tuple(self._find_transitions(year))
        return known

    def _find_transitions(self, year: int) -> Iterator[Transition]:
        """The transitions by a yearly rule, which zoneinfo alone reads: found by asking for offsets."""
        low_s, end_s = year_start_s(year) - 1, year_start_s(year + 1) - 1
        before_s = self.offset_at(low_s)
        while low_s < end_s:
            high_s = min(low_s + _PROBE_S, end_s)
            after_s = self.offset_at(high_s)
            if after_s != before_s:
                yield Transition(self._first_with(after_s, low_s, high_s), before_s, after_s)
            low_s, before_s = high_s, after_s

    def _first_with(self, offset_s: int, low_s: int, high_s: int) -> int:
        while high_s - low_s > 1:
            middle_s = (low_s + high_s) // 2
            if self.offset_at(middle_s) == offset_s:
                high_s = middle_s
            else:
                low_s = middle_s
        return high_s


def year_start_s(year: int) -> int:
    """The first second of a year, on a clock without a zone; also of the year 10000."""
    if year > _YEAR_LAST:
        return 253_402_300_800
    return (dt.date(year, 1, 1).toordinal() - _EPOCH.toordinal()) * DAY_S


def year_of(instant_s: int) -> int:
    """The year (UTC) of an instant (epoch seconds), limited to the first and the last year."""
    return (_EPOCH + dt.timedelta(seconds=min(max(instant_s, _ASKABLE_MIN_S), _ASKABLE_MAX_S))).year


def year_like(year: int, since: int) -> int:
    """The first year from `since` on that has the same weekdays on the same dates. There are 14 kinds."""
    return _years_like(since)[year % CYCLE_YEARS]


@lru_cache(maxsize=256)
def _years_like(since: int) -> tuple[int, ...]:
    """For each of the 400 years of the calendar, the first year from `since` on that is like it."""
    first: dict[tuple[int, bool], int] = {}
    for year in range(since, since + CYCLE_YEARS):
        first.setdefault((dt.date(year, 1, 1).weekday(), calendar.isleap(year)), year)
    years = (dt.date(CYCLE_YEARS + year, 1, 1) for year in range(CYCLE_YEARS))
    return tuple(first[date.weekday(), calendar.isleap(date.year)] for date in years)


def years_alike(since: int) -> frozenset[int]:
    """The first year from `since` on of each of the 14 kinds."""
    return frozenset(_years_like(since))


def _moved(period: OffsetPeriod, by_s: int) -> OffsetPeriod:
    start_s, end_s, offset_s, covered_s, repeated_s = period
    return OffsetPeriod(start_s + by_s, end_s + by_s, offset_s, covered_s + by_s, repeated_s + by_s)


@lru_cache(maxsize=1)
def zone_names() -> frozenset[str]:
    """Every name that the packaged database has, also old ones such as `US/Eastern`."""
    return frozenset(importlib.resources.files("tzdata").joinpath("zones").read_text("utf-8").split())


@lru_cache(maxsize=1024)
def zone_named(name: str) -> Zone:
    """The zone with that IANA name, spelled exactly. Raises ScheduleError if there is none."""
    if name not in zone_names():
        # Only names of the list are opened as files, so `../x` is one more unknown name.
        raise ScheduleError(
            f"{quoted(name)} is no time zone; expected an IANA name such as Europe/Paris or UTC."
            f"{suggestion(name, sorted(zone_names()))}"
        )
    # Imported with the first zone, which many sweeps do not need: the import takes 2 ms.
    from zoneinfo import ZoneInfo  # noqa: PLC0415 - as above

    place = importlib.resources.files("tzdata").joinpath("zoneinfo", *name.split("/"))
    data = place.read_bytes()
    return Zone(name, ZoneInfo.from_file(io.BytesIO(data), key=name), read_tzif(data))
