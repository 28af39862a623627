"""ISO 8601 repetitions: `R4/PT3S`, `R/2027-01-01T00:00:00Z/P1D`.

References: ISO 8601 for the notation; Dapr's reminders for the number: `R4` is four fires in all, the first
at the start. Without a start the series starts at the request. A period of hours, minutes and seconds is
elapsed time. A period with years, months, weeks or days counts on the wall clock of the job's zone, with all
its parts. It counts from the start and is clamped to the month's end: `P1M` leads from 31 January to 28
February and to 31 March.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Final

from sweephand.base.errors import ScheduleError
from sweephand.base.instants import HOUR_MS, INSTANT_MAX, SECOND_MS, Instant
from sweephand.base.limits import REPEATS_MAX
from sweephand.base.names import quoted
from sweephand.schedules.clock.calendar_periods import CalendarPeriods
from sweephand.schedules.clock.dst import ClockEffect
from sweephand.schedules.clock.zones import DAY_S, STEADY_YEAR, Zone, year_start_s
from sweephand.schedules.durations import MS_NS, SECOND_NS, Duration, parse_iso_duration
from sweephand.schedules.notations.cron import Cron
from sweephand.schedules.time_points import PAST_MAX_MS, parse_instant, parse_local
from sweephand.schedules.timeline import Beginning, Timeline
from sweephand.schedules.timelines import MovedTimeline, Periodic

# re compiles these when they are first used, so that importing this module stays cheap.
_NUMBER: Final = r"R([0-9]{1,16})?"
_DATE: Final = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CALENDAR_MONTHS: Final = 10_000 * 12
_STEADY_AT: Final = year_start_s(STEADY_YEAR) * SECOND_MS
#: Longer than any overlap, and shorter than any calendar period.
_HALF_DAY_MS: Final = 12 * HOUR_MS
_EXPECTED: Final = (
    "R, how often or nothing, perhaps a start, and a period: R4/PT3S, R/2027-01-01T00:00:00Z/P1D"
)


@dataclass(frozen=True, slots=True)
class Start:
    """The start that a repetition names: an instant, or a local time of the job's zone."""

    instant_at: Instant | None
    wall_s: int = 0

    def resolved(self, zone: Zone) -> Instant:
        """The instant: the first that shows a local time, or the end of the gap that drops it."""
        return zone.instant_of(self.wall_s) * SECOND_MS if self.instant_at is None else self.instant_at


@dataclass(frozen=True, slots=True)
class Repetition:
    """A period, the number of fires in all (None: no end), and the start if there is one."""

    period: Duration
    number: int | None
    start: Start | None

    def timeline(self, beginning: Beginning) -> Timeline:
        """The multiples of the period from the dueTime on, or from the start without a dueTime."""
        anchor_at = self._anchor_at(beginning)
        if self.period.is_calendar:
            return self._on_calendar(anchor_at, beginning)
        period_ns = self.period.elapsed_ns
        passed = max(0, -(-(beginning.eager_floor_at + 1 - anchor_at) * MS_NS // period_ns))
        left = None if self.number is None else max(0, self.number - passed)
        return Periodic(anchor_at, period_ns, passed, left)

    def _anchor_at(self, beginning: Beginning) -> Instant:
        if beginning.due_at is not None:
            return beginning.due_at
        if self.start is None:
            return beginning.start_at
        begins_at = self.start.resolved(beginning.zone)
        # A start up to a minute ago means now, as with a dueTime.
        is_now = beginning.start_at - PAST_MAX_MS <= begins_at < beginning.start_at
        return beginning.start_at if is_now else begins_at

    def _on_calendar(self, anchor_at: Instant, beginning: Beginning) -> Timeline:
        zone = beginning.zone
        # A start that is a local time is one of the local times of the series: a clock change moves, drops or
        # doubles it as the job's rule says, and never those after it. Any other start is an instant.
        is_local = (
            beginning.due_at is None
            and self.start is not None
            and self.start.instant_at is None
            and anchor_at == self.start.resolved(zone)
        )
        # The wall clock counts whole seconds. The shift is the part of a second that the anchor has.
        anchor_s, shift_ms = divmod(anchor_at, SECOND_MS)
        periods = CalendarPeriods(
            first_s=self.start.wall_s if is_local and self.start else anchor_s + zone.offset_at(anchor_s),
            months=self.period.months,
            seconds=self.period.days * DAY_S + self.period.elapsed_ns // SECOND_NS,
        )
        begun_at = anchor_at - 1 if is_local else anchor_at
        floor_at = beginning.eager_floor_at
        if beginning.days is not None:
            # The start is one of the local times, because it may be skipped or moved as they are.
            since = beginning._replace(start_at=floor_at - shift_ms, due_at=None, jitter_ms=0)
            local_times = Cron(replace(periods, number=self.number), is_wildcard=False).timeline(since)
            return MovedTimeline(local_times, shift_ms) if shift_ms else local_times
        whole = beginning._replace(start_at=begun_at - shift_ms, due_at=None, jitter_ms=0)
        rest = Cron(periods, is_wildcard=False).timeline(whole)
        end_at = None
        if self.number is not None:
            end_at = _end_at(rest, whole, periods, self.number - (not is_local))
        return AnchoredTimeline(
            begun_at=begun_at,
            is_counted=not is_local and begun_at > floor_at,
            rest=MovedTimeline(rest, shift_ms) if shift_ms else rest,
            floor_at=max(begun_at, floor_at),
            end_at=end_at if end_at is None else min(end_at + shift_ms, INSTANT_MAX),
        )


def _end_at(rest: Timeline, beginning: Beginning, periods: CalendarPeriods, left: int) -> Instant:
    """The instant of the last of `left` fires after the start of `beginning`.

    Clock changes can make more or fewer fires than there are local times. Up to STEADY_YEAR this function
    counts fires. Behind that year it counts local times, because the yearly rules of zones neither drop nor
    double one unless the job asks for it.
    """
    begun_at = beginning.start_at
    if left == 0:
        return begun_at
    about_at = min((periods.at(left) + 2 * DAY_S) * SECOND_MS, INSTANT_MAX)
    if about_at > _STEADY_AT:
        steady_s = max(_STEADY_AT, begun_at) // SECOND_MS
        counted = rest.count(begun_at, steady_s * SECOND_MS)
        if counted < left:
            after = periods.reached(steady_s + beginning.zone.offset_at(steady_s) + 1)
            last_s = beginning.zone.instant_of(periods.at(after + left - counted - 1))
            return min(last_s * SECOND_MS + _HALF_DAY_MS, INSTANT_MAX)
    if rest.count(begun_at, about_at) == left:
        found = rest.last_through(about_at)
    else:
        found = rest.nth(left, begun_at, _CALENDAR_MONTHS)
    return INSTANT_MAX if found is None else found


@dataclass(frozen=True, slots=True)
class AnchoredTimeline:
    """An instant at which a series begins, and after it the instants of `rest`.

    Without `is_counted` the beginning does not fire.
    """

    begun_at: Instant
    is_counted: bool
    rest: Timeline
    #: The instants of `rest` lie after `floor_at`, and up to `end_at` unless that is None.
    floor_at: Instant
    end_at: Instant | None

    @property
    def is_finite(self) -> bool:
        """Whether the repetition has a number."""
        return self.end_at is not None

    def instants(self, after: Instant) -> Iterator[Instant]:
        """The beginning, unless it is past, and then the rest."""
        if self._begins(after, self.begun_at):
            yield self.begun_at
        last_at = self._last_through(INSTANT_MAX)
        yield from takewhile(lambda instant: instant <= last_at, self.rest.instants(self._within(after)))

    def count(self, after: Instant, through: Instant) -> int:
        """How many instants lie after `after`, up to `through`: of the beginning and the rest."""
        of_rest = self.rest.count(self._within(after), self._last_through(through))
        return self._begins(after, through) + of_rest

    def nth(self, number: int, after: Instant, months_max: int) -> Instant | None:
        """The beginning, or the instant of the rest whose number is one less."""
        if self._begins(after, self.begun_at):
            if number == 1:
                return self.begun_at
            number -= 1
        found = self.rest.nth(number, self._within(after), months_max)
        return None if found is None or found > self._last_through(found) else found

    def last_through(self, through: Instant) -> Instant | None:
        """The last instant of the rest, or else the beginning."""
        found = self.rest.last_through(self._last_through(through))
        if found is not None and found > self.floor_at:
            return found
        return self.begun_at if self._begins(self.begun_at - 1, through) else None

    def clock_effects(self, after: Instant, through: Instant) -> Iterator[ClockEffect]:
        """The effects on the rest. The beginning is an instant, which no clock change moves."""
        return self.rest.clock_effects(self._within(after), self._last_through(through))

    def _within(self, after: Instant) -> Instant:
        return max(after, self.floor_at)

    def _last_through(self, through: Instant) -> Instant:
        return through if self.end_at is None else min(through, self.end_at)

    def _begins(self, after: Instant, through: Instant) -> bool:
        return self.is_counted and after < self.begun_at <= through


def parse_repetition(text: str) -> Repetition:
    """The repetition that a text names. Raises ScheduleError, also for a period of less than a second."""
    number_text, *rest = text.split("/")
    if not 1 <= len(rest) <= 2:  # noqa: PLR2004 - a start and a period
        raise ScheduleError(
            f"{quoted(text)} has {len(rest) + 1} {'parts' if rest else 'part'}; expected {_EXPECTED}"
        )
    match = re.fullmatch(_NUMBER, number_text)
    number = None if match is None or match.group(1) is None else int(match.group(1))
    if match is None or (number is not None and not 1 <= number <= REPEATS_MAX):
        raise ScheduleError(
            f"{quoted(number_text)} in {quoted(text)}: expected R, or R with a whole number of at least 1"
        )
    period_text = rest[-1]
    if not period_text.startswith("P"):
        raise ScheduleError(
            f"{quoted(period_text)} as the period of {quoted(text)}: "
            "expected an ISO 8601 duration such as PT3S or P1D"
        )
    period = parse_iso_duration(period_text)
    if not (period.months or period.days or period.elapsed_ns):
        raise ScheduleError(f"{quoted(period_text)} in {quoted(text)}: expected a period of at least PT1S")
    return Repetition(period, number, _parse_start(rest[0]) if len(rest) > 1 else None)


def _parse_start(text: str) -> Start:
    wall_s = parse_local(f"{text}T00:00:00" if re.fullmatch(_DATE, text) else text)
    start = Start(parse_instant(text)) if wall_s is None else Start(None, wall_s)
    if (start.instant_at or start.wall_s) < 0:
        raise ScheduleError(f"{quoted(text)} as the start of a repetition: expected one from 1970 on")
    return start
