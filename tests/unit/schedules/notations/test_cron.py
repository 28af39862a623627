"""Which texts are cron, and which wall times they match."""

import pytest
from tests.unit.schedules.say import fires

from sweephand.schedules import ScheduleError
from sweephand.schedules.clock.wall_pattern import WallPattern
from sweephand.schedules.notations import cron_days
from sweephand.schedules.notations.cron import MACROS, parse_cron
from sweephand.schedules.notations.cron_days import MonthKind, kind_of, kinds_of

YEAR = "2026-01-01T00:00:00Z"


def days(day_of_month: str, day_of_week: str, year: int = 2026, month: int = 11) -> list[int]:
    """The days of a month on which an expression matches."""
    cron = parse_cron(f"0 0 {day_of_month} * {day_of_week}")
    assert isinstance(cron.pattern, WallPattern)
    return list(cron.pattern._days_of(year, month))


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("30 2 * * *", ["2026-01-01 02:30", "2026-01-02 02:30"]),
        ("15 30 2 * * *", ["2026-01-01 02:30:15.000", "2026-01-02 02:30:15.000"]),
        ("* * * * *", ["2026-01-01 00:01", "2026-01-01 00:02"]),
        ("* * * * * *", ["2026-01-01 00:00:01.000", "2026-01-01 00:00:02.000"]),
        (
            "*/20 9-17/8 * * *",
            ["2026-01-01 09:00", "2026-01-01 09:20", "2026-01-01 09:40", "2026-01-01 17:00"],
        ),
        ("10/25 0 * * *", ["2026-01-01 00:10", "2026-01-01 00:35", "2026-01-02 00:10"]),
        ("5,1,5 0 * * *", ["2026-01-01 00:01", "2026-01-01 00:05", "2026-01-02 00:01"]),
        ("0 0 1 feb-APR *", ["2026-02-01 00:00", "2026-03-01 00:00", "2026-04-01 00:00", "2027-02-01 00:00"]),
        ("0 0 * * tue", ["2026-01-06 00:00", "2026-01-13 00:00"]),
        ("0 0 ? ? MON", ["2026-01-05 00:00", "2026-01-12 00:00"]),
        ("? 0 1 1 *", ["2026-01-01 00:01", "2026-01-01 00:02"]),
        ("0 0 29 2 *", ["2028-02-29 00:00", "2032-02-29 00:00"]),
        ("0 0 */100 1 *", ["2027-01-01 00:00", "2028-01-01 00:00"]),
        ("\t0  0 1\t1 * ", ["2027-01-01 00:00"]),
        ("007 00 01 01 *", ["2026-01-01 00:07"]),
    ],
)  # fmt: skip
def test_an_expression_matches(expression: str, expected: list[str]) -> None:
    assert fires(expression, "UTC", YEAR, len(expected)) == expected


@pytest.mark.parametrize("macro", sorted(MACROS))
def test_a_macro_is_its_expression(macro: str) -> None:
    expected = {
        "@yearly": "2027-01-01 00:00",
        "@annually": "2027-01-01 00:00",
        "@monthly": "2026-02-01 00:00",
        "@weekly": "2026-01-04 00:00",
        "@daily": "2026-01-02 00:00",
        "@midnight": "2026-01-02 00:00",
        "@hourly": "2026-01-01 01:00",
    }
    assert fires(macro, "UTC", YEAR, 1) == [expected[macro]]


# November 2026 begins on a Sunday and has 30 days.
@pytest.mark.parametrize(
    ("day_of_month", "day_of_week", "expected"),
    [
        ("*", "0", [1, 8, 15, 22, 29]),
        ("*", "7", [1, 8, 15, 22, 29]),
        ("*", "SUN", [1, 8, 15, 22, 29]),
        ("*", "5-7", [1, 6, 7, 8, 13, 14, 15, 20, 21, 22, 27, 28, 29]),
        ("*", "0,7", [1, 8, 15, 22, 29]),
        ("*", "*/7", [1, 8, 15, 22, 29]),
        ("*", "1/2", [2, 4, 6, 9, 11, 13, 16, 18, 20, 23, 25, 27, 30]),
        ("*", "7/2", [1, 8, 15, 22, 29]),
        ("13", "FRI", [6, 13, 20, 27]),
        ("1", "MON", [1, 2, 9, 16, 23, 30]),
        ("*/10", "MON", []),
        ("*/15", "SUN,MON", [1, 16]),
        ("?/10", "SUN", [1]),
        ("1-31", "MON", list(range(1, 31))),
        ("10/10", "MON", [2, 9, 10, 16, 20, 23, 30]),
        ("1,2,3", "*/6", [1]),
        ("1,*", "1", list(range(1, 31))),
        ("*,1", "1", [2, 9, 16, 23, 30]),
        ("L", "*", [30]),
        ("l", "*", [30]),
        ("LW", "*", [30]),
        ("L,5", "*", [5, 30]),
        ("*", "5L", [27]),
        ("*", "L5", [27]),
        ("*", "l5", [27]),
        ("*", "0L", [29]),
        ("*", "7L", [29]),
        ("*", "5#2", [13]),
        ("*", "fri#2", [13]),
        ("*", "7#1", [1]),
        ("*", "1#5", [30]),
        ("*", "2#5", []),
        ("*", "5#2,5L,1", [2, 9, 13, 16, 23, 27, 30]),
        ("15W", "*", [16]),
        ("14w", "*", [13]),
        ("1W", "*", [2]),
        ("29W", "*", [30]),
        ("15W,20,L", "*", [16, 20, 30]),
        ("31W", "*", []),
        ("31", "*", []),
        ("15W", "1", [2, 9, 16, 23, 30]),
        ("15", "5#2", [13, 15]),
        ("L", "5L", [27, 30]),
        ("30W", "1#5", [30]),
    ],
)
def test_days_match_where_either_field_does_unless_one_begins_with_a_star(
    day_of_month: str, day_of_week: str, expected: list[int]
) -> None:
    assert days(day_of_month, day_of_week) == expected


@pytest.mark.parametrize("day", ["L", "LW", "15W", "31W", "10,L", "?", "*/7"])
@pytest.mark.parametrize("weekday", ["5L", "L5", "FRI#2", "5#5", "7", "mon-fri", "*"])
def test_special_days_are_the_same_with_six_fields(day: str, weekday: str) -> None:
    five, six = (f"{seconds}0 9 {day} * {weekday}" for seconds in ("", "0 "))
    assert fires(five, "UTC", YEAR, 40) == fires(six, "UTC", YEAR, 40)


def test_a_workday_does_not_leave_its_month() -> None:
    assert days("1W", "*", 2026, 8) == [3]  # the 1st is a Saturday
    assert days("31W", "*", 2026, 5) == [29]  # the 31st is a Sunday
    assert days("LW", "*", 2026, 5) == [29]
    assert days("LW", "*", 2026, 10) == [30]  # the 31st is a Saturday


def test_there_are_28_kinds_of_months_and_each_is_met() -> None:
    met = {kind_of(year, month) for year in range(2000, 2400) for month in range(1, 13)}
    assert met == {kind for month in range(1, 13) for kind in kinds_of(month)}
    assert len(met) == 28
    assert kind_of(2026, 11) == MonthKind(6, 30)


@pytest.mark.parametrize(
    "expression",
    [
        "0 0 30 2 *",
        "0 0 0 31 2,4,6,9,11 *",
        "0 0 31W 4 ?",
        "0 0 30,31 2 *",
        "0 0 */100 * 1#2",
        "0 0 */31 2 2#5",
    ],
)
def test_an_expression_that_can_never_match_is_refused(expression: str) -> None:
    with pytest.raises(ScheduleError, match="never comes"):
        parse_cron(expression)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("0 0 29 2 */1,1", "2028-02-29 00:00"),
        ("0 0 29 2 1", "2026-02-02 00:00"),
        ("0 0 */28 2 1#5", "2044-02-29 00:00"),
    ],
)
def test_a_day_that_comes_seldom_is_found(expression: str, expected: str) -> None:
    assert fires(expression, "UTC", YEAR, 1) == [expected]


@pytest.mark.parametrize(
    ("expression", "part"),
    [
        ("", "has 0 fields"),
        ("*", "has 1 field;"),
        ("* * * *", "has 4 fields"),
        ("* * * * * * *", "has 7 fields"),
        ("60 * * * *", "'60' in the minute field"),
        ("60 * * * * *", "'60' in the second field"),
        ("* 24 * * *", "'24' in the hour field"),
        ("* * 0 * *", "'0' in the day-of-month field"),
        ("* * 32 * *", "'32' in the day-of-month field"),
        ("* * * 0 *", "'0' in the month field"),
        ("* * * 13 *", "'13' in the month field"),
        ("* * * * 8", "'8' in the day-of-week field"),
        ("JAN * * * *", "'JAN' in the minute field"),
        ("* * * MON *", "'MON' in the month field"),
        ("* * * * JAN", "'JAN' in the day-of-week field"),
        ("* * * * MONDAY", "'MONDAY'"),
        ("5-1 * * * *", "'5-1' in the minute field: a range may not run backwards"),
        ("* * * * FRI-SUN", "or 7 for Sunday"),
        ("1-2-3 * * * *", "'2-3' in '1-2-3'"),
        ("5--5 * * * *", "'-5' in '5--5'"),
        ("-1 * * * *", "''"),
        ("1- * * * *", "'' in '1-'"),
        ("*/0 * * * *", "'*/0' in the minute field"),
        ("*/ * * * *", "'*/'"),
        ("*//2 * * * *", "'*//2'"),
        ("*/-2 * * * *", "'*/-2'"),
        ("*/2/3 * * * *", "'*/2/3'"),
        ("*-5 * * * *", "'*' in '*-5'"),
        ("1,,2 * * * *", "''"),
        (", * * * *", "''"),
        ("+5 * * * *", "'+5'"),
        ("1.5 * * * *", "'1.5'"),
        ("1_0 * * * *", "'1_0'"),
        ("٣ * * * *", "'٣'"),
        ("H * * * *", "'H'"),
        ("R * * * *", "'R'"),
        ("L * * * *", "'L' in the minute field"),
        ("* * W * *", "'W'"),
        ("* * 0W * *", "'0' in '0W'"),
        ("* * 32W * *", "'32' in '32W'"),
        ("* * W15 * *", "'W15'"),
        ("* * L-3 * *", "'L' in 'L-3'"),
        ("* * L/2 * *", "'L' in 'L/2'"),
        ("* * 1#1 * *", "'1#1' in the day-of-month field"),
        ("* * * * L", "'L' in the day-of-week field"),
        ("* * * * 15W", "'15W'"),
        ("* * * * 8L", "'8' in '8L'"),
        ("* * * * 5#0", "'5#0' in the day-of-week field: expected #1 to #5"),
        ("* * * * 5#6", "'5#6'"),
        ("* * * * 8#1", "'8' in '8#1'"),
        ("* * * * #1", "'#1'"),
        ("* * * * 1-5#1", "'5#1' in '1-5#1'"),
        ("* * * * MONL", "'MONL'"),
        ("99999999999999999999 * * * *", "'99999999999999999999'"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_part_that_is_wrong(expression: str, part: str) -> None:
    with pytest.raises(ScheduleError) as refusal:
        parse_cron(expression)
    assert part in str(refusal.value)
    assert "expected" in str(refusal.value)


def test_a_refusal_of_croniter_is_an_error_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise ValueError("not today")

    cron_days._found.cache_clear()
    monkeypatch.setattr("croniter.croniter", refuse)
    with pytest.raises(ScheduleError, match=r"'15W .*cannot be read"):
        parse_cron("0 0 15W * *")
