"""What an instant is (whole milliseconds since 1970-01-01T00:00:00Z) and how Sweephand writes it."""

import datetime as dt
from typing import TypeAlias

Instant: TypeAlias = int

SECOND_MS = 1_000
MINUTE_MS = 60 * SECOND_MS
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS

#: The last instant that a four-digit year can name: 9999-12-31T23:59:59.999Z.
INSTANT_MAX: Instant = 253_402_300_799_999

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def to_datetime(instant: Instant) -> dt.datetime:
    """The aware UTC datetime of an instant, exact to the millisecond."""
    return _EPOCH + dt.timedelta(milliseconds=instant)


def from_datetime(moment: dt.datetime) -> Instant:
    """The instant of an aware datetime, rounded towards the past to a whole millisecond."""
    return (moment - _EPOCH) // dt.timedelta(milliseconds=1)


def rfc3339(instant: Instant) -> str:
    """The instant in RFC 3339, in UTC with milliseconds. Every time that leaves Sweephand has this form."""
    return to_datetime(instant).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def rfc3339_or_none(instant: Instant | None) -> str | None:
    """The instant in RFC 3339. None stays None."""
    return None if instant is None else rfc3339(instant)
