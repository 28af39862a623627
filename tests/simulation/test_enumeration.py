"""The oracle's own enumeration: against tables worked out by hand, and against the one it judges."""

import datetime as dt
from itertools import islice, takewhile
from random import Random
from typing import Any

import pytest
from tests.simulation.enumeration import Occurrences, Timing, begun, counted_anew, gone_on

from sweephand.errors import InvalidError
from sweephand.instants import DAY_MS, HOUR_MS, MINUTE_MS, rfc3339
from sweephand.schedules import Series, series_of

NOON = 1_795_262_400_000  # 2026-11-21T12:00:00Z


def at(text: str) -> int:
    return round(dt.datetime.fromisoformat(text).timestamp() * 1_000)


def dues(definition: dict[str, Any], asked_at: str, number: int) -> list[str]:
    """The first due times of a definition, to the second and in UTC."""
    return [
        rfc3339(due_at)[:19] for due_at, _ in islice(begun(definition, at(asked_at)).numbered(), number)
    ]


# Paris: on 29 March 2026 02:00 becomes 03:00 (01:00Z), on 25 October 03:00 becomes 02:00 (01:00Z).
# New York: on 8 March 2026 02:00 becomes 03:00 (07:00Z), on 1 November 02:00 becomes 01:00 (06:00Z).
# Lord Howe: on 5 April 2026 02:00 becomes 01:30 (15:00Z the day before), on 4 October 02:00 becomes 02:30
# (15:30Z the day before).
@pytest.mark.parametrize(
    ("zone", "schedule", "dst", "asked_at", "expected"),
    [
        (
            "Europe/Paris",
            "30 2 * * *",
            {},
            "2026-03-28T00:00:00Z",
            ["2026-03-28T01:30:00", "2026-03-29T01:00:00", "2026-03-30T00:30:00"],
        ),
        (
            "Europe/Paris",
            "30 2 * * *",
            {"gap": "skip"},
            "2026-03-28T00:00:00Z",
            ["2026-03-28T01:30:00", "2026-03-30T00:30:00"],
        ),
        (
            "Europe/Paris",
            "15,30,45 2 * * *",
            {},
            "2026-03-29T00:00:00Z",
            ["2026-03-29T01:00:00", "2026-03-30T00:15:00"],
        ),
        (
            "Europe/Paris",
            "*/30 2 * * *",
            {},
            "2026-03-29T00:00:00Z",
            ["2026-03-30T00:00:00", "2026-03-30T00:30:00"],
        ),
        (
            "Europe/Paris",
            "30 2 * * *",
            {},
            "2026-10-24T12:00:00Z",
            ["2026-10-25T00:30:00", "2026-10-26T01:30:00"],
        ),
        (
            "Europe/Paris",
            "30 2 * * *",
            {"overlap": "last"},
            "2026-10-24T12:00:00Z",
            ["2026-10-25T01:30:00", "2026-10-26T01:30:00"],
        ),
        (
            "Europe/Paris",
            "30 2 * * *",
            {"overlap": "both"},
            "2026-10-24T12:00:00Z",
            ["2026-10-25T00:30:00", "2026-10-25T01:30:00", "2026-10-26T01:30:00"],
        ),
        (
            "Europe/Paris",
            "0 * * * *",
            {},
            "2026-10-24T23:30:00Z",
            ["2026-10-25T00:00:00", "2026-10-25T01:00:00", "2026-10-25T02:00:00"],
        ),
        (
            "America/New_York",
            "0 30 1,2,3 8 MAR *",
            {},
            "2026-03-01T00:00:00Z",
            ["2026-03-08T06:30:00", "2026-03-08T07:00:00", "2026-03-08T07:30:00"],
        ),
        (
            "America/New_York",
            "0 0 3 8 MAR *",
            {},
            "2026-03-01T00:00:00Z",
            ["2026-03-08T07:00:00", "2027-03-08T08:00:00"],
        ),
        (
            "America/New_York",
            "30 1 1 NOV *",
            {},
            "2026-10-01T00:00:00Z",
            ["2026-11-01T05:30:00", "2027-11-01T05:30:00"],
        ),
        (
            "Australia/Lord_Howe",
            "45 1 * * *",
            {},
            "2026-04-04T00:00:00Z",
            ["2026-04-04T14:45:00", "2026-04-05T15:15:00"],
        ),
        (
            "Australia/Lord_Howe",
            "45 1 * * *",
            {"overlap": "last"},
            "2026-04-04T00:00:00Z",
            ["2026-04-04T15:15:00", "2026-04-05T15:15:00"],
        ),
        (
            "Australia/Lord_Howe",
            "10,20 2 * * *",
            {},
            "2026-10-03T00:00:00Z",
            ["2026-10-03T15:30:00", "2026-10-04T15:10:00"],
        ),
        (
            # 30 December 2011 does not exist: a day is not made up.
            "Pacific/Apia",
            "0 9 * * *",
            {},
            "2011-12-28T20:00:00Z",
            ["2011-12-29T19:00:00", "2011-12-30T19:00:00"],
        ),
    ],
)
def test_local_times_that_are_missing_or_there_twice(
    zone: str, schedule: str, dst: dict[str, str], asked_at: str, expected: list[str]
) -> None:
    definition = {"schedule": schedule, "timezone": zone, "dst": dst}
    assert dues(definition, asked_at, len(expected)) == expected
