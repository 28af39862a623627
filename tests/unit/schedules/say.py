"""Instants and series as the tests of this room write them."""

import datetime as dt
from collections.abc import Mapping
from itertools import islice

from hypothesis import HealthCheck, settings

from sweephand.base.instants import Instant, from_datetime, to_datetime
from sweephand.schedules import ScheduleInput, Series
from sweephand.schedules.request import series_of

#: For properties: a busy machine is no fault of ours.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def at(text: str) -> Instant:
    """The instant of an ISO 8601 text; UTC where it has no offset."""
    moment = dt.datetime.fromisoformat(text)
    return from_datetime(moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC))


def said(instant: Instant) -> str:
    """An instant as short as it can be read: UTC, without the seconds where they are 0."""
    moment = to_datetime(instant)
    return moment.isoformat(sep=" ", timespec="milliseconds").removesuffix("+00:00").removesuffix(":00.000")


def asked(
    schedule: ScheduleInput | None = None,
    *,
    timezone: str | None = None,
    due_time: str | None = None,
    ttl: str | None = None,
    repeats: int | None = None,
    dst: Mapping[str, str] | None = None,
    now: str = "2026-11-21T07:00:00Z",
) -> Series:
    """The series of a request."""
    return series_of(
        schedule=schedule,
        timezone=timezone,
        due_time=due_time,
        ttl=ttl,
        repeats=repeats,
        dst=dst,
        requested_at=at(now),
    )


def fires(schedule: str, zone: str, after: str, count: int) -> list[str]:
    """The next so many instants of a schedule that began at `after`."""
    series = Series(schedule, zone, at(after))
    return [said(each.due_at) for each in islice(series.occurrences(at(after)), count)]
