"""Patterns and timelines on the days that a calendar allows.

Local times of a pattern are moved before the zone makes instants of them. So a time that is moved away from a
day on which the clock changes keeps its local time.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import ClassVar, Final, NamedTuple

from sweephand.base.instants import DAY_MS, INSTANT_MAX, SECOND_MS, Instant
from sweephand.schedules.clock.dst import ClockEffect
from sweephand.schedules.clock.wall_timeline import Pattern
from sweephand.schedules.clock.zones import CYCLE_YEARS, DAY_S, Zone, year_of
from sweephand.schedules.day_rule import MOVED_DAYS_MAX, DayRule
from sweephand.schedules.timeline import Timeline

#: Within so many years, cron meets each date that exists on every day of the week: 29 February takes longest.
_WEEKDAY_YEARS: Final = 40
_YEAR_DAYS: Final = 366
_MONTH_MS: Final = 31 * DAY_MS
_STRETCH_MS: Final = 64 * DAY_MS


@dataclass(frozen=True, slots=True)
class FittingDays:
    """A wall_timeline.Pattern: the local times of another pattern, on the days that fit."""

    pattern: Pattern
    rule: DayRule
    cycle_s: ClassVar[int | None] = None

    @property
    def is_seldom(self) -> bool:
        """Whether each day has one time at most, and all days the same."""
        return self.pattern.cycle_s is not None

    @property
    def steady_year(self) -> int | None:
        """The year after those that the calendar knows, if the pattern has equal years by then."""
        steady = self.pattern.steady_year
        return None if steady is None else max(steady + 1, year_of(self.rule.end * DAY_S) + 2)

    @property
    def is_finite(self) -> bool:
        """Whether the other pattern has an end. A later write of the calendar can make further days fit."""
        return self.pattern.is_finite

    @property
    def before_s(self) -> int | None:
        """As far behind the end of the pattern as an occurrence may be moved, or the end of the last day."""
        before_s = self.pattern.before_s
        reach_s = MOVED_DAYS_MAX * DAY_S if self.rule.moves else 0
        ends_s = [] if before_s is None else [before_s + reach_s]
        if self.rule.fits_on_none:
            ends_s.append(self.rule.closed.end * DAY_S)
        return min(ends_s, default=None)

    def at_or_after(self, wall_s: int) -> int | None:
        """The first local time from this one on. It looks at each day on which the pattern matches."""
        return self._first(wall_s)

    def count(self, from_s: int, before_s: int) -> int:
        """How many local times there are, `from_s` included and `before_s` not.

        It takes a step per day, but for days that come again and again.
        """
        cycle_s = self.pattern.cycle_s
        if cycle_s is None:
            return self._count(from_s, before_s)
        # In between, neither the calendar nor an end of the pattern makes days differ.
        begins_s, ends_s = self.pattern.at_or_after(0) or 0, self.pattern.before_s
        low_s = max(from_s, self.rule.end * DAY_S, begins_s + MOVED_DAYS_MAX * DAY_S)
        high_s = before_s if ends_s is None else min(before_s, ends_s - MOVED_DAYS_MAX * DAY_S)
        cycles = (high_s - low_s) // cycle_s
        if cycles < 1:
            return self._count(from_s, before_s)
        once = self._count(low_s, low_s + cycle_s)
        return self._count(from_s, low_s) + cycles * once + self._count(low_s + cycles * cycle_s, before_s)

    def _count(self, from_s: int, before_s: int) -> int:
        total = 0
        last_day = before_s // DAY_S + MOVED_DAYS_MAX
        first_s = self._first(from_s, last_day)
        while first_s is not None and first_s < before_s:
            day = first_s // DAY_S
            total += self._count_on(day, first_s, min(before_s, (day + 1) * DAY_S))
            first_s = self._first((day + 1) * DAY_S, last_day)
        return total

    def _first(self, wall_s: int, last_day: int | None = None) -> int | None:
        """The first local time from this one on that the pattern has on a day up to `last_day`.

        Without it, the search ends when none can follow.
        """
        rule, day = self.rule, wall_s // DAY_S
        if not rule.moves:
            match_s, floor_day = self.pattern.at_or_after(wall_s), day - 1
        else:
            found = self._on(day, wall_s % DAY_S) if rule.fits_on(day) else None
            if found is not None:
                return found
            match_s, floor_day = self.pattern.at_or_after(rule.first_source_after(day) * DAY_S), day
        while match_s is not None:
            match_day = match_s // DAY_S
            target = rule.target(match_day)
            if target is not None and target > floor_day:
                return self._on(target, 0) if rule.moves else match_s
            if last_day is None:
                last_day = rule.last_day_from(match_day, self._cycle_days)
            if match_day >= last_day:
                return None
            match_s = self.pattern.at_or_after((match_day + 1) * DAY_S)
        return None

    @property
    def _cycle_days(self) -> int:
        """Within so many days the pattern matches on each day of the week on which it ever does."""
        if self.pattern.cycle_s is not None:
            return self.pattern.cycle_s // DAY_S
        return _YEAR_DAYS * (CYCLE_YEARS if self.pattern.is_seldom else _WEEKDAY_YEARS)

    def _on(self, day: int, second: int) -> int | None:
        """The first local time of a fitting day from that second on."""
        found = [
            moved_s + (day - source) * DAY_S
            for source in self.rule.sources(day)
            if (moved_s := self.pattern.at_or_after(source * DAY_S + second)) is not None
            and moved_s < (source + 1) * DAY_S
        ]
        return min(found, default=None)

    def _count_on(self, day: int, from_s: int, before_s: int) -> int:
        """How many local times of a fitting day lie between the bounds."""
        moves = [(source - day) * DAY_S for source in self.rule.sources(day)]
        if self.pattern.is_seldom:
            # There is one time a day at most, and two days may have different ones.
            found = {
                match_s - by_s for by_s in moves for match_s in self._match(from_s + by_s, before_s + by_s)
            }
            return len(found)
        # All days on which cron matches have the same times.
        counts = (self.pattern.count(from_s + by_s, before_s + by_s) for by_s in moves)
        return next((each for each in counts if each), 0)

    def _match(self, from_s: int, before_s: int) -> Iterator[int]:
        match_s = self.pattern.at_or_after(from_s)
        if match_s is not None and match_s < before_s:
            yield match_s


def moved_instants(instants: Iterable[Instant], zone: Zone, rule: DayRule) -> tuple[Instant, ...]:
    """Given instants on the days that fit, ascending and all different. Each keeps its local time."""
    moved = (moved_instant(each, zone, rule) for each in instants)
    return tuple(sorted({each for each in moved if each is not None and each <= INSTANT_MAX}))


def moved_instant(instant: Instant, zone: Zone, rule: DayRule) -> Instant | None:
    """Where the rule moves an instant; None if it is skipped."""
    day, second = divmod(wall_of(instant, zone), DAY_S)
    target = rule.target(day)
    if target is None or target == day:
        return None if target is None else instant
    return zone.instant_of(target * DAY_S + second) * SECOND_MS + instant % SECOND_MS


def wall_of(instant: Instant, zone: Zone) -> int:
    """The local time at an instant, in seconds."""
    return instant // SECOND_MS + zone.offset_at(instant // SECOND_MS)


class _Span(NamedTuple):
    """The instants from `from_at` on and before `before_at`."""

    from_at: Instant
    before_at: Instant


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FittingSpans:
    """Another timeline without its instants on days that do not fit. It moves none."""

    timeline: Timeline
    zone: Zone
    rule: DayRule

    @property
    def is_finite(self) -> bool:
        """Whether the timeline ends by itself."""
        return self.timeline.is_finite

    def instants(self, after: Instant) -> Iterator[Instant]:
        """The instants that lie on days that fit."""
        coming = next(self.timeline.instants(after), None)
        if coming is None:
            return
        if self.rule.fits_on(wall_of(coming, self.zone) // DAY_S):
            # A sweep asks for one instant, and needs no row of days.
            yield coming
            after = coming
        for span in self._spans(coming - 1):
            since = max(after, span.from_at - 1)
            if next(self.timeline.instants(since), None) is None:
                return
            yield from takewhile(span.before_at.__gt__, self.timeline.instants(since))

    def count(self, after: Instant, through: Instant) -> int:
        """How many there are. It takes a step for each row of days that fit."""
        return sum(self._count_in(span, after, through) for span in self._spans_through(after, through))

    def nth(self, number: int, after: Instant, months_max: int) -> Instant | None:
        """The instant of that number, found row by row."""
        end_at = min(after + months_max * _MONTH_MS, INSTANT_MAX)
        for span in self._spans(after):
            if span.from_at > end_at:
                return None
            count = self._count_in(span, after, end_at)
            if count >= number:
                return self.timeline.nth(number, max(after, span.from_at - 1), months_max)
            number -= count
        return None

    def last_through(self, through: Instant) -> Instant | None:
        """The last instant, looked for in stretches that double in length."""
        stretch_ms = _STRETCH_MS
        if self.rule.fits_on_none:
            # No day after those that the calendar knows fits. In every zone they end within two days.
            through = min(through, (self.rule.closed.end + 2) * DAY_MS)
        high_at = self.timeline.last_through(through)
        while high_at is not None:
            low_at = high_at - stretch_ms
            for span in reversed(self._spans_through(low_at, high_at)):
                found = self.timeline.last_through(min(high_at, span.before_at - 1))
                if found is not None and found >= span.from_at:
                    return found
            high_at, stretch_ms = self.timeline.last_through(low_at), stretch_ms * 2
        return None

    def clock_effects(self, after: Instant, through: Instant) -> Iterator[ClockEffect]:
        """Those of the timeline."""
        return self.timeline.clock_effects(after, through)

    def _count_in(self, span: _Span, after: Instant, through: Instant) -> int:
        return self.timeline.count(max(after, span.from_at - 1), min(through, span.before_at - 1))

    def _spans_through(self, after: Instant, through: Instant) -> list[_Span]:
        return [*takewhile(lambda span: span.from_at <= through, self._spans(after))]

    def _spans(self, after: Instant) -> Iterator[_Span]:
        """The rows of days that fit, as instants, from the one on that lies at `after` or next after it."""
        after_s = after // SECOND_MS
        last_day = self.rule.last_day_from(after_s // DAY_S, CYCLE_YEARS * _YEAR_DAYS)
        for period in self.zone.offset_periods(after_s):
            wall_s, end_s = max(period.start_s, after_s) + period.offset_s, period.end_s + period.offset_s
            begun_s: int | None = None
            while wall_s < end_s:
                day = wall_s // DAY_S
                if day > last_day:
                    return
                if self.rule.fits_on(day):
                    begun_s = wall_s if begun_s is None else begun_s
                elif begun_s is not None:
                    yield _span(begun_s - period.offset_s, wall_s - period.offset_s)
                    begun_s = None
                wall_s = (day + 1) * DAY_S
            if begun_s is not None:
                yield _span(begun_s - period.offset_s, period.end_s)


def _span(from_s: int, before_s: int) -> _Span:
    return _Span(from_s * SECOND_MS, before_s * SECOND_MS)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Amended:
    """Another timeline without some of its instants, and with others that it does not have."""

    timeline: Timeline
    also: tuple[Instant, ...]
    without: tuple[Instant, ...]

    @property
    def is_finite(self) -> bool:
        """Whether the timeline ends by itself."""
        return self.timeline.is_finite

    def instants(self, after: Instant) -> Iterator[Instant]:
        """The instants of both, ascending."""
        also = [*self.also[bisect_right(self.also, after) :]]
        for instant in self.timeline.instants(after):
            while also and also[0] < instant:
                yield also.pop(0)
            if instant not in self.without:
                yield instant
        yield from also

    def count(self, after: Instant, through: Instant) -> int:
        """How many there are."""
        return (
            self.timeline.count(after, through)
            + _within(self.also, after, through)
            - _within(self.without, after, through)
        )

    def nth(self, number: int, after: Instant, months_max: int) -> Instant | None:
        """The instant of that number: one by one among the changed ones, and then as the timeline does."""
        changed_until = max((*self.also, *self.without, after))
        count = self.count(after, changed_until)
        if number > count:
            return self.timeline.nth(number - count, changed_until, months_max)
        for at, instant in enumerate(self.instants(after), 1):
            if at == number:
                return instant
        return None

    def last_through(self, through: Instant) -> Instant | None:
        """The last instant of both."""
        found = self.timeline.last_through(through)
        while found is not None and found in self.without:
            found = self.timeline.last_through(found - 1)
        at = bisect_right(self.also, through)
        return max((each for each in (found, *self.also[at - 1 : at]) if each is not None), default=None)

    def clock_effects(self, after: Instant, through: Instant) -> Iterator[ClockEffect]:
        """Those of the timeline."""
        return self.timeline.clock_effects(after, through)


def _within(instants: tuple[Instant, ...], after: Instant, through: Instant) -> int:
    return max(0, bisect_right(instants, through) - bisect_right(instants, after))
