"""Which texts are cron expressions, and which local times they match."""

import pytest
from tests.unit.schedules.say import fires

from sweephand.schedules import ScheduleError
from sweephand.schedules.notations.cron import MACROS, parse_cron

YEAR = "2026-01-01T00:00:00Z"


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
def test_a_cron_expression_matches_the_tabled_times(expression: str, expected: list[str]) -> None:
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


@pytest.mark.parametrize("day", ["L", "LW", "15W", "31W", "10,L", "?", "*/7"])
@pytest.mark.parametrize("weekday", ["5L", "L5", "FRI#2", "5#5", "7", "mon-fri", "*"])
def test_special_days_match_the_same_days_in_expressions_of_five_and_of_six_fields(
    day: str, weekday: str
) -> None:
    five, six = (f"{seconds}0 9 {day} * {weekday}" for seconds in ("", "0 "))
    assert fires(five, "UTC", YEAR, 40) == fires(six, "UTC", YEAR, 40)


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
def test_a_day_that_occurs_once_in_many_years_is_found(expression: str, expected: str) -> None:
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
def test_an_invalid_cron_expression_is_refused_with_the_part_that_is_wrong(
    expression: str, part: str
) -> None:
    with pytest.raises(ScheduleError) as refusal:
        parse_cron(expression)
    assert part in str(refusal.value)
    assert "expected" in str(refusal.value)
