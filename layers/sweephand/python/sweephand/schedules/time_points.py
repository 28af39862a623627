"""Which instant a `dueTime` or a `ttl` names: an instant of RFC 3339, or a duration from another instant on.

The calendar parts of an ISO 8601 duration are added on the wall clock of the job's zone. The result is
clamped to the month's end: 31 January and a month is 28 or 29 February. The parts after the T are elapsed
time, as are Go durations and `7d`.
"""

import datetime as dt
import re
from typing import TYPE_CHECKING, Final

from sweephand.base.instants import INSTANT_MAX, Instant
from sweephand.schedules.durations import MS_NS, Duration, parse_duration
from sweephand.schedules.errors import ScheduleError, quoted

if TYPE_CHECKING:
    from sweephand.schedules.clock.zones import Zone

#: An instant up to this long ago means now, because the request may have been on its way for so long.
PAST_MAX_MS: Final = 60_000


def rfc3339_grammar(
    *,
    year: str,
    month: str,
    day: str,
    hour: str,
    minute: str,
    second: str,
    fraction: str,
    sign: str,
    offset_hour: str,
    offset_minute: str,
) -> str:
    """The regular expression of an RFC 3339 instant whose parts match the given expressions."""
    return (
        f"{year}-{month}-{day}[Tt]{hour}:{minute}:{second}(?:\\.{fraction})?"
        f"(?:[Zz]|{sign}{offset_hour}:{offset_minute})"
    )


# These stay texts: `re` compiles each when it is first used, and this module must be cheap to import.
_TWO_DIGITS: Final = "([0-9]{2})"
_RFC3339: Final = rfc3339_grammar(
    year="([0-9]{4})",
    month=_TWO_DIGITS,
    day=_TWO_DIGITS,
    hour=_TWO_DIGITS,
    minute=_TWO_DIGITS,
    second=_TWO_DIGITS,
    fraction="([0-9]{1,32})",
    sign="([+-])",
    offset_hour=_TWO_DIGITS,
    offset_minute=_TWO_DIGITS,
)
_LOCAL: Final = r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})"
_LOOKS_ABSOLUTE: Final = r"[0-9]{4}-|[0-9]{2}[/:]|[0-9]{2}\.[0-9]{2}\."
_EXPECTED: Final = (
    "an instant such as 2027-01-31T09:00:00Z, or a duration from now on such as 90s, 2h30m, 7d or P1M"
)
_DAY_MS: Final = 86_400_000
_EPOCH_DAY: Final = dt.date(1970, 1, 1).toordinal()


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
    """The wall time (seconds, as in wall_pattern.py) of `yyyy-mm-ddThh:mm:ss`; None for any other text.

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
    # Imported with the first such duration: the import takes several milliseconds.
    import isodate  # noqa: PLC0415

    wall_ms = from_at + zone.offset_at(from_at // 1_000) * 1_000
    day, ms_of_day = divmod(wall_ms, _DAY_MS)
    try:
        # isodate adds the months first, and clamps the day to the end of the month.
        period = isodate.Duration(days=duration.days, months=duration.months)
        moved = dt.date.fromordinal(day + _EPOCH_DAY) + period
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
