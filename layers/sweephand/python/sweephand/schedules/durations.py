"""How a length of time is written: a Go duration, an ISO 8601 duration, or days.

References: Go's time.ParseDuration; ISO 8601, which isodate reads. This module refuses what isodate takes and
semantics.md does not: signs, fractions, and weeks beside other units. `7d` is seven times 24 hours.
"""

import datetime as dt
import re
from hashlib import sha256
from typing import Final, NamedTuple

from sweephand.base.errors import ScheduleError
from sweephand.base.names import quoted

DURATION_CHARS_MAX: Final = 64

MS_NS: Final = 1_000_000
SECOND_NS: Final = 1_000 * MS_NS
_MINUTE_NS: Final = 60 * SECOND_NS
_HOUR_NS: Final = 60 * _MINUTE_NS
_DAY_NS: Final = 24 * _HOUR_NS

#: The longest duration of Go, which counts nanoseconds in 64 bits: 292 years. It bounds the other notations
#: too.
NS_MAX: Final = 2**63 - 1

_GO_UNITS_NS: Final = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,  # U+00B5, the micro sign
    "μs": 1_000,
    "ms": MS_NS,
    "s": SECOND_NS,
    "m": _MINUTE_NS,
    "h": _HOUR_NS,
}
_TEXT_UNITS_MS: Final = (("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1))
# re compiles these when they are first used, so that importing this module stays cheap.
_GO_TERM: Final = r"([0-9]*)(?:\.([0-9]*))?([^0-9.]+)"
_DAYS: Final = r"([0-9]+)d"
# The calendar half and the time half of an ISO 8601 duration. isodate checks the order of the units.
_ISO: Final = r"P(?=[0-9T])([0-9]+W|(?:[0-9]+[YMD])+)?(?:(?<!W)T((?:[0-9]+[HMS])+))?"

_GO_EXPECTED: Final = "a Go duration such as 1h30m, 45s or 500ms"
_EXPECTED: Final = f"{_GO_EXPECTED}, an ISO 8601 duration such as PT1H30M, or days such as 7d"


class Duration(NamedTuple):
    """A length of time. Months and days count on the wall clock of a zone; `elapsed_ns` counts after them."""

    months: int
    days: int
    elapsed_ns: int

    @property
    def is_calendar(self) -> bool:
        """Whether the length depends on the date at which the duration begins."""
        return bool(self.months or self.days)


def parse_go_duration_ns(text: str) -> int:
    """The nanoseconds of a Go duration, which may be negative. Parts of a nanosecond are cut off.

    Raises ScheduleError. Source: Go's time.ParseDuration.
    """
    _check_length(text)
    sign, rest = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
    if rest == "0":
        return 0
    if not rest:
        raise ScheduleError(f"{quoted(text)} is no duration; expected {_GO_EXPECTED}")
    total_ns = at = 0
    while at < len(rest):
        term = re.match(_GO_TERM, rest[at:])
        if term is None:
            raise ScheduleError(
                f"{quoted(rest[at:])} in {quoted(text)} lacks a unit; expected {_GO_EXPECTED}"
            )
        whole, fraction, unit = term.group(1), term.group(2) or "", term.group(3)
        if not (whole or fraction):
            raise ScheduleError(
                f"{quoted(term.group())} in {quoted(text)} lacks a number; expected {_GO_EXPECTED}"
            )
        unit_ns = _GO_UNITS_NS.get(unit)
        if unit_ns is None:
            raise ScheduleError(
                f"{quoted(unit)} in {quoted(text)} is no unit of a Go duration; "
                "expected one of h, m, s, ms, us, ns"
            )
        total_ns += int(whole or "0") * unit_ns + _fraction_ns(fraction, unit_ns)
        at += term.end()
    # A signed 64-bit number reaches one further below zero than above.
    if total_ns > NS_MAX + (sign < 0):
        raise _too_long(text)
    return sign * total_ns


def parse_duration(text: str) -> Duration:
    """The duration that a text names in any of the three notations. Raises ScheduleError."""
    if text.startswith("P"):
        return parse_iso_duration(text)
    _check_length(text)
    days = re.fullmatch(_DAYS, text)
    if days is not None:
        return _bounded(text, Duration(0, 0, int(days.group(1)) * _DAY_NS))
    if not re.match(r"[-+.0-9]", text):
        raise ScheduleError(f"{quoted(text)} is no duration; expected {_EXPECTED}")
    elapsed_ns = parse_go_duration_ns(text)
    if text.startswith("-"):
        raise ScheduleError(f"{quoted(text)} is negative; expected a duration that counts forward")
    return Duration(0, 0, elapsed_ns)


def parse_duration_ms(text: str) -> int:
    """The whole milliseconds, rounded up, of a duration without years and months.

    Zero is accepted and negative durations are refused. Years and months are refused because their length
    depends on when they begin. Days and weeks of ISO 8601 count 24 and 168 hours here. Raises ScheduleError.
    """
    duration = parse_duration(text)
    if duration.months:
        raise ScheduleError(
            f"{quoted(text)} has years or months, whose length varies; "
            "expected days, hours, minutes or seconds, such as P30D, 7d or 90m"
        )
    return -(-(duration.days * _DAY_NS + duration.elapsed_ns) // MS_NS)


def duration_text(duration_ms: int) -> str:
    """A length of time as a Go duration in the longest unit that divides it, such as `1s` or `24h`."""
    return next(f"{duration_ms // ms}{unit}" for unit, ms in _TEXT_UNITS_MS if duration_ms % ms == 0)


def _fraction_ns(digits: str, unit_ns: int) -> int:
    """The nanoseconds of a fraction. Like Go, it uses floating point and the digits that fit 63 bits."""
    while digits and int(digits) > NS_MAX:
        digits = digits[:-1]
    return int(float(int(digits)) * (unit_ns / 10 ** len(digits))) if digits else 0


def parse_iso_duration(text: str) -> Duration:
    """The duration in ISO 8601's notation alone; a unit may be left out. Raises ScheduleError."""
    # Imported with the first ISO 8601 duration: the import takes 2 ms.
    from isodate import ISO8601Error, parse_duration  # noqa: PLC0415

    _check_length(text)
    halves = re.fullmatch(_ISO, text)
    if halves is None:
        raise _no_iso_duration(text)
    try:
        # Each half is read by itself, because isodate would make a day and a half of the 36 hours of PT36H.
        calendar, time = (
            parse_duration(half, as_timedelta_if_possible=False)
            for half in (f"P{halves.group(1) or '0D'}", f"PT{halves.group(2) or '0S'}")
        )
    except ISO8601Error as fault:
        raise _no_iso_duration(text) from fault
    except OverflowError as fault:
        raise _too_long(text) from fault
    return _bounded(
        text,
        Duration(
            months=int(12 * calendar.years + calendar.months),
            days=calendar.tdelta.days,
            elapsed_ns=time.tdelta // dt.timedelta(seconds=1) * SECOND_NS,
        ),
    )


def _no_iso_duration(text: str) -> ScheduleError:
    return ScheduleError(
        f"{quoted(text)} is no ISO 8601 duration; expected P, then years, months and days or weeks, "
        "then T with hours, minutes and seconds, each at most once, in this order and in whole numbers: "
        "P1M, PT1H30M, P2W"
    )


def _bounded(text: str, duration: Duration) -> Duration:
    about_ns = (duration.months * 365 // 12 + duration.days) * _DAY_NS + duration.elapsed_ns
    if about_ns > NS_MAX:
        raise _too_long(text)
    return duration


def _too_long(text: str) -> ScheduleError:
    return ScheduleError(f"{quoted(text)} is too long; expected a duration of at most 292 years")


def _check_length(text: str) -> None:
    if len(text) > DURATION_CHARS_MAX:
        raise ScheduleError(
            f"{quoted(text)} is too long to be read; "
            f"expected a duration of at most {DURATION_CHARS_MAX} characters"
        )


_DIGEST_BYTES: Final = 8


def offset_ms(key: str, window_ms: int) -> int:
    """How many ms later the job of that key fires: from 0 to less than the window.

    A million jobs with the schedule `@hourly` spread over the window. Each of them fires at an instant of its
    own, which stays the same while the job keeps its name. Source: EventBridge's flexible window, made
    predictable.

    A key takes the same fraction of every window, so that a wider window moves every job in proportion. The
    fraction is the first 64 bits of the key's SHA-256, which spread evenly.
    """
    fraction = int.from_bytes(sha256(key.encode()).digest()[:_DIGEST_BYTES])
    return fraction * window_ms >> 8 * _DIGEST_BYTES
