"""On which days of a month a cron expression matches."""

import calendar
import datetime as dt
from itertools import takewhile

import pytest
from croniter import croniter

from sweephand.schedules import ScheduleError
from sweephand.schedules.notations import cron_pattern
from sweephand.schedules.notations.cron import parse_cron
from sweephand.schedules.notations.cron_pattern import MonthKind, WallPattern, kind_of, kinds_of


def days(day_of_month: str, day_of_week: str, year: int = 2026, month: int = 11) -> list[int]:
    """The days of a month on which an expression matches."""
    cron = parse_cron(f"0 0 {day_of_month} * {day_of_week}")
    assert isinstance(cron.pattern, WallPattern)
    return list(cron.pattern._days_of(year, month))


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


def test_the_nearest_workday_lies_in_the_month_of_its_day() -> None:
    assert days("1W", "*", 2026, 8) == [3]  # the 1st is a Saturday
    assert days("31W", "*", 2026, 5) == [29]  # the 31st is a Sunday
    assert days("LW", "*", 2026, 5) == [29]
    assert days("LW", "*", 2026, 10) == [30]  # the 31st is a Saturday


def test_the_months_of_400_years_are_of_28_kinds() -> None:
    met = {kind_of(year, month) for year in range(2000, 2400) for month in range(1, 13)}
    assert met == {kind for month in range(1, 13) for kind in kinds_of(month)}
    assert len(met) == 28
    assert kind_of(2026, 11) == MonthKind(6, 30)


#: Each special day, and how croniter writes it.
SPECIALS = [
    *((f"{day}W", f"{day}w", "*") for day in range(1, 32)),
    *((f"{weekday}L", "*", f"l{weekday}") for weekday in range(7)),
    *((f"{weekday}#{nth}", "*", f"{weekday}#{nth}") for weekday in range(7) for nth in range(1, 6)),
    *((str(weekday), "*", str(weekday)) for weekday in range(8)),
    ("L", "l", "*"),
]


@pytest.mark.parametrize(("ours", "day_of_month", "day_of_week"), SPECIALS)
def test_croniter_finds_the_same_days_in_every_kind_of_month(
    ours: str, day_of_month: str, day_of_week: str
) -> None:
    expression = f"0 0 {ours} * *" if day_of_week == "*" else f"0 0 * * {ours}"
    for kind in (kind for month in (1, 2, 4) for kind in kinds_of(month)):
        if ours.endswith("W") and int(ours[:-1]) > kind.length:
            continue  # it takes the last workday of a month that has no such day
        assert days_of(expression, kind) == days_of_croniter(day_of_month, day_of_week, kind)


@pytest.mark.parametrize("day", [*(f"{day}W" for day in range(1, 32)), "L", "LW"])
def test_special_days_of_the_month_are_those_of_quartz_in_every_kind_of_month(day: str) -> None:
    for kind in (kind for month in (1, 2, 4) for kind in kinds_of(month)):
        asked = kind.length if day in ("L", "LW") else int(day.removesuffix("W"))
        expected = nearest_workday(asked, kind) if day.endswith("W") and asked <= kind.length else asked
        assert days_of(f"0 0 {day} * *", kind) == ((expected,) if asked <= kind.length else ())


@pytest.mark.parametrize("weekday", range(7))
def test_special_weekdays_are_those_of_quartz_in_every_kind_of_month(weekday: int) -> None:
    for kind in (kind for month in (1, 2, 4) for kind in kinds_of(month)):
        # Sunday is 0 in cron and 6 in Python's calendar.
        such = [day for day in range(1, kind.length + 1) if (kind.first_weekday + day) % 7 == weekday]
        assert days_of(f"0 0 * * {weekday}L", kind) == (such[-1],)
        for nth in range(1, 6):
            assert days_of(f"0 0 * * {weekday}#{nth}", kind) == tuple(such[nth - 1 : nth])


def test_croniter_is_asked_few_questions_however_many_days_an_expression_names() -> None:
    days = [*(f"{day}W" for day in range(1, 32)), "L", "LW"]
    weekdays = [f"{weekday}{which}" for weekday in range(7) for which in ("L", "#1", "#2", "#3", "#4", "#5")]
    cron_pattern._found.cache_clear()
    for kind in (kind for month in (1, 2, 4) for kind in kinds_of(month)):
        assert days_of(f"0 0 {','.join(days)} * {','.join(weekdays)}", kind)
    assert cron_pattern._found.cache_info().misses < 50


def days_of(expression: str, kind: MonthKind) -> tuple[int, ...]:
    cron = parse_cron(expression)
    assert isinstance(cron.pattern, WallPattern)
    return cron.pattern._days.days_in(kind)


def nearest_workday(day: int, kind: MonthKind) -> int:
    """The workday nearest to a day, within its month."""
    match (kind.first_weekday + day - 1) % 7:
        case 5:
            return day - 1 if day > 1 else day + 2
        case 6:
            return day + 1 if day < kind.length else day - 2
        case _:
            return day


def days_of_croniter(day_of_month: str, day_of_week: str, kind: MonthKind) -> tuple[int, ...]:
    """The days on which croniter fires in a month of that kind."""
    first = next(
        dt.datetime(year, month, 1, tzinfo=dt.UTC)
        for year in range(2001, 2029)
        for month in range(1, 13)
        if calendar.monthrange(year, month) == tuple(kind)
    )
    last = first + dt.timedelta(days=kind.length - 1)
    finder = croniter(
        f"0 0 {day_of_month} * {day_of_week}", first - dt.timedelta(seconds=1), ret_type=dt.datetime
    )
    return tuple(each.day for each in takewhile(lambda each: each <= last, iter(finder.get_next, None)))


def test_an_error_of_croniter_becomes_a_schedule_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise ValueError("not today")

    cron_pattern._found.cache_clear()
    monkeypatch.setattr("croniter.croniter", refuse)
    with pytest.raises(ScheduleError, match=r"'15W .*cannot be read"):
        parse_cron("0 0 15W * *")
