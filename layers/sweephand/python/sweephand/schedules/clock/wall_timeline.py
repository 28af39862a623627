"""The instants at which a zone's wall clock shows what a pattern asks for, whatever the clock does between.

Whether a match in a gap or an overlap fires is for the rule (dst.py) to say, how many match between two wall
times for the pattern (wall.py), and where offsets change for the zone. Nothing here walks from one match to
the next to find or to number a later one.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from sweephand.base.instants import INSTANT_MAX, SECOND_MS, Instant
from sweephand.schedules.clock.dst import REAL_TIME, ClockEffect, DstRule
from sweephand.schedules.clock.wall_pattern import Pattern
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


@dataclass(frozen=True, slots=True)
class WallTimeline:
    """The instants of a pattern in a zone, after `floor_at`, by `rule` where the clock changes.

    Without a rule it follows real time.
    """

    pattern: Pattern
    zone: Zone
    floor_at: Instant
    rule: DstRule | None

    @property
    def is_finite(self) -> bool:
        """Whether its years or its number end it."""
        return self.pattern.before_s is not None

    def instants(self, after: Instant) -> Iterator[Instant]:
        """From the first one after `after` on, up to the year 9999: one look per span of equal offset."""
        # Whole seconds: one is after an instant if it is after the second that the instant lies in.
        after_s = max(after, self.floor_at) // SECOND_MS
        # What comes seldom is looked for once, and the spans before it are passed over.
        empty_from_s = empty_to_s = 0
        for span in self.zone.offset_periods(after_s):
            if span.start_s > self._last_s:
                return
            begin_s, end_s = min(span.start_s + span.offset_s, span.covered_s), span.end_s + span.offset_s
            if span.end_s <= after_s + 1 or (empty_from_s <= begin_s and end_s <= empty_to_s):
                continue
            for instant_s in self._instants_in(span, after_s):
                if instant_s * SECOND_MS > INSTANT_MAX:
                    return
                yield instant_s * SECOND_MS
            coming_s = self.pattern.at_or_after(end_s)
            if coming_s is None and span.repeated_s == end_s:
                return
            empty_from_s, empty_to_s = end_s, end_s if coming_s is None else coming_s

    def count(self, after: Instant, through: Instant) -> int:
        """How many there are, over any time: of each kind of year one is counted, and the ends."""
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
        """In whole years, `first` included and `last` not."""
        steady = max(first, min(self.zone.steady_year, last))
        if self.pattern.is_seldom:
            spelled = self._count(year_start_s(first) - 1, year_start_s(steady) - 1)
            return spelled + self._count_seldom(steady, last)
        if self.is_finite:
            steady = last
        years = Counter(range(first, steady))
        # From there on those with the same days have as many each.
        cycles, rest = divmod(last - steady, CYCLE_YEARS)
        for some, times in ((rest, 1), (CYCLE_YEARS if cycles else 0, cycles)):
            for year in range(steady, steady + some):
                years[year_like(year, self.zone.steady_year)] += times
        return sum(
            _count_in_year(self.pattern, self.zone, self.rule, year) * times for year, times in years.items()
        )

    def _count_seldom(self, first: int, last: int) -> int:
        """In steady years: what the wall clock shows, less what gaps drop and more what comes twice."""
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
        for span in self.zone.offset_periods(after_s):
            if span.start_s > through_s:
                break
            if span.end_s > after_s + 1:
                from_s, before_s = self._walls(span, after_s)
                before_s = min(before_s, through_s + 1 + span.offset_s)
                total += self.pattern.count(from_s, before_s) + self._is_made_up(span, after_s)
        return total

    def nth(self, number: int, after: Instant, months_max: int) -> Instant | None:
        """Found by counting: in stretches that double in length, then by halving the last one."""
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
        """Found by counting back in stretches that double in length, until one of them holds a match."""
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
        """A second behind all of it: the calendar's last, or one at which the pattern is over in any zone."""
        before_s = self.pattern.before_s
        return _CALENDAR_LAST_S if before_s is None else min(before_s + 2 * DAY_S, _CALENDAR_LAST_S)

    @property
    def _rule(self) -> DstRule:
        return REAL_TIME if self.rule is None else self.rule

    def _nth_between(self, number: int, low_s: int, high_s: int) -> int:
        """The instant of that number after `low_s`, known to lie at or before `high_s`: by halving."""
        while high_s - low_s > 1:
            middle_s = (low_s + high_s) // 2
            count = self.count(low_s * SECOND_MS, middle_s * SECOND_MS)
            if count >= number:
                high_s = middle_s
            else:
                number, low_s = number - count, middle_s
        return high_s

    def clock_effects(self, after: Instant, through: Instant) -> Iterator[ClockEffect]:
        """What clock changes did to local times that the pattern names; nothing to what follows real time."""
        if self.rule is None:
            return
        after_s = max(after, self.floor_at) // SECOND_MS
        for span in self.zone.offset_periods(after_s):
            if span.start_s > self._last_s or span.start_s * SECOND_MS > through:
                return
            for effect in self._effects_on(span):
                if after_s * SECOND_MS < effect.instant <= through:
                    yield effect

    def _effects_on(self, span: OffsetPeriod) -> Iterator[ClockEffect]:
        begin_s, end_s = span.start_s + span.offset_s, span.end_s + span.offset_s
        from_s, before_s = self._rule.walls_of(span)
        is_made_up = self._rule.makes_up_gap_before(span)
        for wall_s in self._matches(span.covered_s, begin_s):
            yield ClockEffect(span.start_s * SECOND_MS, wall_s, "gap", is_made_up)
        for wall_s in self._matches(begin_s, min(span.covered_s, end_s)):
            yield ClockEffect((wall_s - span.offset_s) * SECOND_MS, wall_s, "second", wall_s >= from_s)
        for wall_s in self._matches(max(span.repeated_s, begin_s), end_s):
            yield ClockEffect((wall_s - span.offset_s) * SECOND_MS, wall_s, "first", wall_s < before_s)

    def _instants_in(self, span: OffsetPeriod, after_s: int) -> Iterator[int]:
        if self._is_made_up(span, after_s):
            yield span.start_s
        for wall_s in self._matches(*self._walls(span, after_s)):
            yield wall_s - span.offset_s

    def _matches(self, from_s: int, before_s: int) -> Iterator[int]:
        """The wall times that match, `from_s` included and `before_s` not."""
        if from_s >= before_s:
            return
        wall_s = self.pattern.at_or_after(from_s)
        while wall_s is not None and wall_s < before_s:
            yield wall_s
            wall_s = self.pattern.at_or_after(wall_s + 1)

    def _walls(self, span: OffsetPeriod, after_s: int) -> tuple[int, int]:
        """From which wall time on a span's matches fire, all of them after `after_s`, and before which."""
        from_s, before_s = self._rule.walls_of(span)
        return max(from_s, after_s + 1 + span.offset_s), before_s

    def _is_made_up(self, span: OffsetPeriod, after_s: int) -> bool:
        """Whether the span's first instant stands for a local time in the gap before it alone."""
        if span.start_s <= after_s or not self._rule.makes_up_gap_before(span):
            return False
        wall_s = span.start_s + span.offset_s
        is_dropped = self.pattern.count(span.covered_s, wall_s) > 0
        return is_dropped and self.pattern.count(wall_s, wall_s + 1) == 0


@lru_cache(maxsize=4096)
def _count_in_year(pattern: Pattern, zone: Zone, rule: DstRule | None, year: int) -> int:
    """Kept for all series of one expression: their floors lie outside of the year."""
    begun = WallTimeline(pattern, zone, year_start_s(year) * SECOND_MS - 1, rule)
    return begun.count(begun.floor_at, year_start_s(year + 1) * SECOND_MS - 1)


@lru_cache(maxsize=4096)
def _differences(zone: Zone, rule: DstRule, year: int) -> tuple[tuple[int, int, int], ...]:
    """Where in a year a pattern of at most one match a day fires more (1) or less (-1) often than it matches.

    From which wall time on, and before which.
    """
    found = []
    for span in zone.offset_periods_in(year):
        begin_s = span.start_s + span.offset_s
        if begin_s > span.covered_s and not rule.makes_up_gap_before(span):
            found.append((span.covered_s, begin_s, -1))
        elif begin_s < span.covered_s and rule.overlap == "both":
            found.append((begin_s, span.covered_s, 1))
    return tuple(found)
