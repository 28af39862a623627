"""How tests and options write instants and lengths of time."""

import datetime as dt
import re
from typing import Final, TypeAlias

from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, Instant, from_datetime

#: A text such as `3 weeks` or `1h 30m`, a number of seconds, or a timedelta.
Span: TypeAlias = str | float | dt.timedelta

#: RFC 3339 or ISO 8601 with an offset, or an aware datetime.
Moment: TypeAlias = str | dt.datetime

_TERM: Final = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([a-z]+)")

_UNITS_MS: Final = {
    "ms": 1,
    "millisecond": 1,
    "s": SECOND_MS,
    "second": SECOND_MS,
    "m": MINUTE_MS,
    "min": MINUTE_MS,
    "minute": MINUTE_MS,
    "h": HOUR_MS,
    "hour": HOUR_MS,
    "d": DAY_MS,
    "day": DAY_MS,
    "w": 7 * DAY_MS,
    "week": 7 * DAY_MS,
}


def span_ms(span: Span) -> int:
    """The length of a time in ms.

    Raises ValueError for a text of no known form, and for a negative length.
    """
    if isinstance(span, dt.timedelta):
        length_ms = span / dt.timedelta(milliseconds=1)
    elif isinstance(span, str):
        length_ms = _read(span)
    else:
        length_ms = span * SECOND_MS
    if length_ms < 0:
        raise ValueError(f"{span!r} is negative. Time goes forward only.")
    return round(length_ms)


def _read(text: str) -> float:
    total, position = 0.0, 0
    while position < len(text.rstrip()):
        term = _TERM.match(text, position)
        unit = None if term is None else _UNITS_MS.get(term[2]) or _UNITS_MS.get(term[2].removesuffix("s"))
        if term is None or unit is None:
            raise ValueError(f"{text!r} is no length of time. Write '3 weeks', '1 day 2 hours' or '90s'.")
        total += float(term[1]) * unit
        position = term.end()
    if not position:
        raise ValueError("The length of time is empty. Write '3 weeks', '1 day 2 hours' or '90s'.")
    return total


def instant_of(moment: Moment) -> Instant:
    """The instant. Raises ValueError for a text of no known form, and for a time without an offset."""
    try:
        read = moment if isinstance(moment, dt.datetime) else dt.datetime.fromisoformat(moment)
    except ValueError:
        raise ValueError(f"{moment!r} is no instant. Write it as '2026-10-25T01:00:00Z'.") from None
    if read.tzinfo is None:
        raise ValueError(f"{moment!r} has no offset. Write it as '2026-10-25T01:00:00Z'.")
    return from_datetime(read)
