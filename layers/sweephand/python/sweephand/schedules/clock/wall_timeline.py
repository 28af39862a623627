"""The instants at which the wall clock of a zone shows the wall times of a pattern.

The zone says when offsets change. The pattern says how many wall times match between two
others. The rule (dst.py) says whether a match in a gap or an overlap fires. No function here walks through
all matches to find or to number a later one.
"""

from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Protocol

from sweephand.base.instants import INSTANT_MAX, SECOND_MS, Instant
from sweephand.schedules.clock.dst import REAL_TIME, ClockEffect, DstRule
from sweephand.schedules.clock.zones import (
    CYCLE_YEARS,
    DAY_S,
    OffsetPeriod,
    Zone,
    year_like,
    year_of,
    year_start_s,
    years_alike,
)

_SECONDS_PER_MONTH: Final = 31 * DAY_S
_CALENDAR_LAST_S: Final = INSTANT_MAX // SECOND_MS


class Pattern(Hashable, Protocol):
    """Which seconds of the wall clock match."""

    @property
    def is_seldom(self) -> bool:
        """Whether no two matches lie within a day, and a count costs the same over any time."""
        ...

    @property
    def steady_year(self) -> int | None:
        """From this year on, years with the same weekdays on the same dates match alike; None if never."""
        ...

    @property
    def cycle_s(self) -> int | None:
        """If all matches have one time of the day: after so long they come again on the same weekdays."""
        ...

    @property
    def is_finite(self) -> bool:
        """Whether the pattern has an end by itself, whatever a calendar allows."""
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


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WallTimeline:
    """The instants of a pattern in a zone, after `floor_at`. `rule` applies where the clock changes.

    Without a rule the timeline follows real time.
    """

    pattern: Pattern
    zone: Zone
    floor_at: Instant
    rule: DstRule | None

    @property
    def is_finite(self) -> bool:
        """Whether the pattern has an end."""
        return self.pattern.is_finite

    def instants(self, after: Instant) -> Iterator[Instant]:
        """From the first instant after `after` on, up to the year 9999: one look per offset period."""
        # A whole second lies after an instant if it lies after the second of that instant.
        after_s = max(after, self.floor_at) // SECOND_MS
        first_at = _first_after(self.pattern, self.zone, self.rule, after_s)
        if first_at is not None:
            yield first_at
            yield from self._instants_after(first_at // SECOND_MS)

    def _instants_after(self, after_s: int) -> Iterator[Instant]:
        for period in self._periods(after_s):
            for instant_s in self._instants_in(period, after_s):
                if instant_s * SECOND_MS > INSTANT_MAX:
                    return
                yield instant_s * SECOND_MS

    def _periods(self, after_s: int) -> Iterator[OffsetPeriod]:
        """The offset period of a second, and the later ones with a match in them or in the gap before them.

        A rare match is looked for once, and the periods before it are passed over.
        """
        empty_from_s = empty_to_s = 0
        for period in self.zone.offset_periods(after_s):
            if period.start_s > self._last_s:
                return
            if period.start_s <= after_s < period.end_s:
                yield period
                continue
            begin_s = min(period.start_s + period.offset_s, period.covered_s)
            end_s = period.end_s + period.offset_s
            if empty_from_s <= begin_s and end_s <= empty_to_s:
                continue
            coming_s = self.pattern.at_or_after(begin_s)
            if coming_s is None:
                return
            empty_from_s, empty_to_s = begin_s, coming_s
            if coming_s < end_s:
                yield period

    def count(self, after: Instant, through: Instant) -> int:
        """How many instants lie after `after`, up to `through`.

        It counts one year of each kind, and the years at both ends.
        """
        after_s = max(after, self.floor_at) // SECOND_MS
        through_s = min(through // SECOND_MS, self._last_s)
        first, last = year_of(after_s) + 1, year_of(through_s)
        if last <= first:
            return self._count(after_s, through_s)
        return (
            self._count(after_s, year_start_s(first) - 1)
            + self._count_in_years(first, last)
            + self._count(year_start_s(last) - 1, through_s)
        )

    def _count_in_years(self, first: int, last: int) -> int:
        """The count in whole years, `first` included and `last` not."""
        since = max(self.zone.steady_year, self.pattern.steady_year or 0)
        steady = max(first, min(since, last))
        if self.pattern.is_seldom:
            before_steady = self._count(year_start_s(first) - 1, year_start_s(steady) - 1)
            return before_steady + self._count_seldom(steady, last)
        if self.pattern.steady_year is None:
            steady = last
        years = Counter(range(first, steady))
        # From there on, years with the same weekdays have the same count.
        cycles, rest = divmod(last - steady, CYCLE_YEARS)
        for some, times in ((rest, 1), (CYCLE_YEARS if cycles else 0, cycles)):
            for year in range(steady, steady + some):
                years[year_like(year, since)] += times
        return sum(
            _count_in_year(self.pattern, self.zone, self.rule, year) * times for year, times in years.items()
        )

    def _count_seldom(self, first: int, last: int) -> int:
        """The count in steady years: all matches, less those that gaps drop, plus those that come twice."""
        begin_s, end_s = year_start_s(first), year_start_s(last)
        if first == last or any(self.zone.begins_within_overlap(year) for year in (first, last)):
            return self._count(begin_s - 1, end_s - 1)
        pattern = self.pattern
        total = pattern.count(begin_s + self.zone.offset_at(begin_s), end_s + self.zone.offset_at(end_s))
        since = self.zone.steady_year
        differing = {
            like: found for like in years_alike(since) if (found := _differences(self.zone, self._rule, like))
        }
        begins = {like: year_start_s(like) for like in differing}
        for year in range(first, last) if differing else ():
            like = year_like(year, since)
            if like not in differing:
                continue
            moved_s = year_start_s(year) - begins[like]
            for low_s, high_s, sign in differing[like]:
                total += sign * pattern.count(low_s + moved_s, high_s + moved_s)
        return total

    def _count(self, after_s: int, through_s: int) -> int:
        total = 0
        for period in self.zone.offset_periods(after_s):
            if period.start_s > through_s:
                break
            if period.end_s > after_s + 1:
                from_s, before_s = self._walls(period, after_s)
                before_s = min(before_s, through_s + 1 + period.offset_s)
                total += self.pattern.count(from_s, before_s) + self._is_made_up(period, after_s)
        return total

    def nth(self, number: int, after: Instant, months_max: int) -> Instant | None:
        """The instant of that number, found by counting over intervals that double and by halving."""
        low_s = max(after, self.floor_at) // SECOND_MS
        end_s = max(low_s, min(low_s + months_max * _SECONDS_PER_MONTH, self._last_s))
        stretch_s = DAY_S
        while True:
            high_s = min(low_s + stretch_s, end_s)
            count = self.count(low_s * SECOND_MS, high_s * SECOND_MS)
            if count >= number:
                break
            if high_s == end_s:
                return None
            number, low_s, stretch_s = number - count, high_s, stretch_s * 2
        return self._nth_between(number, low_s, high_s) * SECOND_MS

    def last_through(self, through: Instant) -> Instant | None:
        """The last instant up to this one, found by counting back over intervals that double in length."""
        floor_s, high_s = self.floor_at // SECOND_MS, min(through // SECOND_MS, self._last_s)
        stretch_s = DAY_S
        while high_s > floor_s:
            low_s = max(high_s - stretch_s, floor_s)
            count = self.count(low_s * SECOND_MS, high_s * SECOND_MS)
            if count:
                return self._nth_between(count, low_s, high_s) * SECOND_MS
            high_s, stretch_s = low_s, stretch_s * 2
        return None

    @property
    def _last_s(self) -> int:
        """The last second of the calendar, or one at which the pattern is over in every zone."""
        before_s = self.pattern.before_s
        return _CALENDAR_LAST_S if before_s is None else min(before_s + 2 * DAY_S, _CALENDAR_LAST_S)

    @property
    def _rule(self) -> DstRule:
        return REAL_TIME if self.rule is None else self.rule

    def _nth_between(self, number: int, low_s: int, high_s: int) -> int:
        """The instant of that number after `low_s`, found by halving; it must lie at or before `high_s`."""
        while high_s - low_s > 1:
            middle_s = (low_s + high_s) // 2
            count = self.count(low_s * SECOND_MS, middle_s * SECOND_MS)
            if count >= number:
                high_s = middle_s
            else:
                number, low_s = number - count, middle_s
        return high_s

    def clock_effects(self, after: Instant, through: Instant) -> Iterator[ClockEffect]:
        """What clock changes did to the local times of the pattern; none if it follows real time."""
        if self.rule is None:
            return
        after_s = max(after, self.floor_at) // SECOND_MS
        for period in self._periods(after_s):
            if period.start_s * SECOND_MS > through:
                return
            for effect in self._effects_on(period):
                if after_s * SECOND_MS < effect.instant <= through:
                    yield effect

    def _effects_on(self, period: OffsetPeriod) -> Iterator[ClockEffect]:
        begin_s, end_s = period.start_s + period.offset_s, period.end_s + period.offset_s
        from_s, before_s = self._rule.walls_of(period)
        is_made_up = self._rule.makes_up_gap_before(period)
        for wall_s in self._matches(period.covered_s, begin_s):
            yield ClockEffect(period.start_s * SECOND_MS, wall_s, "gap", is_made_up)
        for wall_s in self._matches(begin_s, min(period.covered_s, end_s)):
            yield ClockEffect((wall_s - period.offset_s) * SECOND_MS, wall_s, "second", wall_s >= from_s)
        for wall_s in self._matches(max(period.repeated_s, begin_s), end_s):
            yield ClockEffect((wall_s - period.offset_s) * SECOND_MS, wall_s, "first", wall_s < before_s)

    def _instants_in(self, period: OffsetPeriod, after_s: int) -> Iterator[int]:
        if self._is_made_up(period, after_s):
            yield period.start_s
        for wall_s in self._matches(*self._walls(period, after_s)):
            yield wall_s - period.offset_s

    def _matches(self, from_s: int, before_s: int) -> Iterator[int]:
        """The wall times that match, `from_s` included and `before_s` not."""
        if from_s >= before_s:
            return
        wall_s = self.pattern.at_or_after(from_s)
        while wall_s is not None and wall_s < before_s:
            yield wall_s
            wall_s = self.pattern.at_or_after(wall_s + 1)

    def _walls(self, period: OffsetPeriod, after_s: int) -> tuple[int, int]:
        """The wall times between which the matches of a period fire, if they lie after `after_s`."""
        from_s, before_s = self._rule.walls_of(period)
        return max(from_s, after_s + 1 + period.offset_s), before_s

    def _is_made_up(self, period: OffsetPeriod, after_s: int) -> bool:
        """Whether the first instant of a period fires only for a local time in the gap before it."""
        if period.start_s <= after_s or not self._rule.makes_up_gap_before(period):
            return False
        wall_s = period.start_s + period.offset_s
        is_dropped = self.pattern.count(period.covered_s, wall_s) > 0
        return is_dropped and self.pattern.count(wall_s, wall_s + 1) == 0


@lru_cache(maxsize=4096)
def _first_after(pattern: Pattern, zone: Zone, rule: DstRule | None, after_s: int) -> Instant | None:
    """The first instant after a second, kept for all series of an expression."""
    begun = WallTimeline(pattern, zone, after_s * SECOND_MS, rule)
    return next(begun._instants_after(after_s), None)  # noqa: SLF001 - of this module


@lru_cache(maxsize=4096)
def _count_in_year(pattern: Pattern, zone: Zone, rule: DstRule | None, year: int) -> int:
    """The count of one year, kept for all series of an expression whose floors lie outside of the year."""
    begun = WallTimeline(pattern, zone, year_start_s(year) * SECOND_MS - 1, rule)
    return begun.count(begun.floor_at, year_start_s(year + 1) * SECOND_MS - 1)


@lru_cache(maxsize=4096)
def _differences(zone: Zone, rule: DstRule, year: int) -> tuple[tuple[int, int, int], ...]:
    """Where in a year a pattern of at most one match a day fires more (1) or less (-1) often than it matches.

    Each entry has the wall time at which that begins, the wall time at which it ends, and the sign.
    """
    found = []
    for period in zone.offset_periods_in(year):
        begin_s = period.start_s + period.offset_s
        if begin_s > period.covered_s and not rule.makes_up_gap_before(period):
            found.append((period.covered_s, begin_s, -1))
        elif begin_s < period.covered_s and rule.overlap == "both":
            found.append((begin_s, period.covered_s, 1))
    return tuple(found)
