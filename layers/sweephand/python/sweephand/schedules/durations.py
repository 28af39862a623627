"""How a length of time is written: a Go duration, an ISO 8601 duration, or days.

References: Go's time.ParseDuration; ISO 8601 durations by the grammar of RFC 3339 appendix A, which has
neither signs nor fractions and skips no unit (`P1Y2D` and `PT1H2S` are refused). `7d` is seven times 24
hours.
"""

import re
from typing import Final, NamedTuple

from sweephand.schedules.errors import ScheduleError, quoted

DURATION_CHARS_MAX: Final = 64

MS_NS: Final = 1_000_000
SECOND_NS: Final = 1_000 * MS_NS
_MINUTE_NS: Final = 60 * SECOND_NS
_HOUR_NS: Final = 60 * _MINUTE_NS
_DAY_NS: Final = 24 * _HOUR_NS

#: The longest that Go can say, in 64 bits: 292 years. It bounds what a caller may write in the other forms
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
# Left for re to compile and keep when they are first used: importing this must be cheap.
_GO_TERM: Final = r"([0-9]*)(?:\.([0-9]*))?([^0-9.]+)"
_DAYS: Final = r"([0-9]+)d"
_ISO: Final = (
    r"P(?:"
    r"(?P<weeks>[0-9]+)W"
    r"|(?:(?:(?P<years>[0-9]+)Y(?:(?P<y_months>[0-9]+)M(?:(?P<ym_days>[0-9]+)D)?)?"
    r"|(?P<months>[0-9]+)M(?:(?P<m_days>[0-9]+)D)?"
    r"|(?P<days>[0-9]+)D))?"
    r"(?:T(?:(?P<hours>[0-9]+)H(?:(?P<h_minutes>[0-9]+)M(?:(?P<hm_seconds>[0-9]+)S)?)?"
    r"|(?P<minutes>[0-9]+)M(?:(?P<m_seconds>[0-9]+)S)?"
    r"|(?P<seconds>[0-9]+)S))?"
    r")"
)

_GO_EXPECTED: Final = "a Go duration such as 1h30m, 45s or 500ms"
_EXPECTED: Final = f"{_GO_EXPECTED}, an ISO 8601 duration such as PT1H30M, or days such as 7d"


class Duration(NamedTuple):
    """A length of time: first the calendar parts, on the wall clock of a zone, then the elapsed part."""

    months: int
    days: int
    elapsed_ns: int

    @property
    def is_calendar(self) -> bool:
        """Whether its length depends on where in which calendar it begins."""
        return bool(self.months or self.days)


def parse_go_duration_ns(text: str) -> int:
    """Nanoseconds, negative ones too, of a Go duration; what lies below a nanosecond is cut off.

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
    # Go's range is that of a signed 64-bit number: one more downwards than upwards.
    if total_ns > NS_MAX + (sign < 0):
        raise _too_long(text)
    return sign * total_ns


def parse_duration(text: str) -> Duration:
    """The duration that a text in any of the three notations names. Raises ScheduleError."""
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
    """Whole milliseconds (rounded up, never less than asked for) of a duration without calendar parts.

    Zero is a duration; a negative one is not. Years and months are refused, since their length depends on
    when they begin; days and weeks of ISO 8601 count 24 and 168 hours here. Raises ScheduleError.
    """
    duration = parse_duration(text)
    if duration.months:
        raise ScheduleError(
            f"{quoted(text)} has years or months, whose length varies; "
            "expected days, hours, minutes or seconds, such as P30D, 7d or 90m"
        )
    return -(-(duration.days * _DAY_NS + duration.elapsed_ns) // MS_NS)


def _fraction_ns(digits: str, unit_ns: int) -> int:
    """A fraction of a unit as Go takes it: in floating point, by the digits that fit 63 bits."""
    while digits and int(digits) > NS_MAX:
        digits = digits[:-1]
    return int(float(int(digits)) * (unit_ns / 10 ** len(digits))) if digits else 0


def parse_iso_duration(text: str) -> Duration:
    """The duration in ISO 8601's notation alone. Raises ScheduleError."""
    _check_length(text)
    match = re.fullmatch(_ISO, text)
    if match is None or text == "P":
        raise ScheduleError(
            f"{quoted(text)} is no ISO 8601 duration; expected P, then years, months and days or weeks, "
            "then T with hours, minutes and seconds, in whole numbers and without skipping a unit: "
            "P1M, PT1H30M, P2W"
        )
    part = {name: int(digits) for name, digits in match.groupdict().items() if digits is not None}

    def of(*names: str) -> int:
        return sum(part.get(name, 0) for name in names)

    seconds = of("seconds", "m_seconds", "hm_seconds") + 60 * of("minutes", "h_minutes") + 3600 * of("hours")
    return _bounded(
        text,
        Duration(
            months=12 * of("years") + of("months", "y_months"),
            days=of("days", "m_days", "ym_days") + 7 * of("weeks"),
            elapsed_ns=seconds * SECOND_NS,
        ),
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
