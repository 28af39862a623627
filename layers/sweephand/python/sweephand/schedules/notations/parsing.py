"""In which notation a schedule is written, and the timeline that it makes.

Each notation has a parser. This module recognises a notation by how the text begins. So the parser that the
user meant refuses a text that it cannot read. Repetitions and EventBridge's notations are imported when they
are first met, because the functions that fire triggers must start fast.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from sweephand.base.errors import ScheduleError
from sweephand.base.instants import Instant
from sweephand.base.limits import CALENDAR_MOVES_PER_DAY_MAX, SCHEDULE_LENGTH_MAX
from sweephand.base.names import quoted, suggestion
from sweephand.schedules.clock.dst import DEFAULT, DstRule
from sweephand.schedules.clock.fitting_days import Amended, FittingSpans, moved_instants
from sweephand.schedules.clock.zones import UTC, zone_named
from sweephand.schedules.day_rule import DayRule
from sweephand.schedules.durations import SECOND_NS, parse_go_duration_ns
from sweephand.schedules.notations.cron import MACROS, Cron, cron_of_names, parse_cron, parse_fields
from sweephand.schedules.notations.cron_pattern import WallPattern
from sweephand.schedules.schedule import InstantList, NamedFields, Schedule, parse_instant_list
from sweephand.schedules.timeline import Beginning, FixedInstants, Notation, Timeline
from sweephand.schedules.timelines import MovedTimeline, Periodic

_EVERY: Final = "@every"
# re compiles these when they are first used, so that importing this module stays cheap.
# As in robfig/cron, a space ends the zone and a tab does not.
_ZONE_PREFIX: Final = r"(?:CRON_TZ|TZ)=([^ ]*)[ \t]*"
_AWS: Final = r"\s*(?i:rate|cron|at)\s*\("
#: The name of a zone as the last word. No field of cron has letters on both sides of a slash.
_ZONE_AT_END: Final = r"([^ \t]+[ \t].*?)[ \t]([A-Za-z_]+/[A-Za-z_/+-]+|UTC|GMT|Z)"
_REPETITION: Final = r"R[0-9]*(?:/|\Z)"
_UNDERSTOOD: Final = (
    "cron with five fields (30 2 * * MON-FRI) or six (seconds first), "
    f"a macro ({', '.join(MACROS)}), @every with a Go duration (@every 1h30m), "
    "EventBridge's rate(5 minutes), cron(0 10 ? * MON *) or at(2027-03-01T09:00:00), "
    "or an ISO 8601 repetition (R4/PT3S)"
)


class ParsedSchedule(NamedTuple):
    """A schedule that has been read, and the zone that its `CRON_TZ=` or `TZ=` prefix names."""

    notation: Notation
    zone_name: str | None = None


class Every(NamedTuple):
    """`@every`: a fixed period of elapsed time. Source: Dapr; robfig/cron rounds it to whole seconds.

    The first fire is at the dueTime, or one period after the start without a dueTime.
    """

    period_ns: int

    def timeline(self, beginning: Beginning) -> Periodic:
        """The multiples of the period from the beginning on."""
        started_at, due_at = beginning.start_at, beginning.due_at
        return Periodic(started_at, self.period_ns) if due_at is None else Periodic(due_at, self.period_ns, 0)


@lru_cache(maxsize=4096)
def timeline_of(
    schedule: Schedule | None,
    timezone: str,
    start_at: Instant,
    due_at: Instant | None,
    *,
    dst: DstRule = DEFAULT,
    jitter_ms: int = 0,
    days: DayRule | None = None,
) -> Timeline:
    """The timeline of a series, without ttl and repeats. Raises ScheduleError if it cannot be read."""
    beginning = Beginning(start_at, due_at, zone_named(timezone), dst, jitter_ms, days)
    timeline = _unmoved(schedule, beginning)
    if jitter_ms:
        timeline = MovedTimeline(timeline, jitter_ms)
    return Amended(timeline, days.also, days.without) if days and (days.also or days.without) else timeline


def _unmoved(schedule: Schedule | None, beginning: Beginning) -> Timeline:
    """The timeline before jitter and amendments."""
    days, zone, due_at = beginning.days, beginning.zone, beginning.due_at
    if schedule is None:
        fixed = () if due_at is None else (due_at,)
        return FixedInstants(fixed if days is None else moved_instants(fixed, zone, days))
    notation = parse_schedule(schedule).notation
    if days is not None and isinstance(notation, InstantList):
        notation = InstantList(moved_instants(notation.instants, zone, days))
    timeline = notation.timeline(beginning)
    if days is not None and isinstance(timeline, Periodic):
        return FittingSpans(timeline, zone, days)
    return timeline


def why_unmovable(schedule: Schedule) -> str | None:
    """Why no calendar can move the occurrences of a schedule to other days; None if one can."""
    notation = parse_schedule(schedule).notation
    if isinstance(notation, Cron):
        if notation.is_wildcard:
            return "an expression whose minute or hour begins with a star follows real time"
        per_day = notation.pattern.times.per_day if isinstance(notation.pattern, WallPattern) else 1
        return f"it fires {per_day} times a day" if per_day > CALENDAR_MOVES_PER_DAY_MAX else None
    if isinstance(notation, InstantList):
        return None
    is_elapsed = isinstance(notation.timeline(Beginning(0, None, zone_named(UTC))), Periodic)
    return "it has a period of elapsed time" if is_elapsed else None


def read_schedule(written: object) -> Schedule:
    """The schedule as a series keeps it. Raises ScheduleError if no notation can read it."""
    match written:
        case str():
            parse_schedule(written)
            return written
        case Mapping():
            return parse_fields(written)
        case list():
            return parse_instant_list(written)
        case _:
            raise ScheduleError(
                f"{quoted(str(written))} is no schedule; expected text such as '30 2 * * *', an object of "
                "cron fields by name, or a list of instants"
            )


@lru_cache(maxsize=4096)
def parse_schedule(schedule: Schedule) -> ParsedSchedule:
    """The notation of a schedule. Answers are kept, so that reading a text again costs nothing.

    It does not look up the zone of the prefix. Raises ScheduleError.
    """
    match schedule:
        case InstantList():
            return ParsedSchedule(schedule)
        case NamedFields():
            return ParsedSchedule(cron_of_names(schedule))
        case str():
            return _parse_text(schedule)


def _parse_text(text: str) -> ParsedSchedule:
    if len(text) > SCHEDULE_LENGTH_MAX:
        raise ScheduleError(
            f"{quoted(text)} is too long; expected a schedule of at most {SCHEDULE_LENGTH_MAX} characters"
        )
    if text.endswith(("\n", "\r")):
        raise ScheduleError(f"{quoted(text)} ends with a line break; expected the schedule alone")
    alien = next((each for each in text if each != "\t" and not " " <= each <= "~"), None)
    if alien is not None:
        raise ScheduleError(
            f"{quoted(alien)} in {quoted(text)} belongs to no schedule; expected {_UNDERSTOOD}"
        )
    if re.match(_AWS, text):
        # EventBridge refuses even a space around its notation.
        return ParsedSchedule(_parse_aws(text))
    rest = text.strip(" \t")
    prefix = re.match(_ZONE_PREFIX, rest)
    if prefix is None:
        return ParsedSchedule(_parse_notation(rest))
    if not prefix.group(1):
        raise ScheduleError(
            f"{quoted(prefix.group())} names no zone; expected one, such as CRON_TZ=Europe/Riga"
        )
    return ParsedSchedule(_parse_notation(rest[prefix.end() :]), prefix.group(1))


def _parse_notation(text: str) -> Notation:
    if not text:
        raise ScheduleError(f"an empty schedule; expected {_UNDERSTOOD}")
    if zoned := re.fullmatch(_ZONE_AT_END, text):
        schedule, zone = zoned.groups()
        raise ScheduleError(
            f"{quoted(zone)} is no part of a schedule; expected the zone as the job's timezone, "
            f"or before the schedule: CRON_TZ={zone} {schedule.rstrip()}"
        )
    if text.startswith("@"):
        return _parse_descriptor(text)
    if re.match(_AWS, text):
        return _parse_aws(text)
    if re.match(_REPETITION, text):
        from sweephand.schedules.notations.repetition import parse_repetition  # noqa: PLC0415 - as above, 3 ms

        return parse_repetition(text)
    if text[0] in "[{":
        raise ScheduleError(
            f"{quoted(text)} is JSON within a text; expected the object or the list itself, without quotes"
        )
    if text.startswith("P"):
        raise ScheduleError(
            f"{quoted(text)} is a duration and no schedule; expected a repetition of it, such as R/{text}"
        )
    return parse_cron(text)


def _parse_aws(text: str) -> Notation:
    from sweephand.schedules.notations.aws import parse_aws  # noqa: PLC0415 - as above, 2 ms

    return parse_aws(text)


def _parse_descriptor(text: str) -> Notation:
    word = text.split(maxsplit=1)[0]
    if word == _EVERY:
        return _parse_every(text)
    expression = MACROS.get(text)
    if expression is None:
        raise ScheduleError(
            f"{quoted(text)} is no macro; expected one of {', '.join(MACROS)}, or @every 1h30m."
            f"{suggestion(word, (*MACROS, _EVERY))}"
        )
    return parse_cron(expression)


def _parse_every(text: str) -> Every:
    """The period after `@every`. Raises ScheduleError, also for a period of less than a second."""
    written = text.removeprefix(_EVERY).strip(" \t")
    period_ns = parse_go_duration_ns(written)
    if period_ns < SECOND_NS:
        raise ScheduleError(f"{quoted(written)} after @every is too short; expected a period of at least 1s")
    return Every(period_ns)
