"""Cron with five and six fields, and robfig's macros: which instants match in a zone, DST included.

References: Debian's cron(8) and crontab(5) for matching and for clock changes, robfig/cron for the six fields
(seconds first) and the macros, cronsim as the oracle for five fields. What they disagree on, semantics.md
settles.

A fixed expression fires once for each local time it names, unless its job asks for another rule: in a gap of
less than three hours at the instant at which the gap ends (once, however much was skipped), in an overlap the
first time. A wildcard one, whose minute or hour field begins with a star, follows real time: it neither makes
up nor drops.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from sweephand.instants import INSTANT_MAX, SECOND_MS, Instant
from sweephand.schedules import cron_fields
from sweephand.schedules.cron_days import DayRule
from sweephand.schedules.cron_fields import Field, parse_field
from sweephand.schedules.dst import REAL_TIME, ClockEffect, DstRule
from sweephand.schedules.errors import ScheduleError, quoted
from sweephand.schedules.timeline import Beginning
from sweephand.schedules.wall import Pattern, TimesOfDay, WallPattern
from sweephand.schedules.zones import CYCLE_S, DAY_S, STEADY_YEAR, Span, Zone, year_start_s

MACROS: Final = {
    "@yearly": "0 0 0 1 1 *",
    "@annually": "0 0 0 1 1 *",
    "@monthly": "0 0 0 1 * *",
    "@weekly": "0 0 0 * * 0",
    "@daily": "0 0 0 * * *",
    "@midnight": "0 0 0 * * *",
    "@hourly": "0 0 * * * *",
}

_FIELDS: Final = (
    cron_fields.SECOND,
    cron_fields.MINUTE,
    cron_fields.HOUR,
    cron_fields.DAY_OF_MONTH,
    cron_fields.MONTH,
    cron_fields.DAY_OF_WEEK,
)
_SECONDS_PER_MONTH: Final = 31 * DAY_S
_CALENDAR_LAST_S: Final = INSTANT_MAX // SECOND_MS
_STEADY_S: Final = year_start_s(STEADY_YEAR)


class CronFields(NamedTuple):
    """The fields of an expression, in whatever notation they were written; without `year` every year."""

    second: Field
    minute: Field
    hour: Field
    day_of_month: Field
    month: Field
    day_of_week: Field
    year: Field | None = None


@dataclass(frozen=True, slots=True)
class Cron:
    """An expression that has been read: what matches on the wall, and whether it follows real time.

    `fields` is what was written; None for local times that no expression named.
    """

    pattern: Pattern
    is_wildcard: bool
    fields: CronFields | None = None

    def timeline(self, beginning: Beginning) -> "CronTimeline":
        """Its matches in a zone, after the beginning's floor."""
        rule = REAL_TIME if self.is_wildcard else beginning.dst
        return CronTimeline(self, beginning.zone, beginning.floor_at, rule)


def cron_of(fields: CronFields, days: str) -> Cron:
    """The expression of its fields. Raises ScheduleError if no such day exists; `days` says which, quoted."""
    pattern = WallPattern(
        TimesOfDay(fields.hour.values, fields.minute.values, fields.second.values),
        DayRule(fields.day_of_month, fields.day_of_week),
        fields.month.values,
        None if fields.year is None or fields.year.is_whole else fields.year.values,
    )
    if not pattern.ever_matches():
        raise ScheduleError(f"{days} never comes; expected a day that exists in one of its months")
    return Cron(
        pattern,
        is_wildcard=fields.minute.begins_with_star or fields.hour.begins_with_star,
        fields=fields,
    )


def parse_cron(text: str) -> Cron:
    """The expression of five or six fields. Raises ScheduleError, also for one that can never match."""
    texts = text.split()
    if len(texts) == len(_FIELDS) - 1:
        texts.insert(0, "0")
    if len(texts) != len(_FIELDS):
        raise ScheduleError(
            f"{quoted(text)} has {len(texts)} {'field' if len(texts) == 1 else 'fields'}; expected five "
            "(minute hour day-of-month month day-of-week) or six (second first)"
        )
    fields = [parse_field(each, rule) for each, rule in zip(texts, _FIELDS, strict=True)]
    return cron_of(CronFields(*fields), f"{quoted(' '.join(texts[3:]))} (day-of-month, month, day-of-week)")


@dataclass(frozen=True, slots=True)
class CronTimeline:
    """The instants of an expression in a zone, after `floor_at`, by `rule` where the clock changes."""

    cron: Cron
    zone: Zone
    floor_at: Instant
    rule: DstRule

    @property
    def is_finite(self) -> bool:
        """Whether its years or its number end it."""
        return self.cron.pattern.before_s is not None

    def instants(self, after: Instant) -> Iterator[Instant]:
        """From the first one after `after` on, up to the year 9999: one look per span of equal offset."""
        # Whole seconds: one is after an instant if it is after the second that the instant lies in.
        after_s = max(after, self.floor_at) // SECOND_MS
        for span in self.zone.spans(after_s):
            if span.start_s > self._last_s:
                return
            if span.end_s > after_s + 1:
                for instant_s in self._instants_in(span, after_s):
                    if instant_s * SECOND_MS > INSTANT_MAX:
                        return
                    yield instant_s * SECOND_MS

    def count(self, after: Instant, through: Instant) -> int:
        """How many there are: a step per month and span, for 900 years at most, however many fire."""
        after_s = max(after, self.floor_at) // SECOND_MS
        through_s = min(through // SECOND_MS, self._last_s)
        # What the calendar and every zone repeat is counted once.
        cycles = 0 if self.is_finite else (through_s - max(after_s, _STEADY_S)) // CYCLE_S
        if cycles > 0:
            through_s -= cycles * CYCLE_S
            return self._count(after_s, through_s) + cycles * self._count(through_s, through_s + CYCLE_S)
        return self._count(after_s, through_s)

    def _count(self, after_s: int, through_s: int) -> int:
        total = 0
        for span in self.zone.spans(after_s):
            if span.start_s > through_s:
                break
            if span.end_s > after_s + 1:
                from_s, before_s = self._walls(span, after_s)
                before_s = min(before_s, through_s + 1 + span.offset_s)
                total += self.cron.pattern.count(from_s, before_s) + self._is_made_up(span, after_s)
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
        before_s = self.cron.pattern.before_s
        return _CALENDAR_LAST_S if before_s is None else min(before_s + 2 * DAY_S, _CALENDAR_LAST_S)

    def _nth_between(self, number: int, low_s: int, high_s: int) -> int:
        """The instant of that number after `low_s`, known to lie at or before `high_s`: by halving."""
        from_at = low_s * SECOND_MS
        while high_s - low_s > 1:
            middle_s = (low_s + high_s) // 2
            if self.count(from_at, middle_s * SECOND_MS) >= number:
                high_s = middle_s
            else:
                low_s = middle_s
        return high_s

    def clock_effects(self, after: Instant, through: Instant) -> Iterator[ClockEffect]:
        """What clock changes did to local times that a fixed expression names; nothing to a wildcard one."""
        if self.cron.is_wildcard:
            return
        after_s = max(after, self.floor_at) // SECOND_MS
        for span in self.zone.spans(after_s):
            if span.start_s > self._last_s or span.start_s * SECOND_MS > through:
                return
            for effect in self._effects_on(span):
                if after_s * SECOND_MS < effect.instant <= through:
                    yield effect

    def _effects_on(self, span: Span) -> Iterator[ClockEffect]:
        begin_s, end_s = span.start_s + span.offset_s, span.end_s + span.offset_s
        from_s, before_s = self.rule.walls_of(span)
        is_made_up = self.rule.makes_up_gap_before(span)
        for wall_s in self._matches(span.covered_s, begin_s):
            yield ClockEffect(span.start_s * SECOND_MS, wall_s, "gap", is_made_up)
        for wall_s in self._matches(begin_s, min(span.covered_s, end_s)):
            yield ClockEffect((wall_s - span.offset_s) * SECOND_MS, wall_s, "second", wall_s >= from_s)
        for wall_s in self._matches(max(span.repeated_s, begin_s), end_s):
            yield ClockEffect((wall_s - span.offset_s) * SECOND_MS, wall_s, "first", wall_s < before_s)

    def _instants_in(self, span: Span, after_s: int) -> Iterator[int]:
        if self._is_made_up(span, after_s):
            yield span.start_s
        for wall_s in self._matches(*self._walls(span, after_s)):
            yield wall_s - span.offset_s

    def _matches(self, from_s: int, before_s: int) -> Iterator[int]:
        """The wall times that match, `from_s` included and `before_s` not."""
        if from_s >= before_s:
            return
        wall_s = self.cron.pattern.at_or_after(from_s)
        while wall_s is not None and wall_s < before_s:
            yield wall_s
            wall_s = self.cron.pattern.at_or_after(wall_s + 1)

    def _walls(self, span: Span, after_s: int) -> tuple[int, int]:
        """From which wall time on a span's matches fire, all of them after `after_s`, and before which."""
        from_s, before_s = self.rule.walls_of(span)
        return max(from_s, after_s + 1 + span.offset_s), before_s

    def _is_made_up(self, span: Span, after_s: int) -> bool:
        """Whether the span's first instant stands for a local time in the gap before it alone."""
        if span.start_s <= after_s or not self.rule.makes_up_gap_before(span):
            return False
        wall_s = span.start_s + span.offset_s
        match_s = self.cron.pattern.at_or_after(span.covered_s)
        return match_s is not None and match_s < wall_s and self.cron.pattern.at_or_after(wall_s) != wall_s
