"""When the clock changes: a fixed local time fires once for each night, a wildcard follows real time.

Source: Debian's cron(8), "Daylight Saving Time and other time changes", as semantics.md takes it.
"""

from itertools import islice

import pytest
from tests.unit.schedules.say import at, fires, said

from sweephand.schedules import Occurrence, Series

#: zone, schedule, after, what fires.
GAPS = [
    # Paris, 28 March 2027: 02:00 becomes 03:00 at 01:00 UTC.
    ("Europe/Paris", "30 2 * * *", "2027-03-27T12:00", ["2027-03-28 01:00", "2027-03-29 00:30"]),
    ("Europe/Paris", "0 30 2 * * *", "2027-03-27T12:00", ["2027-03-28 01:00", "2027-03-29 00:30"]),
    ("Europe/Paris", "* 30 2 * * *", "2027-03-27T12:00", ["2027-03-28 01:00", "2027-03-29 00:30"]),
    ("Europe/Paris", "0 2 * * *", "2027-03-27T12:00", ["2027-03-28 01:00", "2027-03-29 00:00"]),
    ("Europe/Paris", "0 3 * * *", "2027-03-27T12:00", ["2027-03-28 01:00", "2027-03-29 01:00"]),
    ("Europe/Paris", "0,20,40 2 * * *", "2027-03-27T12:00", ["2027-03-28 01:00", "2027-03-29 00:00"]),
    ("Europe/Paris", "0 2,3 * * *", "2027-03-27T12:00", ["2027-03-28 01:00", "2027-03-29 00:00"]),
    ("Europe/Paris", "15 2,3 * * *", "2027-03-27T12:00", ["2027-03-28 01:00", "2027-03-28 01:15"]),
    ("Europe/Paris", "30 1,2 * * *", "2027-03-27T12:00", ["2027-03-28 00:30", "2027-03-28 01:00"]),
    ("Europe/Paris", "30 2 28 3 *", "2027-03-27T12:00", ["2027-03-28 01:00", "2028-03-28 00:30"]),
    # A wildcard is not made up: 02:30 does not exist, and that is all.
    ("Europe/Paris", "30 * * * *", "2027-03-28T00:00", ["2027-03-28 00:30", "2027-03-28 01:30"]),
    ("Europe/Paris", "*/20 2 * * *", "2027-03-27T12:00", ["2027-03-29 00:00", "2027-03-29 00:20"]),
    ("Europe/Paris", "30 */2 * * *", "2027-03-27T23:00", ["2027-03-27 23:30", "2027-03-28 02:30"]),
    ("Europe/Paris", "30 ? * * *", "2027-03-28T00:00", ["2027-03-28 00:30", "2027-03-28 01:30"]),
    ("Europe/Paris", "*,5 2 * * *", "2027-03-27T12:00", ["2027-03-29 00:00", "2027-03-29 00:01"]),
    # All of a fixed list of hours is fixed, though it names the same hours as a star.
    (
        "Europe/Paris",
        "30 0-23 * * *",
        "2027-03-28T00:00",
        ["2027-03-28 00:30", "2027-03-28 01:00", "2027-03-28 01:30"],
    ),
    # New York, 14 March 2027: 02:00 becomes 03:00 at 07:00 UTC.
    ("America/New_York", "30 2 * * *", "2027-03-13T12:00", ["2027-03-14 07:00", "2027-03-15 06:30"]),
    # Lord Howe, 3 October 2027: 02:00 becomes 02:30 at 15:30 UTC of the day before.
    ("Australia/Lord_Howe", "15 2 * * *", "2027-10-02T00:00", ["2027-10-02 15:30", "2027-10-03 15:15"]),
    ("Australia/Lord_Howe", "30 2 * * *", "2027-10-02T00:00", ["2027-10-02 15:30", "2027-10-03 15:30"]),
    # Beirut, 28 March 2027, and Santiago, 5 September 2027: midnight becomes 01:00.
    ("Asia/Beirut", "0 0 * * *", "2027-03-27T12:00", ["2027-03-27 22:00", "2027-03-28 21:00"]),
    ("America/Santiago", "@daily", "2027-09-04T12:00", ["2027-09-05 04:00", "2027-09-06 03:00"]),
    ("America/Santiago", "0 0 * * SUN", "2027-09-04T12:00", ["2027-09-05 04:00", "2027-09-12 03:00"]),
    # Dublin, 28 March 2027: 01:00 becomes 02:00 at 01:00 UTC.
    ("Europe/Dublin", "30 1 * * *", "2027-03-27T12:00", ["2027-03-28 01:00", "2027-03-29 00:30"]),
    # Apia had no 30 December 2011; Casey skipped three hours on 4 October 2020: neither is made up.
    ("Pacific/Apia", "30 2 * * *", "2011-12-29T00:00", ["2011-12-29 12:30", "2011-12-30 12:30"]),
    ("Pacific/Apia", "0 12 30 12 *", "2011-12-01T00:00", ["2012-12-29 22:00"]),
    ("Antarctica/Casey", "30 1 * * *", "2020-10-02T20:00", ["2020-10-04 14:30"]),
]

OVERLAPS = [
    # Paris, 31 October 2027: 03:00 becomes 02:00 at 01:00 UTC.
    ("Europe/Paris", "30 2 * * *", "2027-10-30T12:00", ["2027-10-31 00:30", "2027-11-01 01:30"]),
    ("Europe/Paris", "0 30 2 * * *", "2027-10-31T00:30", ["2027-11-01 01:30"]),
    ("Europe/Paris", "0 3 * * *", "2027-10-30T12:00", ["2027-10-31 02:00", "2027-11-01 02:00"]),
    ("Europe/Paris", "0 2 * * *", "2027-10-30T12:00", ["2027-10-31 00:00", "2027-11-01 01:00"]),
    (
        "Europe/Paris",
        "30 * * * *",
        "2027-10-31T00:00",
        ["2027-10-31 00:30", "2027-10-31 01:30", "2027-10-31 02:30"],
    ),
    (
        "Europe/Paris",
        "*/30 2 * * *",
        "2027-10-30T12:00",
        ["2027-10-31 00:00", "2027-10-31 00:30", "2027-10-31 01:00"],
    ),
    (
        "Europe/Paris",
        "30 1-3 * * *",
        "2027-10-30T23:00",
        ["2027-10-30 23:30", "2027-10-31 00:30", "2027-10-31 02:30"],
    ),
    # Begun in the second of the two hours, nothing of the first is repeated.
    ("Europe/Paris", "45 2 * * *", "2027-10-31T01:30", ["2027-11-01 01:45"]),
    ("America/New_York", "30 1 * * *", "2027-11-06T12:00", ["2027-11-07 05:30", "2027-11-08 06:30"]),
    ("Australia/Lord_Howe", "45 1 * * *", "2027-04-03T00:00", ["2027-04-03 14:45", "2027-04-04 15:15"]),
    ("Asia/Beirut", "30 23 * * *", "2027-10-30T00:00", ["2027-10-30 20:30", "2027-10-31 21:30"]),
    (
        "America/Santiago",
        "30 23 * * *",
        "2027-04-03T00:00",
        ["2027-04-03 02:30", "2027-04-04 02:30", "2027-04-05 03:30"],
    ),
    ("Europe/Dublin", "30 1 * * *", "2027-10-30T12:00", ["2027-10-31 00:30", "2027-11-01 01:30"]),
]


@pytest.mark.parametrize(("zone", "schedule", "after", "expected"), GAPS)
def test_a_fixed_time_in_a_gap_fires_once_when_the_gap_ends(
    zone: str, schedule: str, after: str, expected: list[str]
) -> None:
    assert fires(schedule, zone, after, len(expected)) == expected


@pytest.mark.parametrize(("zone", "schedule", "after", "expected"), OVERLAPS)
def test_a_fixed_time_that_comes_twice_fires_the_first_time(
    zone: str, schedule: str, after: str, expected: list[str]
) -> None:
    assert fires(schedule, zone, after, len(expected)) == expected


def test_a_schedule_of_elapsed_time_ignores_clock_changes() -> None:
    expected = ["2027-03-28 00:30", "2027-03-28 01:30", "2027-03-28 02:30"]
    assert fires("@every 1h", "Europe/Paris", "2027-03-27T23:30", 3) == expected


def test_an_occurrence_moved_out_of_a_gap_is_numbered_like_any_other() -> None:
    series = Series("30 2 * * *", "Europe/Paris", at("2027-03-25"))
    numbers = {said(each.due_at): each.sequence for each in islice(series.occurrences(series.start_at), 7)}
    assert numbers["2027-03-28 01:00"] == 4
    after_it = series.next_after(at("2027-03-28T01:00"))
    assert after_it is not None
    assert after_it.sequence == 5
    just_before = series.next_after(at("2027-03-28T01:00") - 1)
    assert just_before is not None
    assert just_before == Occurrence(at("2027-03-28T01:00"), 4)


def test_a_dueTime_within_a_repeated_hour_begins_with_the_next_night() -> None:  # noqa: N802 - a field's name
    due_at = at("2027-10-31T01:10")
    series = Series("15 2 * * *", "Europe/Paris", at("2027-10-30"), due_at)
    first = series.next_after(due_at - 1)
    assert first is not None
    assert said(first.due_at) == "2027-11-01 01:15"
