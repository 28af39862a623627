"""Which days a calendar takes from a schedule, and between which days it has moved an occurrence.

The local day of an occurrence before jitter is what counts.
"""

from bisect import bisect_left
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple, Protocol

from sweephand.base.instants import SECOND_MS, Instant
from sweephand.schedules.clock.fitting_days import FittingDays, moved_instant, wall_of
from sweephand.schedules.clock.wall_timeline import WallTimeline
from sweephand.schedules.clock.zones import DAY_S, Zone, zone_named
from sweephand.schedules.day_rule import EVERY_DAY
from sweephand.schedules.notations.aws import At
from sweephand.schedules.notations.parsing import parse_schedule, timeline_of
from sweephand.schedules.schedule import InstantList
from sweephand.schedules.series import Series
from sweephand.schedules.timelines import MovedTimeline


class DayEffect(NamedTuple):
    """A day that does not fit, on which the schedule has occurrences.

    `first_at` is the first of them, if the calendar moved none. `target` is the day on which they fire; None
    if they are skipped.
    """

    first_at: Instant
    day: int
    target: int | None


def day_effects(series: Series, after: Instant, through: Instant) -> Iterator[DayEffect]:
    """The days that do not fit, on which the schedule has occurrences between two instants, lazily.

    `after` is not included, and `through` is. The schedule has none before its beginning, and none after its
    `ttl`. It takes a step for each day of the schedule.
    """
    rule = series.days
    if rule is None:
        return
    zone, jitter_ms = zone_named(series.timezone), series.jitter_ms
    request = (series.schedule, series.timezone, series.start_at, series.due_at)
    # A schedule of elapsed time moves no occurrence, and needs no rule to have its own times.
    every_day = EVERY_DAY if rule.moves else None
    timeline = timeline_of(*request, dst=series.dst, jitter_ms=jitter_ms, days=every_day)
    through = through if series.ttl_at is None else min(through, series.ttl_at)
    # At a change of the clock, a day may come back.
    seen: set[int] = set()
    coming = next(timeline.instants(max(after, series.counted_at or -1)), None)
    while coming is not None and coming <= through:
        second = (coming - jitter_ms) // SECOND_MS
        period = next(zone.offset_periods(second))
        day = (second + period.offset_s) // DAY_S
        if day not in seen and not rule.fits_on(day):
            yield DayEffect(coming, day, rule.target(day))
        seen.add(day)
        end_s = min((day + 1) * DAY_S - period.offset_s, period.end_s)
        coming = next(timeline.instants(max(coming, end_s * SECOND_MS - 1 + jitter_ms)), None)


def moved_to(series: Series, effect: DayEffect) -> Instant | None:
    """When the first occurrence of such a day fires; None if it does not, by its calendar or by a bound."""
    rule, zone = series.days, zone_named(series.timezone)
    if rule is None or effect.target is None:
        return None
    moved_at = moved_instant(effect.first_at - series.jitter_ms, zone, rule)
    coming = None if moved_at is None else series.next_after(moved_at + series.jitter_ms - 1)
    if coming is None or wall_of(coming.due_at - series.jitter_ms, zone) // DAY_S != effect.target:
        return None
    return coming.due_at


def moved_from(series: Series, due_at: Instant) -> int | None:
    """The day from which the calendar has moved an occurrence; None if it stands on a day of its own.

    If occurrences of several days fire then, it is the nearest day.
    """
    rule, zone = series.days, zone_named(series.timezone)
    if rule is None or not rule.moves or due_at in rule.also:
        return None
    day, second = divmod(wall_of(due_at - series.jitter_ms, zone), DAY_S)
    local_times = _local_times(series, zone)
    sources = sorted(rule.sources(day), key=lambda each: abs(each - day))
    same_times = (
        each for each in sources if local_times.at_or_after(each * DAY_S + second) == each * DAY_S + second
    )
    # Where the clock changes, an occurrence has another local time than the schedule says.
    same_days = (
        each
        for each in sources
        if (first_s := local_times.at_or_after(each * DAY_S)) is not None and first_s < (each + 1) * DAY_S
    )
    source = next(chain(same_times, same_days), day)
    return None if source == day else source


class _LocalTimes(Protocol):
    """The local times of a schedule without a calendar, in seconds; also those before its beginning."""

    def at_or_after(self, wall_s: int) -> int | None:
        """The first local time from this one on."""
        ...


class _Listed(NamedTuple):
    """Given local times, ascending."""

    all_s: tuple[int, ...]

    def at_or_after(self, wall_s: int) -> int | None:
        """The first local time from this one on."""
        at = bisect_left(self.all_s, wall_s)
        return self.all_s[at] if at < len(self.all_s) else None


def _local_times(series: Series, zone: Zone) -> _LocalTimes:
    """Those of a series whose schedule has local days."""
    schedule, due_at = series.schedule, series.due_at
    notation = None if schedule is None else parse_schedule(schedule).notation
    if schedule is None or isinstance(schedule, InstantList):
        instants = schedule.instants if schedule is not None else () if due_at is None else (due_at,)
        return _Listed(tuple(sorted(wall_of(each, zone) for each in instants)))
    if isinstance(notation, At):
        return _Listed((notation.wall_s,))
    timeline = timeline_of(schedule, zone.name, series.start_at, due_at, dst=series.dst, days=EVERY_DAY)
    if isinstance(timeline, MovedTimeline):
        # The start of a repetition has a part of a second.
        timeline = timeline.timeline
    assert isinstance(timeline, WallTimeline), "only a schedule with local days is moved"
    assert isinstance(timeline.pattern, FittingDays), "the timeline has a rule of days"
    return timeline.pattern.pattern
