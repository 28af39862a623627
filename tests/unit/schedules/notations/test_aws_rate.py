"""EventBridge's rate(): elapsed time, the first fire at once."""

from itertools import islice

import pytest
from tests.unit.schedules.say import asked, at, said

from sweephand.schedules import Occurrence, ScheduleError, Series
from sweephand.schedules.notations.parsing import parse_schedule

NOW = at("2026-11-21T07:00:00Z")


def dues(series: Series, count: int = 3, after: int = NOW - 1) -> list[str]:
    return [said(each.due_at) for each in islice(series.occurrences(after), count)]


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("rate(1 minute)", ["2026-11-21 07:00", "2026-11-21 07:01", "2026-11-21 07:02"]),
        ("rate(5 minutes)", ["2026-11-21 07:00", "2026-11-21 07:05", "2026-11-21 07:10"]),
        ("rate(1 hour)", ["2026-11-21 07:00", "2026-11-21 08:00", "2026-11-21 09:00"]),
        ("rate(36 hours)", ["2026-11-21 07:00", "2026-11-22 19:00", "2026-11-24 07:00"]),
        ("rate(1 day)", ["2026-11-21 07:00", "2026-11-22 07:00", "2026-11-23 07:00"]),
    ],
)
def test_the_first_fire_is_now_and_the_others_follow_in_elapsed_time(
    schedule: str, expected: list[str]
) -> None:
    assert dues(asked(schedule)) == expected


def test_a_due_time_is_the_first_fire() -> None:
    series = asked("rate(1 hour)", due_time="2026-12-01T00:00:30Z")
    assert dues(series, 2) == ["2026-12-01 00:00:30.000", "2026-12-01 01:00:30.000"]


def test_a_rate_of_one_day_is_24_hours_across_a_clock_change() -> None:
    series = asked("rate(1 day)", timezone="America/New_York", now="2027-03-13T12:00:00Z")
    assert dues(series) == ["2027-03-13 12:00", "2027-03-14 12:00", "2027-03-15 12:00"]


def test_the_hundred_millionth_occurrence_of_a_rate_is_found_without_a_walk() -> None:
    series = asked("rate(1 minute)")
    assert series.next_after(NOW + 60_000 * 10**8 - 1) == Occurrence(NOW + 60_000 * 10**8, 10**8 + 1)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("rate()", "''"),
        ("rate(10)", "'10'"),
        ("rate(0 minutes)", "'0 minutes'"),
        ("rate(-1 minutes)", "'-1 minutes'"),
        ("rate(1.5 hours)", "'1.5 hours'"),
        ("rate(five minutes)", "'five minutes'"),
        ("rate(10 seconds)", "'seconds'"),
        ("rate(2 weeks)", "'weeks'"),
        ("rate(1 minutes)", "'minutes'"),
        ("rate(2 minute)", "'minute'"),
        ("rate(2 MINUTES)", "'2 MINUTES'"),
        ("rate( 2 minutes )", "' 2 minutes '"),
        ("rate(2  minutes)", "'2  minutes'"),
        ("rate(2 minutes", "'rate(2 minutes'"),
        ("rate (2 minutes)", "'rate (2 minutes)'"),
        ("Rate(2 minutes)", "'Rate(2 minutes)'"),
        (" rate(2 minutes)", "' rate(2 minutes)'"),
        ("rate(2 minutes) ", "'rate(2 minutes) '"),
        ("rate(2 minutes)(x)", "'rate(2 minutes)(x)'"),
        ("rate(999999999999 days)", "too long"),
    ],
)
def test_a_rate_that_eventbridge_refuses_is_refused_and_quoted(text: str, part: str) -> None:
    with pytest.raises(ScheduleError) as refusal:
        parse_schedule(text)
    assert part in str(refusal.value)
    assert "expected" in str(refusal.value)
