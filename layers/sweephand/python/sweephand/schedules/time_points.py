"""Which instant a `dueTime` or a `ttl` names: an instant of RFC 3339, or a duration from another instant on.

The calendar parts of an ISO 8601 duration are added on the wall clock of the job's zone. The result is
clamped to the month's end: 31 January and a month is 28 or 29 February. The parts after the T are elapsed
time, as are Go durations and `7d`.
"""

import calendar
import datetime as dt
import re
from typing import TYPE_CHECKING, Any, Final

from sweephand.base.errors import ScheduleError
from sweephand.base.instants import INSTANT_MAX, Instant
from sweephand.base.names import quoted, text_schema
from sweephand.schedules.durations import DURATION_CHARS_MAX, MS_NS, Duration, parse_duration

if TYPE_CHECKING:
    from sweephand.schedules.clock.zones import Zone

#: An instant up to this long ago means now, because the request may have been on its way for so long.
PAST_MAX_MS: Final = 60_000


# These stay texts: `re` compiles each when it is first used, and this module must be cheap to import.
_RFC3339: Final = (
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,32}))?"
    r"(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))"
)
_LOCAL: Final = r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})"
_LOOKS_ABSOLUTE: Final = r"[0-9]{4}-|[0-9]{2}[/:]|[0-9]{2}\.[0-9]{2}\."
_EXPECTED: Final = (
    "an instant such as 2027-01-31T09:00:00Z, or a duration from now on such as 90s, 2h30m, 7d or P1M"
)
_DAY_MS: Final = 86_400_000
_EPOCH_DAY: Final = dt.date(1970, 1, 1).toordinal()

# How durations and points in time are written, as regular expressions for JSON Schema. A pattern says how a
# text is written and not what it may mean: the date of an instant can be a day that does not exist. The
# parsers decide that, and a property test compares both.
_GO: Final = r"(?:0|(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+)"
_DAYS: Final = r"[0-9]+d"
_ISO_TIME: Final = r"T(?:[0-9]+H(?:[0-9]+M)?(?:[0-9]+S)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)"
_ISO_DATE: Final = r"(?:[0-9]+Y(?:[0-9]+M)?(?:[0-9]+D)?|[0-9]+M(?:[0-9]+D)?|[0-9]+D)"
#: Years and months have no fixed length. A duration may have them only with the value zero.
_ISO_DAYS: Final = r"(?:0+Y(?:0+M)?(?:[0-9]+D)?|0+M(?:[0-9]+D)?|[0-9]+D)"
_WEEKS: Final = r"[0-9]+W"

#: An instant of RFC 3339 whose numbers are each in range.
RFC3339_PATTERN: Final = (
    r"(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
    r"[Tt](?:[01][0-9]|2[0-3]):[0-5][0-9]:(?:[0-5][0-9]|60)(?:\.[0-9]{1,32})?"
    r"(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
)

DURATION_PATTERN: Final = rf"^(?:\+?{_GO}|{_DAYS}|P(?:{_WEEKS}|{_ISO_DAYS}(?:{_ISO_TIME})?|{_ISO_TIME}))$"
TIME_POINT_PATTERN: Final = (
    rf"^(?:{RFC3339_PATTERN}|\+?{_GO}|{_DAYS}|P(?:{_WEEKS}|{_ISO_DATE}(?:{_ISO_TIME})?|{_ISO_TIME}))$"
)

DURATION_SCHEMA: Final[dict[str, Any]] = text_schema(DURATION_PATTERN, DURATION_CHARS_MAX)
TIME_POINT_SCHEMA: Final[dict[str, Any]] = text_schema(TIME_POINT_PATTERN, DURATION_CHARS_MAX)


def parse_time_point(
    text: str, *, requested_at: Instant, counted_from: Instant, zone: "Zone", round_up: bool = True
) -> Instant:
    """The instant that a text names. A duration counts from `counted_from`.

    An absolute instant up to a minute before `requested_at` becomes `requested_at`. With `round_up`, a part
    of a millisecond counts as a whole one; otherwise it is cut off. Raises ScheduleError if the text cannot
    be read, or names an instant further in the past or beyond the year 9999.
    """
    if re.match(_LOOKS_ABSOLUTE, text):
        instant_at = parse_instant(text, round_up=round_up)
        if instant_at < requested_at - PAST_MAX_MS:
            raise ScheduleError(f"{quoted(text)} is past; expected an instant at most a minute ago")
        return max(instant_at, requested_at)
    if not re.match(r"[P0-9.+-]", text):
        raise ScheduleError(f"{quoted(text)} is no point in time; expected {_EXPECTED}")
    duration = parse_duration(text)
    moved_at = _after_calendar_parts(text, duration, counted_from, zone)
    instant_at = moved_at + _whole_ms(duration.elapsed_ns, round_up=round_up)
    if instant_at > INSTANT_MAX:
        raise _beyond_the_calendar(text)
    return instant_at


def parse_instant(text: str, *, round_up: bool = True) -> Instant:
    """The instant that an RFC 3339 text names, past or not. `round_up` as in parse_time_point().

    Raises ScheduleError if the text cannot be read or names an instant beyond the year 9999.
    """
    instant_at = _whole_ms(_parse_rfc3339_ns(text), round_up=round_up)
    if instant_at > INSTANT_MAX:
        raise _beyond_the_calendar(text)
    return instant_at


def parse_local(text: str) -> int | None:
    """The wall time (seconds, as in cron_pattern.py) of `yyyy-mm-ddThh:mm:ss`; None for any other text.

    Raises ScheduleError if the date or the time does not exist.
    """
    match = re.fullmatch(_LOCAL, text)
    if match is None:
        return None
    try:
        year, month, day, hour, minute, second = map(int, match.groups())
        time = dt.datetime(year, month, day, hour, minute, second, tzinfo=dt.UTC)
    except ValueError as fault:
        raise ScheduleError(
            f"{quoted(text)} names no local time; expected a date and a time that exist"
        ) from fault
    return (time - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) // dt.timedelta(seconds=1)


def _after_calendar_parts(text: str, duration: Duration, from_at: Instant, zone: "Zone") -> Instant:
    if not duration.is_calendar:
        return from_at
    wall_ms = from_at + zone.offset_at(from_at // 1_000) * 1_000
    day, ms_of_day = divmod(wall_ms, _DAY_MS)
    try:
        date = dt.date.fromordinal(day + _EPOCH_DAY)
        year, month = divmod(date.year * 12 + date.month - 1 + duration.months, 12)
        clamped_day = min(date.day, calendar.monthrange(year, month + 1)[1])
        moved = dt.date(year, month + 1, clamped_day) + dt.timedelta(days=duration.days)
    except (ValueError, OverflowError) as fault:
        raise _beyond_the_calendar(text) from fault
    second_of_day, ms = divmod(ms_of_day, 1_000)
    wall_s = (moved.toordinal() - _EPOCH_DAY) * (_DAY_MS // 1_000) + second_of_day
    return zone.instant_of(wall_s) * 1_000 + ms


def _parse_rfc3339_ns(text: str) -> int:
    match = re.fullmatch(_RFC3339, text)
    if match is None:
        raise ScheduleError(
            f"{quoted(text)} is no RFC 3339 instant; "
            "expected a date, T, a time with seconds, and Z or an offset, "
            "such as 2027-01-31T09:00:00Z or 2027-01-31T10:00:00+01:00"
        )
    *digits, fraction, sign, offset_hour, offset_minute = match.groups()
    year, month, day, hour, minute, second = map(int, digits)
    offset = int(offset_hour or 0) * 60 + int(offset_minute or 0)
    is_leap = second == 60  # noqa: PLR2004 - the number of a leap second
    try:
        if int(offset_hour or 0) > 23 or int(offset_minute or 0) > 59:  # noqa: PLR2004 - hours and minutes
            raise ValueError("offset")  # noqa: TRY301 - the same refusal as for an impossible date
        time = dt.datetime(year, month, day, hour, minute, second - is_leap, tzinfo=dt.UTC)
        time -= dt.timedelta(minutes=-offset if sign == "-" else offset)
        if is_leap and not _may_end_with_leap_second(time):
            raise ValueError("leap second")  # noqa: TRY301 - same
    except (ValueError, OverflowError) as fault:
        raise ScheduleError(
            f"{quoted(text)} names no instant; expected a date and a time that exist"
        ) from fault
    # Epoch time has no leap seconds, so 23:59:60 is the first second of the next day.
    seconds = (time - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) // dt.timedelta(seconds=1) + is_leap
    padded = (fraction or "").ljust(9, "0")
    beyond_ns = int(any(digit != "0" for digit in padded[9:]))  # so that the digits cut off still round up
    return seconds * 1_000 * MS_NS + int(padded[:9]) + beyond_ns


def _may_end_with_leap_second(time: dt.datetime) -> bool:
    """Whether a UTC second is the last of a month. RFC 3339 lets a leap second follow only such a second."""
    return (time + dt.timedelta(seconds=1)).strftime("%d%H%M%S") == "01000000"


def _whole_ms(ns: int, *, round_up: bool) -> int:
    return -(-ns // MS_NS) if round_up else ns // MS_NS


def _beyond_the_calendar(text: str) -> ScheduleError:
    return ScheduleError(f"{quoted(text)} lies beyond the year 9999; expected an earlier point in time")
