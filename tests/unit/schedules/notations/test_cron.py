"""Which texts are cron expressions, and which local times they match."""

from itertools import islice
from typing import Any

import pytest
from tests.unit.schedules.say import asked, at, fires

from sweephand.base.errors import InvalidError
from sweephand.base.limits import SCHEDULE_LENGTH_MAX
from sweephand.schedules import ScheduleError, Series
from sweephand.schedules.notations.cron import MACROS, parse_cron, parse_fields

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


@pytest.mark.parametrize(
    ("fields", "cron"),
    [
        ({"hour": "3,6,9", "dayOfWeek": "MON-FRI"}, "0 0 3,6,9 * * MON-FRI"),
        # A time field left out below a given one is 0, everything else left out is a star.
        ({"second": "*/20"}, "*/20 * * * * *"),
        ({"minute": "30"}, "0 30 * * * *"),
        ({"hour": "2"}, "0 0 2 * * *"),
        ({"second": "5", "hour": "2"}, "5 0 2 * * *"),
        ({"dayOfMonth": "15W"}, "0 0 0 15W * *"),
        ({"dayOfMonth": "L", "hour": "23", "minute": "59"}, "0 59 23 L * *"),
        ({"month": "JAN,jul", "dayOfMonth": "1"}, "0 0 0 1 1,7 *"),
        ({"month": "2"}, "0 0 0 * 2 *"),
        ({"dayOfWeek": "5#2"}, "0 0 0 * * 5#2"),
        ({"dayOfWeek": "L5", "minute": "10"}, "0 10 0 * * 5L"),
        # Both day fields restricted: either matches.
        ({"dayOfMonth": "1", "dayOfWeek": "MON"}, "0 0 0 1 * MON"),
        ({"hour": 3, "minute": 0}, "0 0 3 * * *"),
        ({"hour": "3", "minute": None}, "0 0 3 * * *"),
    ],
)
def test_named_fields_mean_the_expression_with_the_same_fields(fields: dict[str, Any], cron: str) -> None:
    series = Series(parse_fields(fields), "Europe/Paris", at("2027-01-01T00:00:00Z"))
    plain = Series(cron, "Europe/Paris", at("2027-01-01T00:00:00Z"))
    assert list(islice(series.occurrences(0), 40)) == list(islice(plain.occurrences(0), 40))


def test_a_series_with_a_year_ends_with_it() -> None:
    series = asked({"year": "2027,2028", "dayOfMonth": 29, "month": "2"})
    assert [each.due_at for each in series.occurrences(0)] == [at("2028-02-29")]
    assert series.last_at() == at("2028-02-29")
    with pytest.raises(InvalidError, match="never fires again"):
        asked({"year": "2025"})


def test_fields_that_are_left_out_decide_whether_an_expression_is_a_wildcard() -> None:
    # The hour is a star: it follows real time through the doubled hour.
    every_hour = Series(parse_fields({"minute": "30"}), "Europe/Paris", at("2027-10-30T23:45:00Z"))
    assert [each.due_at for each in islice(every_hour.occurrences(0), 3)] == [
        at("2027-10-31T00:30"),
        at("2027-10-31T01:30"),
        at("2027-10-31T02:30"),
    ]
    at_two = Series(parse_fields({"minute": "30", "hour": "2"}), "Europe/Paris", at("2027-10-30T23:45:00Z"))
    assert [each.due_at for each in islice(at_two.occurrences(0), 2)] == [
        at("2027-10-31T00:30"),
        at("2027-11-01T01:30"),
    ]
    assert fires("0 30 2 * * *", "Europe/Paris", "2027-10-30T23:45:00Z", 1) == ["2027-10-31 00:30"]


def test_named_fields_are_stored_as_an_object_and_read_back_equal() -> None:
    series = asked({"dayOfWeek": "MON-FRI", "hour": 3})
    item = series.to_item()
    assert item["schedule"] == {"hour": "3", "dayOfWeek": "MON-FRI"}
    assert Series.from_item(item) == series
    assert hash(Series.from_item(item)) == hash(series)


@pytest.mark.parametrize(
    ("fields", "pointers"),
    [
        ({}, [""]),
        ({"hour": None}, [""]),
        ({"hour": "25"}, ["/hour"]),
        ({"hour": ""}, ["/hour"]),
        ({"hour": 3.5}, ["/hour"]),
        ({"hour": True}, ["/hour"]),
        ({"hour": ["3"]}, ["/hour"]),
        ({"hour": -1}, ["/hour"]),
        ({"minute": "61", "hour": "25", "day": "1"}, ["/minute", "/hour", "/day"]),
        ({"dayofweek": "MON"}, ["/dayofweek"]),
        ({"a/b~": "MON"}, ["/a~1b~0"]),
        ({"year": "1969"}, ["/year"]),
        ({"dayOfMonth": "30", "month": "2"}, [""]),
        ({"dayOfMonth": "29", "month": "2", "year": "2029"}, [""]),
        ({"hour": ",".join(["3"] * SCHEDULE_LENGTH_MAX)}, ["/hour"]),
        ({"hour": ",".join(["3"] * 400), "minute": ",".join(["3"] * 400)}, [""]),
    ],
)
def test_an_invalid_value_of_named_fields_is_refused_by_its_field(
    fields: dict[str, Any], pointers: list[str]
) -> None:
    with pytest.raises(ScheduleError) as refusal:
        parse_fields(fields)
    faults = getattr(refusal.value, "faults", (refusal.value,))
    assert [each.pointer for each in faults] == pointers
    assert all("expected" in str(each) for each in faults)
