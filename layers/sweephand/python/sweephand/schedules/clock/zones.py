"""Which UTC offset rules in a time zone when, from the zone data that ships with the package.

Only the installed `tzdata` is asked, never the machine's own files: what a schedule means must not change
with the host. Zones are immutable and kept; all of this is safe under concurrent use.
"""

import calendar
import datetime as dt
import importlib.resources
import io
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from sweephand.base.spelling import suggestion
from sweephand.schedules.clock.tzif import Transition, ZoneTransitions, read_tzif
from sweephand.schedules.errors import ScheduleError, quoted

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

DAY_S: Final = 86_400

_EPOCH: Final = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - the wall clock's own zero, which has no zone
_YEAR_LAST: Final = 9999
#: A local time must be sayable in four-digit years, so offsets are asked for up to a day before they end.
_ASKABLE_MIN_S: Final = -62_135_596_800 + DAY_S
_ASKABLE_MAX_S: Final = 253_402_300_799 - DAY_S
#: Two transitions of one zone that undo each other lie at least 6.9 days apart in all data (Gaza, Recife),
#: and a rule for all years has them months apart: looking every three days meets each of them.
_PROBE_S: Final = 3 * DAY_S
#: The calendar repeats itself, weekdays included, after so many years, which are so many seconds.
CYCLE_YEARS: Final = 400
CYCLE_S: Final = 146_097 * DAY_S
#: From this year on no zone has changes that are spelled out (the last are of 2086).
STEADY_YEAR: Final = 2100
#: No transition repeats or skips more than 24 hours: two days off it no longer matters to a span.
_REACH_S: Final = 2 * DAY_S


class OffsetPeriod(NamedTuple):
    """A stretch of instants `start_s <= instant < end_s` (epoch seconds) under one offset.

    `covered_s` is how far the wall clock had got before: a span that begins later on the wall begins with a
    gap, one that begins earlier repeats what was shown already. `repeated_s` is the wall time from which on
    a later span shows again what this one has shown; the end of the span on the wall if none does.
    """

    start_s: int
    end_s: int
    offset_s: int
    covered_s: int
    repeated_s: int


class Zone:
    """One IANA time zone, as a sequence of spans."""

    def __init__(self, name: str, info: "ZoneInfo", spelled: ZoneTransitions) -> None:
        self.name = name
        self._info = info
        self._goes_on = spelled.goes_on
        self._spelled: dict[int, list[Transition]] = {}
        for change in spelled.changes:
            if change.at_s > _ASKABLE_MIN_S:
                self._spelled.setdefault(year_of(change.at_s), []).append(change)
        self._spelled_to = 0 if spelled.until_s is None else year_of(spelled.until_s)
        self._transitions: dict[int, tuple[Transition, ...]] = {}
        self._spans: dict[int, tuple[OffsetPeriod, ...]] = {}

    @property
    def steady_year(self) -> int:
        """From this year on the zone follows one rule for good, so that years of the same days are alike."""
        # The year after the last change that is spelled out may still repeat what that one showed.
        return max(self._spelled_to + 2, _EPOCH.year)

    def offset_at(self, instant_s: int) -> int:
        """The seconds that the wall clock is ahead of UTC at an instant (epoch seconds)."""
        askable_s = min(max(instant_s, _ASKABLE_MIN_S), _ASKABLE_MAX_S)
        moment = self._info.fromutc((_EPOCH + dt.timedelta(seconds=askable_s)).replace(tzinfo=self._info))
        offset = moment.utcoffset()
        assert offset is not None, "a zone of the database always has an offset"
        return offset // dt.timedelta(seconds=1)

    def offset_periods(self, from_s: int) -> Iterator[OffsetPeriod]:
        """The spans from the one that holds `from_s` on, up to the year 9999, lazily.

        A span ends with its year at the latest, so that a zone without transitions yields without walking
        to the year 9999.
        """
        for year in range(year_of(from_s), _YEAR_LAST + 1):
            for span in self.offset_periods_in(year):
                if span.end_s > from_s:
                    yield span

    def instant_of(self, wall_s: int) -> int:
        """The first instant (epoch seconds) that shows a wall time; the end of the gap if none does."""
        for span in self.offset_periods(wall_s - _REACH_S):
            if wall_s < span.end_s + span.offset_s:
                return max(span.start_s, wall_s - span.offset_s)
        # Only the last day of the year 9999 lies behind every span.
        return wall_s - self.offset_at(_ASKABLE_MAX_S)

    def begins_within_overlap(self, year: int) -> bool:
        """Whether a year begins (UTC) while the wall clock shows something again."""
        first = self.offset_periods_in(min(year, _YEAR_LAST))[0]
        return first.covered_s != first.start_s + first.offset_s

    def offset_periods_in(self, year: int) -> tuple[OffsetPeriod, ...]:
        """The spans of a year (UTC), each cut off at its ends."""
        if year >= self.steady_year:
            like = year_like(year, self.steady_year)
            if like != year:
                return tuple(
                    _moved(span, year_start_s(year) - year_start_s(like))
                    for span in self.offset_periods_in(like)
                )
        known = self._spans.get(year)
        if known is None:
            # Two threads may both find them; they find the same.
            known = self._spans[year] = tuple(self._find_offset_periods(year))
        return known

    def _find_offset_periods(self, year: int) -> Iterator[OffsetPeriod]:
        start_s, end_s = year_start_s(year), year_start_s(year + 1)
        changes = self._transitions_around(year)
        cuts = [start_s, *(change.at_s for change in changes if start_s < change.at_s < end_s), end_s]
        for low_s, high_s in pairwise(cuts):
            offset_s = self.offset_at(low_s)
            shown = [each.at_s + each.before_s for each in changes if each.at_s <= low_s]
            to_show = [each.at_s + each.after_s for each in changes if each.at_s >= high_s]
            if low_s == start_s and start_s not in {each.at_s for each in changes}:
                # Here the year begins and nothing else: the wall clock goes on as it went.
                shown.append(low_s + offset_s)
            yield OffsetPeriod(low_s, high_s, offset_s, max(shown), min([*to_show, high_s + offset_s]))

    def _transitions_around(self, year: int) -> list[Transition]:
        """Those of a year, and those so near to it that a span of the year repeats or is repeated by them."""
        start_s, end_s = year_start_s(year), year_start_s(year + 1)
        found = list(self._transitions_in(year))
        if self.offset_at(start_s - _REACH_S) != self.offset_at(start_s - 1):
            earlier = self._transitions_in(year - 1)
            found[:0] = [each for each in earlier if each.at_s >= start_s - _REACH_S]
        if self.offset_at(end_s - 1) != self.offset_at(end_s + _REACH_S):
            found += [each for each in self._transitions_in(year + 1) if each.at_s <= end_s + _REACH_S]
        return found

    def _transitions_in(self, year: int) -> tuple[Transition, ...]:
        if year < self._spelled_to or not self._goes_on:
            return tuple(self._spelled.get(year, ()))
        known = self._transitions.get(year)
        if known is None:
            # Two threads may both find them; they find the same.
            known = self._transitions[year] = tuple(self._find_transitions(year))
        return known

    def _find_transitions(self, year: int) -> Iterator[Transition]:
        """By asking for offsets, since only zoneinfo reads the rule for years that are not spelled out."""
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
    """Epoch seconds of a year's first second, on a clock without a zone; the year 10000 included."""
    if year > _YEAR_LAST:
        return 253_402_300_800
    return (dt.date(year, 1, 1).toordinal() - _EPOCH.toordinal()) * DAY_S


def year_of(instant_s: int) -> int:
    """The year (UTC) in which an instant (epoch seconds) lies; the first or the last one if in none."""
    return (_EPOCH + dt.timedelta(seconds=min(max(instant_s, _ASKABLE_MIN_S), _ASKABLE_MAX_S))).year


def year_like(year: int, since: int) -> int:
    """The first year from `since` on with the same weekdays on the same dates: one of 14 kinds."""
    return _years_like(since)[year % CYCLE_YEARS]


@lru_cache(maxsize=256)
def _years_like(since: int) -> tuple[int, ...]:
    """For each year of the calendar's cycle, the first one from `since` on that is like it."""
    first: dict[tuple[int, bool], int] = {}
    for year in range(since, since + CYCLE_YEARS):
        first.setdefault((dt.date(year, 1, 1).weekday(), calendar.isleap(year)), year)
    years = (dt.date(CYCLE_YEARS + year, 1, 1) for year in range(CYCLE_YEARS))
    return tuple(first[date.weekday(), calendar.isleap(date.year)] for date in years)


def years_alike(since: int) -> frozenset[int]:
    """Of each of the 14 kinds the first year from `since` on."""
    return frozenset(_years_like(since))


def _moved(span: OffsetPeriod, by_s: int) -> OffsetPeriod:
    start_s, end_s, offset_s, covered_s, repeated_s = span
    return OffsetPeriod(start_s + by_s, end_s + by_s, offset_s, covered_s + by_s, repeated_s + by_s)


@lru_cache(maxsize=1)
def zone_names() -> frozenset[str]:
    """Every name that the packaged database knows, old ones such as `US/Eastern` included."""
    return frozenset(importlib.resources.files("tzdata").joinpath("zones").read_text("utf-8").split())


@lru_cache(maxsize=1024)
def zone_named(name: str) -> Zone:
    """The zone with that IANA name, spelled exactly. Raises ScheduleError if there is none."""
    if name not in zone_names():
        # Only names of the list are ever opened as files, so that `../x` is just another unknown name.
        raise ScheduleError(
            f"{quoted(name)} is no time zone; expected an IANA name such as Europe/Paris or UTC."
            f"{suggestion(name, sorted(zone_names()))}"
        )
    # With the first zone: many a function delivers for long before it meets one.
    from zoneinfo import ZoneInfo  # noqa: PLC0415 - as above

    place = importlib.resources.files("tzdata").joinpath("zoneinfo", *name.split("/"))
    data = place.read_bytes()
    return Zone(name, ZoneInfo.from_file(io.BytesIO(data), key=name), read_tzif(data))
