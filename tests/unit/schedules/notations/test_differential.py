"""Other libraries answer the same, each on the ground where its rule is ours.

Where their rules are others is told in docs/schedules.md.
"""

import calendar
import datetime as dt
from itertools import islice, takewhile

import pytest
from aws_croniter import AwsCroniter
from croniter import croniter
from cronsim import CronSim
from hypothesis import assume, given, reject
from hypothesis import strategies as st
from tests.unit.schedules.oracle import packaged
from tests.unit.schedules.say import unhurried
from tests.unit.schedules.strategies import aws_crons, crons, starts

from sweephand.base.instants import DAY_MS, from_datetime, to_datetime
from sweephand.schedules import Series
from sweephand.schedules.clock.wall_pattern import WallPattern
from sweephand.schedules.notations import cron_days
from sweephand.schedules.notations.cron import parse_cron
from sweephand.schedules.notations.cron_days import MonthKind, kinds_of

#: Not Lord Howe, where cronsim misses what follows half an hour after a whole one, and no zone that moved by
#: three hours or more, which cronsim makes up.
ZONES_OF_CRONSIM = (
    "Africa/Casablanca",
    "America/New_York",
    "America/Santiago",
    "Antarctica/Troll",
    "Asia/Beirut",
    "Asia/Kathmandu",
    "Europe/Dublin",
    "Europe/Riga",
    "UTC",
)


@given(crons(), st.sampled_from(ZONES_OF_CRONSIM), starts)
@unhurried
def test_cronsim_fires_at_the_same_instants(expression: str, zone: str, start_at: int) -> None:
    info = packaged(zone)
    start = to_datetime(start_at).replace(microsecond=0).astimezone(info)
    assume(start.fold == 0)  # it takes a start within the second showing for one within the first
    end_at = start_at + 300 * DAY_MS
    theirs = takewhile(lambda each: each <= end_at, map(from_datetime, CronSim(expression, start)))
    ours = Series(expression, zone, from_datetime(start), ttl_at=end_at).occurrences(from_datetime(start))
    assert list(islice((each.due_at for each in ours), 200)) == list(islice(theirs, 200))


@given(crons(), starts)
@unhurried
def test_croniter_finds_the_same_times_on_a_wall_without_a_zone(expression: str, start_at: int) -> None:
    _, _, day_of_month, _, day_of_week = expression.split()
    # Specials in lists are not its own; a step from a star it joins as if it restricted.
    assume(not set(expression) & set("L#W"))
    assume("*" in (day_of_month, day_of_week) or "*" not in day_of_month + day_of_week)
    start = to_datetime(start_at)
    theirs = croniter(expression, start, ret_type=dt.datetime)
    expected = [from_datetime(theirs.get_next()) for _ in range(20)]
    ours = Series(expression, "UTC", start_at).occurrences(start_at)
    assert [each.due_at for each in islice(ours, 20)] == expected


@given(aws_crons(), starts)
@unhurried
def test_aws_croniter_fires_at_the_same_instants(schedule: str, start_at: int) -> None:
    written = schedule.removeprefix("cron(").removesuffix(")")
    start_at -= start_at % 60_000
    try:
        theirs = AwsCroniter(written).get_next(to_datetime(start_at), 10)
    except ValueError:
        reject()  # LW, a step of years or of weekdays: not its own
    # Nor does it find what comes after a century without any.
    expected = [from_datetime(each) for each in theirs if each is not None]
    ours = Series(schedule, "UTC", start_at).occurrences(start_at)
    assert [each.due_at for each in islice(ours, len(expected))] == expected


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
    cron_days._found.cache_clear()
    for kind in (kind for month in (1, 2, 4) for kind in kinds_of(month)):
        assert days_of(f"0 0 {','.join(days)} * {','.join(weekdays)}", kind)
    assert cron_days._found.cache_info().misses < 50


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
