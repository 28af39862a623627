"""EventBridge's cron(): its numbers, its wildcards and its year."""

import pytest
from tests.unit.schedules.say import asked, at, fires

from sweephand.base.errors import InvalidError
from sweephand.schedules import ScheduleError, Series
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
