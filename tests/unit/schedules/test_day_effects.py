"""Which days a calendar takes from a schedule, compared with an enumeration, and by example."""

import datetime as dt
from collections.abc import Iterator
from itertools import islice, takewhile
from random import Random

import pytest
from cronsim import CronSim
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.schedules import strategies
from tests.unit.schedules.say import at, said, unhurried
from tests.unit.schedules.test_days import ALL_ZONES, EPOCH, Naive, day_of, expression, rule

from sweephand.base.instants import DAY_MS, SECOND_MS, to_datetime
from sweephand.schedules import Series
from sweephand.schedules.clock.dst import DstRule
from sweephand.schedules.clock.fitting_days import wall_of
from sweephand.schedules.clock.zones import DAY_S, zone_named
from sweephand.schedules.day_effects import DayEffect, day_effects, moved_from, moved_to
from sweephand.schedules.day_rule import EVERY_DAY, DayRule
from sweephand.schedules.schedule import InstantList

#: How many occurrences of a schedule of each second are compared.
LOOKED_AT_MAX = 600


def days_of(series: Series, after: int, through: int) -> Iterator[tuple[int, int]]:
    """Each occurrence that the schedule would have without its calendar, with its local day."""
    every_day = EVERY_DAY if series.days is not None and series.days.moves else None
    plain = Series(
        series.schedule, series.timezone, series.start_at, series.due_at, series.ttl_at, dst=series.dst,
        jitter_ms=series.jitter_ms, days=every_day,
    )  # fmt: skip
    zone = zone_named(series.timezone)
    for each in takewhile(lambda one: one.due_at <= through, islice(plain.occurrences(after), LOOKED_AT_MAX)):
        yield each.due_at, wall_of(each.due_at - series.jitter_ms, zone) // DAY_S


@given(st.data(), strategies.series())
@unhurried
def test_days_are_those_of_an_enumeration(data: st.DataObject, drawn: Series) -> None:
    days = drawn.days or data.draw(strategies.day_rules(drawn.start_at))
    series = Series(
        drawn.schedule, drawn.timezone, drawn.start_at, drawn.due_at, drawn.ttl_at, dst=drawn.dst,
        jitter_ms=drawn.jitter_ms, days=days,
    )  # fmt: skip
    through = drawn.start_at + data.draw(st.integers(0, 30)) * DAY_MS
    found = [*days_of(series, drawn.start_at, through)]
    through = found[-1][0] if len(found) == LOOKED_AT_MAX else through
    expected: dict[int, DayEffect] = {}
    for due_at, day in found:
        if not days.fits_on(day):
            expected.setdefault(day, DayEffect(due_at, day, days.target(day)))
    assert [*day_effects(series, drawn.start_at, through)] == [*expected.values()]


@pytest.mark.parametrize("part", range(5))
def test_a_moved_occurrence_comes_from_the_nearest_day_of_an_enumeration(part: int) -> None:
    random = Random(part)  # noqa: S311 - a seed that a failure names
    moved = 0
    for _ in range(30):
        zone, text = random.choice(ALL_ZONES), expression(random)
        if text.startswith("*") or text.split()[1].startswith("*"):
            continue
        begin = at("2015-01-01T00:00:00") + random.randrange(20 * 365) * DAY_MS
        naive = Naive(random, to_datetime(begin).date())
        jitter_ms = random.choice((0, random.randrange(2 * DAY_MS)))
        series = Series(text, zone, begin, dst=DstRule(), jitter_ms=jitter_ms, days=naive.rule())
        reach = dt.timedelta(days=40)
        walls = CronSim(text, to_datetime(begin).replace(tzinfo=None) - reach)
        until = to_datetime(begin).replace(tzinfo=None) + 4 * reach
        own = {(each.date() - EPOCH).days for each in takewhile(lambda one: one < until, walls)}  # noqa: B023
        found = {each: naive.place(EPOCH + dt.timedelta(days=each)) for each in own}
        places = {each: None if place is None else (place - EPOCH).days for each, place in found.items()}
        for each in takewhile(lambda one: one.due_at < begin + 90 * DAY_MS, series.occurrences(begin)):  # noqa: B023
            day = wall_of(each.due_at - jitter_ms, zone_named(zone)) // DAY_S
            sources = [other for other in own if places[other] == day]
            source = min(sources, key=lambda other: (abs(other - day), other))
            assert moved_from(series, each.due_at) == (None if source == day else source), (series, each)
            moved += source != day
    assert moved


def test_a_holiday_is_moved_or_skipped_and_a_moved_occurrence_says_from_where() -> None:
    day = day_of("2027-05-06")
    for otherwise, target in (("skip", None), ("previous", day - 1), ("next", day + 1)):
        series = Series("0 9 * * THU", "UTC", at("2027-05-01"), days=rule(otherwise, "2027-05-06"))
        [effect] = day_effects(series, series.start_at, at("2027-05-31"))
        assert effect == DayEffect(at("2027-05-06T09:00"), day, target)
        due_at = moved_to(series, effect)
        assert due_at == (None if target is None else at("2027-05-06T09:00") + (target - day) * DAY_MS)
        if due_at is not None:
            assert moved_from(series, due_at) == day
            assert moved_from(series, at("2027-05-13T09:00")) is None


def test_a_schedule_of_each_second_is_walked_day_by_day() -> None:
    series = Series("* * * * * *", "Europe/Paris", at("2027-01-01"), days=rule())
    found = [*day_effects(series, series.start_at, at("2027-12-31T22:00"))]
    assert len(found) == 104
    assert said(found[0].first_at) == "2027-01-01 23:00"


def test_the_day_is_judged_before_jitter() -> None:
    series = Series("0 23 * * *", "UTC", at("2027-05-07"), jitter_ms=2 * 3_600_000, days=rule("next"))
    assert [said(each.due_at) for each in islice(series.occurrences(0), 3)] == [
        "2027-05-07 01:00", "2027-05-08 01:00", "2027-05-11 01:00",
    ]  # fmt: skip
    [saturday, sunday] = day_effects(series, series.start_at, at("2027-05-10T02:00"))
    assert (said(saturday.first_at), saturday.day) == ("2027-05-09 01:00", day_of("2027-05-08"))
    assert moved_to(series, sunday) == at("2027-05-11T01:00")


def test_times_of_a_list_and_of_a_one_off_come_from_their_own_days() -> None:
    listed = InstantList((at("2027-05-08T10:00:00.250"), at("2027-05-09T11:00"), at("2027-05-10T09:00")))
    series = Series(listed, "UTC", at("2027-05-01"), days=rule("previous"))
    found = {said(each.due_at): moved_from(series, each.due_at) for each in series.occurrences(0)}
    assert found == {
        "2027-05-07 10:00:00.250": day_of("2027-05-08"),
        "2027-05-07 11:00": day_of("2027-05-09"),
        "2027-05-10 09:00": None,
    }
    one_off = Series(None, "UTC", at("2027-05-01"), at("2027-05-08T09:00"), days=rule("next"))
    assert moved_from(one_off, at("2027-05-10T09:00")) == day_of("2027-05-08")


@pytest.mark.parametrize(
    "schedule", ["at(2027-05-08T09:00:00)", "R3/2027-05-08T09:00:00.5Z/P1M", "cron(0 9 8 5 ? 2027)"]
)
def test_a_time_before_the_beginning_can_be_moved_behind_it(schedule: str) -> None:
    series = Series(schedule, "UTC", at("2027-05-01"), days=rule("next"))
    first = series.next_after(0)
    assert first is not None
    assert first.due_at // SECOND_MS * SECOND_MS == at("2027-05-10T09:00")
    assert moved_from(series, first.due_at) == day_of("2027-05-08")


def test_a_series_without_a_calendar_or_with_a_changed_one_moves_nothing() -> None:
    plain = Series("0 9 * * *", "UTC", at("2027-05-01"))
    assert [*day_effects(plain, 0, at("2027-06-01"))] == []
    assert moved_from(plain, at("2027-05-02T09:00")) is None
    owed_at = at("2027-05-05T09:00:30")
    days = DayRule(rule("next").days, "open", "next", also=(owed_at,))
    assert moved_from(Series("0 9 * * SAT", "UTC", at("2027-05-01"), days=days), owed_at) is None
