"""EventBridge Scheduler's three notations: `rate()`, `cron()` and `at()`."""

from itertools import islice

import pytest
from tests.unit.schedules.say import asked, at, fires, said

from sweephand.base.errors import InvalidError
from sweephand.schedules import Occurrence, ScheduleError, Series
from sweephand.schedules.notations.parsing import parse_schedule

YEAR = "2027-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("cron(0 10 * * ? *)", ["2027-01-01 10:00", "2027-01-02 10:00"]),
        # 1 is Sunday and 7 Saturday.
        ("cron(0 10 ? * 1 *)", ["2027-01-03 10:00", "2027-01-10 10:00"]),
        ("cron(0 10 ? * 7 *)", ["2027-01-02 10:00", "2027-01-09 10:00"]),
        ("cron(0 10 ? * SUN *)", ["2027-01-03 10:00", "2027-01-10 10:00"]),
        ("cron(0 18 ? * Mon-Fri *)", ["2027-01-01 18:00", "2027-01-04 18:00"]),
        ("cron(0 18 ? * 2-6 *)", ["2027-01-01 18:00", "2027-01-04 18:00"]),
        # From Saturday over the end of the week to Monday.
        (
            "cron(0 18 ? * 7-2 *)",
            ["2027-01-02 18:00", "2027-01-03 18:00", "2027-01-04 18:00", "2027-01-09 18:00"],
        ),
        (
            "cron(0 22-1 * * ? *)",
            ["2027-01-01 01:00", "2027-01-01 22:00", "2027-01-01 23:00", "2027-01-02 00:00"],
        ),
        ("cron(0 22-3/2 * * ? *)", ["2027-01-01 02:00", "2027-01-01 22:00", "2027-01-02 00:00"]),
        ("cron(1/20 8 ? * * *)", ["2027-01-01 08:01", "2027-01-01 08:21", "2027-01-01 08:41"]),
        ("cron(*/30 8 1 * ? *)", ["2027-01-01 08:00", "2027-01-01 08:30", "2027-02-01 08:00"]),
        ("cron(0 8 1 1/6 ? *)", ["2027-01-01 08:00", "2027-07-01 08:00", "2028-01-01 08:00"]),
        ("cron(0 8 1 FEB,JUL ? *)", ["2027-02-01 08:00", "2027-07-01 08:00"]),
        # Days that depend on the month.
        ("cron(0 8 L * ? *)", ["2027-01-31 08:00", "2027-02-28 08:00"]),
        ("cron(0 8 L-3 * ? *)", ["2027-01-28 08:00", "2027-02-25 08:00"]),
        ("cron(0 8 L-30 * ? *)", ["2027-01-01 08:00", "2027-03-01 08:00", "2027-05-01 08:00"]),
        ("cron(0 8 LW * ? *)", ["2027-01-29 08:00", "2027-02-26 08:00"]),
        ("cron(0 8 3W * ? *)", ["2027-01-04 08:00", "2027-02-03 08:00"]),
        ("cron(0 8 31W * ? *)", ["2027-01-29 08:00", "2027-03-31 08:00", "2027-05-31 08:00"]),
        ("cron(0 8 ? * 6L *)", ["2027-01-29 08:00", "2027-02-26 08:00"]),
        ("cron(0 8 ? * FRIL *)", ["2027-01-29 08:00", "2027-02-26 08:00"]),
        ("cron(0 8 ? * L *)", ["2027-01-02 08:00", "2027-01-09 08:00"]),
        ("cron(0 8 ? * 3#2 *)", ["2027-01-12 08:00", "2027-02-09 08:00"]),
        ("cron(0 8 ? * SAT#5 *)", ["2027-01-30 08:00", "2027-05-29 08:00"]),
        # Years.
        ("cron(0 8 1 1 ? 2030)", ["2030-01-01 08:00"]),
        ("cron(0 8 29 2 ? 2027-2035)", ["2028-02-29 08:00", "2032-02-29 08:00"]),
        ("cron(0 8 1 1 ? 2029,2031)", ["2029-01-01 08:00", "2031-01-01 08:00"]),
        ("cron(0 8 1 1 ? 2028/100)", ["2028-01-01 08:00", "2128-01-01 08:00"]),
        ("cron(0 8 1 1 ? */200)", ["2170-01-01 08:00"]),
        ("cron(59 23 31 12 ? 2199)", ["2199-12-31 23:59"]),
    ],
)
def test_an_aws_cron_expression_matches_as_eventbridge_documents(schedule: str, expected: list[str]) -> None:
    assert fires(schedule, "UTC", YEAR, len(expected)) == expected


def test_a_series_with_years_ends_with_them_and_knows_its_end() -> None:
    series = asked("cron(0 10 ? * 6L 2027)")
    assert len(list(series.occurrences(0))) == 12
    assert series.last_at() == at("2027-12-31T10:00Z")
    assert asked("cron(0 10 ? * 6L 2027)", ttl="2027-03-01T00:00:00Z").last_at() == at("2027-02-26T10:00Z")
    assert asked("cron(0 10 ? * 6L 2027)", repeats=3).last_at() == at("2027-03-26T10:00Z")
    assert asked("cron(0 10 ? * 6L 2027)", repeats=13).last_at() == at("2027-12-31T10:00Z")
    assert asked("cron(0 10 ? * 6L *)").last_at() is None


@pytest.mark.parametrize("zone", ["UTC", "Pacific/Kiritimati", "Etc/GMT+12"])
def test_the_last_hour_of_the_last_year_is_included_in_every_zone(zone: str) -> None:
    series = Series("cron(0 * * * ? 2027)", zone, at("2027-06-01T00:00:00Z"))
    last_at = series.last_at()
    assert last_at is not None
    assert [each.due_at for each in series.occurrences(last_at - 1)] == [last_at]
    before = at("2027-12-31T00:00:00Z")
    assert last_at == max(each.due_at for each in series.occurrences(before))


def test_a_clock_change_affects_an_aws_cron_expression_like_any_cron_expression() -> None:
    assert fires("cron(30 2 28 3 ? 2027)", "Europe/Paris", YEAR, 2) == ["2027-03-28 01:00"]
    assert fires("cron(30 2 31 10 ? 2027)", "Europe/Paris", YEAR, 2) == ["2027-10-31 00:30"]


@pytest.mark.parametrize("years", ["2026", "2000-2025", "1970"])
def test_an_aws_cron_expression_that_never_fires_again_is_refused(years: str) -> None:
    with pytest.raises(InvalidError, match="never fires again"):
        asked(f"cron(0 0 1 1 ? {years})")


@pytest.mark.parametrize(
    ("fields", "part"),
    [
        ("", "0 fields"),
        ("0 18 ? * MON-FRI", "5 fields"),
        ("0 0 18 ? * MON-FRI *", "7 fields"),
        ("0 18 * * * *", "expected ? in one of the two"),
        ("0 18 ? * ? *", "expected ? in one of the two"),
        ("0 18 15 * MON *", "expected ? in one of the two"),
        ("? 18 * * ? *", "'?' in the minute field"),
        ("60 18 * * ? *", "'60' in the minute field"),
        ("65/15 10 * * ? *", "'65' in '65/15'"),
        ("5/155 10 * * ? *", "'155'"),
        ("*/0 10 * * ? *", "'0'"),
        ("0 24 * * ? *", "'24' in the hour field"),
        ("0 1-7/2, * * ? *", "'' in the hour field"),
        ("0 18 0 * ? *", "'0' in the day-of-month field"),
        ("0 18 32W * ? *", "'32' in '32W'"),
        ("0 18 W * ? *", "'W'"),
        ("0 18 3L * ? *", "'3L'"),
        ("0 18 L-31 * ? *", "'L-31'"),
        ("0 18 15W,20 * ? *", "'15W'"),
        ("0 18 31 4,9,13 ? *", "'13' in the month field"),
        ("0 18 1 JAN-FEV ? *", "'FEV' in 'JAN-FEV'"),
        ("0 18 ? * 0 *", "'0' in the day-of-week field"),
        ("0 18 ? * 8 *", "'8' in the day-of-week field"),
        ("0 18 ? * 2#6 *", "'2#6'"),
        ("0 18 ? * 3#1,6#3 *", "'3#1'"),
        ("0 18 ? * L-2 *", "'L' in 'L-2'"),
        ("0 18 ? * * 1969", "'1969' in the year field"),
        ("0 18 ? * * 2000-2200", "'2200' in '2000-2200'"),
        ("0 18 ? * * 2030-2029", "may not run backwards"),
        ("0 18 30 2 ? *", "never comes"),
        ("0 18 29 2 ? 2029", "'29 2 ? 2029'"),
        ("0 18 *-5 * ? *", "'*-5'"),
        ("0000000005 18 * * ? *", "'0000000005' in the minute field"),
        ("0 18 ?/10 * ? *", "'?' in '?/10'"),
        ("0 18 ? * 6L,MON *", "'6L'"),
    ],
)
def test_a_cron_expression_that_eventbridge_refuses_is_refused_and_quoted(fields: str, part: str) -> None:
    with pytest.raises(ScheduleError) as refusal:
        parse_schedule(f"cron({fields})")
    assert part in str(refusal.value)
    assert "expected" in str(refusal.value)


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


def all_dues(series: Series) -> list[str]:
    return [said(each.due_at) for each in series.occurrences(0)]


@pytest.mark.parametrize(
    ("zone", "expected"),
    [(None, "2027-07-01 09:00"), ("Europe/Dublin", "2027-07-01 08:00"), ("Asia/Kolkata", "2027-07-01 03:30")],
)
def test_an_at_expression_fires_once_at_the_local_time_of_the_zone(zone: str | None, expected: str) -> None:
    series = asked("at(2027-07-01T09:00:00)", timezone=zone)
    assert all_dues(series) == [expected]
    assert series.last_at() == at(expected)


def test_a_prefix_sets_the_zone() -> None:
    assert all_dues(asked("TZ=Asia/Kolkata at(2027-07-01T09:00:00)")) == ["2027-07-01 03:30"]


def test_a_time_in_a_gap_fires_when_the_gap_ends_and_a_repeated_time_fires_the_first_time() -> None:
    assert all_dues(asked("at(2027-03-28T02:30:00)", timezone="Europe/Paris")) == ["2027-03-28 01:00"]
    assert all_dues(asked("at(2027-10-31T02:30:00)", timezone="Europe/Paris")) == ["2027-10-31 00:30"]


def test_an_instant_up_to_a_minute_ago_means_now() -> None:
    assert all_dues(asked("at(2026-11-21T06:59:00)")) == ["2026-11-21 07:00"]
    assert all_dues(asked("at(2026-11-21T07:00:00)")) == ["2026-11-21 07:00"]
    with pytest.raises(InvalidError, match=r"'at\(2026-11-21T06:58:59\)' never fires again"):
        asked("at(2026-11-21T06:58:59)")


def test_an_at_expression_fires_at_or_after_the_due_time_or_is_refused() -> None:
    assert all_dues(asked("at(2027-07-01T09:00:00)", due_time="2027-07-01T09:00:00Z")) == ["2027-07-01 09:00"]
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
