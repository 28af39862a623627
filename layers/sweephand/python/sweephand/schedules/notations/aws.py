"""EventBridge Scheduler's three notations: `rate()`, `cron()` and `at()`.

Reference: AWS, "Schedule types in EventBridge Scheduler". The names are in lower case, and nothing stands
before the name or after the parentheses.

- `rate(value unit)` is a period of elapsed time, the first fire at once. The value is a positive whole
  number. The unit is minute, hour or day after 1, and minutes, hours or days after any other number. A day is
  24 hours, also when the clocks change.
- `cron(minute hour day-of-month month day-of-week year)` takes its grammar from Quartz (AWS, "Cron
  expressions reference"). Days of the week run from 1 = SUN to 7 = SAT. One of the two day fields is `?`.
  Years run from 1970 to 2199. A range may run over the end of its field (`22-2`). A step is no longer than
  its field. `L`, `W` and `#` stand alone in their field.
- `at(yyyy-mm-ddThh:mm:ss)` is a one-off at a local time of the job's zone. If a clock change drops or repeats
  it, the rule of a fixed cron time applies. A local time up to a minute ago means now, as with a dueTime.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from sweephand.base.errors import ScheduleError
from sweephand.base.instants import SECOND_MS, Instant
from sweephand.base.names import quoted
from sweephand.schedules.clock.calendar_periods import CalendarPeriods
from sweephand.schedules.clock.wall_timeline import WallTimeline
from sweephand.schedules.clock.zones import DAY_S
from sweephand.schedules.day_rule import MOVED_DAYS_MAX
from sweephand.schedules.durations import NS_MAX
from sweephand.schedules.notations.cron import Cron, CronFields, cron_of
from sweephand.schedules.notations.cron_fields import (
    DAY_OF_MONTH,
    HOUR,
    MINUTE,
    MONTH,
    SECOND,
    WEEKDAYS,
    YEAR,
    CronField,
    FieldRule,
    Kind,
    parse_field,
)
from sweephand.schedules.time_points import PAST_MAX_MS, parse_local
from sweephand.schedules.timeline import Beginning, FixedInstants, Notation
from sweephand.schedules.timelines import Periodic


@dataclass(frozen=True, slots=True)
class At:
    """A local time, in seconds as in cron_pattern.py."""

    wall_s: int

    def timeline(self, beginning: Beginning) -> FixedInstants:
        """The instants that show the local time: usually one, and none if it is past or dropped."""
        floor_at = _floor_at(beginning)
        # No zone shows a local time further from UTC than this, so the search begins here.
        far_s = (2 if beginning.days is None else 2 + MOVED_DAYS_MAX) * DAY_S
        near_at = (self.wall_s - far_s) * SECOND_MS
        # The search begins before the floor, because a local time of less than a minute ago still counts.
        since_at = max(floor_at - PAST_MAX_MS, near_at)
        since = beginning._replace(start_at=since_at, due_at=None, jitter_ms=0)
        local_times = Cron(CalendarPeriods.once(self.wall_s), is_wildcard=False).timeline(since)
        effects = local_times.clock_effects(max(floor_at, near_at), near_at + 2 * far_s * SECOND_MS)
        return FixedInstants(tuple(dict.fromkeys(_instants(local_times, beginning))), tuple(effects))


def _instants(local_times: WallTimeline, beginning: Beginning) -> Iterator[Instant]:
    floor_at = _floor_at(beginning)
    for instant in local_times.instants(local_times.floor_at):
        if beginning.due_at is None or instant > floor_at:
            yield max(instant, floor_at + 1)


def _floor_at(beginning: Beginning) -> Instant:
    # Jitter moves the instants afterwards: whether one is past is judged before, as with a dueTime.
    return beginning.start_at - 1 if beginning.due_at is None else beginning.eager_floor_at


def parse_at(written: str) -> At:
    """The local time between the parentheses. Raises ScheduleError."""
    wall_s = parse_local(written)
    if wall_s is None:
        raise ScheduleError(
            f"{quoted(written)} in at(): expected a local date and time without an offset, "
            "as in at(2027-03-01T09:00:00)"
        )
    return At(wall_s)


def _rule(rule: FieldRule) -> FieldRule:
    """A field of cron by the rules that all fields of EventBridge share."""
    width = rule.high - rule.low + 1
    return rule._replace(
        stars=("*",), step_max=min(rule.high, width), wraps=rule is not YEAR, stands_alone=True
    )


_RULES: Final = (
    _rule(MINUTE),
    _rule(HOUR),
    _rule(DAY_OF_MONTH)._replace(
        examples=", L, LW, L-3 or 15W",
        specials={**DAY_OF_MONTH.specials, "L-([0-2]?[0-9]|30)": Kind.LAST_DAY},
    ),
    _rule(MONTH),
    _rule(
        FieldRule(
            "day-of-week",
            1,
            7,
            {name: at for at, name in enumerate(WEEKDAYS, 1)},
            " (1 is SUN), SUN to SAT, L, 6L or 6#2",
            {"([1-7]|[A-Z]{3})L": Kind.LAST_WEEKDAY, "([1-7]|[A-Z]{3})#([0-9])": Kind.NTH_WEEKDAY},
        )
    ),
    _rule(YEAR),
)


def parse_aws_cron(written: str) -> Cron:
    """The expression between the parentheses. Raises ScheduleError."""
    texts = written.split()
    if len(texts) != len(_RULES):
        raise ScheduleError(
            f"{quoted(written)} in cron() has {len(texts)} {'field' if len(texts) == 1 else 'fields'}; "
            "expected six (minute hour day-of-month month day-of-week year)"
        )
    of_month, of_week = texts[2], texts[4]
    if (of_month == "?") == (of_week == "?"):
        raise ScheduleError(
            f"{quoted(of_month)} as day-of-month and {quoted(of_week)} as day-of-week in cron(): "
            "expected ? in one of the two and not in the other"
        )
    # L alone is the last day of the week, Saturday.
    last_named = re.sub(r"(?i)(?<![^,])L(?![^,])", "SAT", of_week)
    read = [*texts[:2], _star(of_month), texts[3], _star(last_named), texts[5]]
    minute, hour, day_of_month, month, day_of_week, year = map(parse_field, read, _RULES)
    return cron_of(
        CronFields(
            parse_field("0", SECOND), minute, hour, day_of_month, month, _from_sunday(day_of_week), year
        ),
        f"{quoted(' '.join(texts[2:]))} (day-of-month, month, day-of-week, year)",
    )


def _star(text: str) -> str:
    return "*" if text == "?" else text


def _from_sunday(field: CronField) -> CronField:
    """The days of a week with Sunday as 0, as in cron."""
    return field._replace(
        values=tuple(value - 1 for value in field.values),
        specials=tuple(special._replace(value=special.value - 1) for special in field.specials),
    )


_MINUTE_NS: Final = 60_000_000_000
_UNITS_NS: Final = {"minute": _MINUTE_NS, "hour": 60 * _MINUTE_NS, "day": 1_440 * _MINUTE_NS}
# re compiles it when it is first used, so that importing this module stays cheap.
_RATE: Final = r"([0-9]{1,18}) ([a-z]+)"


@dataclass(frozen=True, slots=True)
class Rate:
    """A period. The first fire is at the dueTime, or at the start without a dueTime."""

    period_ns: int

    def timeline(self, beginning: Beginning) -> Periodic:
        """The beginning and the multiples of the period from it on."""
        anchor_at = beginning.start_at if beginning.due_at is None else beginning.due_at
        return Periodic(anchor_at, self.period_ns, 0)


def parse_rate(written: str) -> Rate:
    """The period between the parentheses. Raises ScheduleError."""
    match = re.fullmatch(_RATE, written)
    value = 0 if match is None else int(match.group(1))
    if match is None or value == 0:
        raise ScheduleError(
            f"{quoted(written)} in rate(): expected a whole number of at least 1, one space and a unit, "
            "as in rate(5 minutes)"
        )
    unit = match.group(2)
    singular = unit.removesuffix("s")
    if singular not in _UNITS_NS or unit != (singular if value == 1 else singular + "s"):
        raise ScheduleError(
            f"{quoted(unit)} in rate(): expected "
            + (
                "minute, hour or day after 1"
                if value == 1
                else "minutes, hours or days after a number above 1"
            )
        )
    period_ns = value * _UNITS_NS[singular]
    if period_ns > NS_MAX:
        raise ScheduleError(
            f"{quoted(written)} in rate() is too long; expected a period of at most 292 years"
        )
    return Rate(period_ns)


# re compiles it when it is first used, so that importing this module stays cheap.
_WHOLE: Final = r"(rate|cron|at)\(([^()]*)\)"
_PARSERS: Final[Mapping[str, Callable[[str], Notation]]] = {
    "rate": parse_rate,
    "cron": parse_aws_cron,
    "at": parse_at,
}


def parse_aws(text: str) -> Notation:
    """The notation of `rate(5 minutes)`, `cron(0 10 ? * 6L 2027)` or `at(2027-03-01T09:00:00)`.

    Raises ScheduleError.
    """
    match = re.fullmatch(_WHOLE, text)
    if match is None:
        raise ScheduleError(
            f"{quoted(text)} is not EventBridge's notation; expected rate(...), cron(...) or at(...) "
            "in lower case, with nothing before, between or after"
        )
    return _PARSERS[match.group(1)](match.group(2))
