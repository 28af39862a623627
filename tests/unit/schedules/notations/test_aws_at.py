"""EventBridge's at(): a one-off at a local time."""

import pytest
from tests.unit.schedules.say import asked, at, said

from sweephand.base.errors import InvalidError
from sweephand.schedules import ScheduleError, Series
from sweephand.schedules.notations.parsing import parse_schedule


def dues(series: Series) -> list[str]:
    return [said(each.due_at) for each in series.occurrences(0)]


@pytest.mark.parametrize(
    ("zone", "expected"),
    [(None, "2027-07-01 09:00"), ("Europe/Dublin", "2027-07-01 08:00"), ("Asia/Kolkata", "2027-07-01 03:30")],
)
def test_an_at_expression_fires_once_at_the_local_time_of_the_zone(zone: str | None, expected: str) -> None:
    series = asked("at(2027-07-01T09:00:00)", timezone=zone)
    assert dues(series) == [expected]
    assert series.last_at() == at(expected)


def test_a_prefix_sets_the_zone() -> None:
    assert dues(asked("TZ=Asia/Kolkata at(2027-07-01T09:00:00)")) == ["2027-07-01 03:30"]


def test_a_time_in_a_gap_fires_when_the_gap_ends_and_a_repeated_time_fires_the_first_time() -> None:
    assert dues(asked("at(2027-03-28T02:30:00)", timezone="Europe/Paris")) == ["2027-03-28 01:00"]
    assert dues(asked("at(2027-10-31T02:30:00)", timezone="Europe/Paris")) == ["2027-10-31 00:30"]


def test_an_instant_up_to_a_minute_ago_means_now() -> None:
    assert dues(asked("at(2026-11-21T06:59:00)")) == ["2026-11-21 07:00"]
    assert dues(asked("at(2026-11-21T07:00:00)")) == ["2026-11-21 07:00"]
    with pytest.raises(InvalidError, match=r"'at\(2026-11-21T06:58:59\)' never fires again"):
        asked("at(2026-11-21T06:58:59)")


def test_an_at_expression_fires_at_or_after_the_due_time_or_is_refused() -> None:
    assert dues(asked("at(2027-07-01T09:00:00)", due_time="2027-07-01T09:00:00Z")) == ["2027-07-01 09:00"]
    with pytest.raises(InvalidError) as refusal:
        asked("at(2027-07-01T09:00:00)", due_time="2027-07-01T09:00:01Z")
    assert [each.pointer for each in refusal.value.violations] == ["/dueTime"]


@pytest.mark.parametrize(
    "text",
    [
        "at()",
        "at(2027-12-31)",
        "at(2027-12-31T23:59)",
        "at(2027-12-31T23:59:59Z)",
        "at(2027-12-31T23:59:59+01:00)",
        "at(2027-12-31T23:59:59.5)",
        "at(2027-12-31 23:59:59)",
        "at(2027-02-30T00:00:00)",
        "at(2027-01-01T24:00:00)",
        "at(2027-01-01T23:59:60)",
        "at(0000-01-01T00:00:00)",
    ],
)
def test_a_text_that_is_no_local_date_and_time_is_refused_and_quoted(text: str) -> None:
    with pytest.raises(ScheduleError) as refusal:
        parse_schedule(text)
    assert repr(text[3:-1]) in str(refusal.value)
    assert "expected" in str(refusal.value)
