"""Series on the days of a calendar, compared with an enumeration of days, and by example."""

import datetime as dt
from itertools import islice, takewhile
from random import Random

import pytest
from cronsim import CronSim
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.schedules.oracle import _shown, packaged
from tests.unit.schedules.say import at, said, unhurried
from tests.unit.schedules.strategies import ZONES, day_rules, starts

from sweephand.base.instants import DAY_MS, Instant, to_datetime
from sweephand.schedules import Series
from sweephand.schedules.clock.dst import DstRule
from sweephand.schedules.day_rule import DAY_KINDS, OTHERWISES, ClosedDays, DayRule
from sweephand.schedules.schedule import InstantList

EPOCH = dt.date(1970, 1, 1)
SAT_SUN = {5, 6}
ALL_ZONES = (
    *ZONES, "America/Havana", "America/St_Johns", "Asia/Tehran", "Pacific/Chatham", "America/Sao_Paulo",
    "Asia/Tokyo", "Africa/Cairo",
)  # fmt: skip


def day_of(text: str) -> int:
    return (dt.date.fromisoformat(text) - EPOCH).days


def rule(otherwise: str = "skip", *closed: str, opened: tuple[str, ...] = (), fits: str = "open") -> DayRule:
    differing = {day_of(each): True for each in closed} | {day_of(each): False for each in opened}
    return DayRule(ClosedDays.of(SAT_SUN, differing).text(), fits, otherwise)  # type: ignore[arg-type]


def fires(schedule: str, days: DayRule, after: str, count: int, zone: str = "UTC") -> list[str]:
    series = Series(schedule, zone, at(after), days=days)
    return [said(each.due_at) for each in islice(series.occurrences(at(after)), count)]


class Naive:
    """A calendar and a rule written out day by day, with dates and sets."""

    def __init__(self, random: Random, first: dt.date) -> None:
        self.weekend = {each for each in range(7) if random.random() < 0.25}
        days = [first + dt.timedelta(days=each) for each in range(-60, 400)]
        self.closed = {each for each in days if random.random() < random.choice((0.02, 0.1))}
        for _ in range(random.randrange(3)):
            begin = random.choice(days)
            self.closed |= {begin + dt.timedelta(days=each) for each in range(random.randrange(1, 40))}
        self.opened = {each for each in days if random.random() < 0.02}
        self.fits, self.otherwise = random.choice(DAY_KINDS), random.choice(OTHERWISES)

    def rule(self) -> DayRule:
        differing = {(each - EPOCH).days: True for each in self.closed - self.opened}
        differing |= {(each - EPOCH).days: False for each in self.opened}
        return DayRule(ClosedDays.of(self.weekend, differing).text(), self.fits, self.otherwise)

    def is_closed(self, day: dt.date) -> bool:
        return day not in self.opened and (day in self.closed or day.weekday() in self.weekend)

    def place(self, day: dt.date) -> dt.date | None:
        """Where the occurrences of a day fire."""

        def good(other: dt.date) -> bool:
            return self.is_closed(other) == (self.fits == "closed")

        if good(day):
            return day
        if self.otherwise == "skip":
            return None
        near = [day + dt.timedelta(days=each) for each in range(-31, 32)]
        found = [each for each in near if good(each)]
        if self.otherwise == "next":
            return min((each for each in found if each > day), default=None)
        if self.otherwise == "previous":
            return max((each for each in found if each < day), default=None)
        return min(found, key=lambda each: (abs(each - day), each < day), default=None)


def expression(random: Random) -> str:
    """Any cron expression that fires some times a day at most."""
    minute = random.choice(("0", "30", "5,35", "59"))
    hour = random.choice(("0", "2", "2,3", "9,17", "23", "*/6" if random.random() < 0.3 else "12"))
    of_month = random.choice(("*", "*", "*", "1", "L", "15", "1,15,L", "*/5"))
    of_week = "*" if of_month != "*" else random.choice(("*", "MON-FRI", "SUN", "FRI", "5L", "1#2"))
    return f"{minute} {hour} {of_month} * {of_week}"


def enumerated(series: Series, naive: Naive, end: Instant) -> list[Instant]:
    """Each matching local time, moved day by day, and then shown by zoneinfo."""
    text, begin, reach = str(series.schedule), series.start_at, dt.timedelta(days=35)
    walls = CronSim(text, to_datetime(begin).replace(tzinfo=None) - reach)
    is_wildcard = text.startswith("*") or text.split()[1].startswith("*")
    moved: set[dt.datetime] = set()
    for wall in takewhile(lambda each: each < to_datetime(end).replace(tzinfo=None) + reach, walls):
        day = naive.place(wall.date())
        if day is not None:
            moved.add(dt.datetime.combine(day, wall.time()))
    info = packaged(series.timezone)
    shown = [_shown(wall, info, series.dst, is_wildcard=is_wildcard) for wall in moved]
    instants = {each for some in shown for each in some}
    return sorted(each for each in instants if begin < each < end)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("part", range(30))
def test_a_schedule_on_a_calendar_fires_as_an_enumeration_of_days_does(part: int) -> None:
    random = Random(part)  # noqa: S311 - a seed that a failure names
    for case in range(100):
        zone, text = random.choice(ALL_ZONES), expression(random)
        begin = at("2015-01-01T00:00:00") + random.randrange(20 * 365) * DAY_MS + random.randrange(DAY_MS)
        end = begin + random.choice((40, 120)) * DAY_MS
        naive = Naive(random, to_datetime(begin).date())
        dst = DstRule(random.choice(("shift", "skip")), random.choice(("first", "last", "both")))
        series = Series(text, zone, begin, dst=dst, days=naive.rule())
        found = [each.due_at for each in takewhile(lambda one: one.due_at < end, series.occurrences(begin))]  # noqa: B023
        assert found == enumerated(series, naive, end), (case, series)
        assert series.number_through(end - 1) == len(found)


@given(st.data(), starts)
@unhurried
def test_days_that_move_to_a_day_are_those_whose_place_it_is(data: st.DataObject, start_at: Instant) -> None:
    days = data.draw(day_rules(start_at))
    first = start_at // DAY_MS
    for day in range(first, first + 60):
        if days.fits_on(day):
            near = range(day - 40, day + 41)
            assert days.sources(day) == [each for each in near if days.target(each) == day]


def test_the_last_business_day_of_each_month_but_no_french_holiday() -> None:
    french = rule("previous", "2027-05-06", "2027-05-31", "2027-12-31")
    assert fires("0 17 L * *", french, "2027-03-01", 4, "Europe/Paris") == [
        "2027-03-31 15:00", "2027-04-30 15:00", "2027-05-28 15:00", "2027-06-30 15:00",
    ]  # fmt: skip
    assert fires("0 17 L * *", french, "2027-12-01", 1, "Europe/Paris") == ["2027-12-30 16:00"]


@pytest.mark.parametrize(
    ("otherwise", "expected"),
    [
        ("skip", ["2027-05-13 09:00", "2027-05-20 09:00"]),
        ("next", ["2027-05-07 09:00", "2027-05-13 09:00"]),
        ("previous", ["2027-05-05 09:00", "2027-05-13 09:00"]),
        # Wednesday and Friday are equally near, and the later one wins.
        ("nearest", ["2027-05-07 09:00", "2027-05-13 09:00"]),
    ],
)
def test_what_becomes_of_a_holiday_on_a_thursday(otherwise: str, expected: list[str]) -> None:
    assert fires("0 9 * * THU", rule(otherwise, "2027-05-06"), "2027-05-01", 2) == expected


def test_a_shop_fires_on_sundays_and_on_a_holiday_in_the_week() -> None:
    sundays = DayRule(ClosedDays.of({6}, {day_of("2027-05-06"): True}).text(), "closed")
    assert fires("0 8 * * *", sundays, "2027-05-01", 3) == [
        "2027-05-02 08:00", "2027-05-06 08:00", "2027-05-09 08:00",
    ]  # fmt: skip


def test_two_occurrences_on_one_instant_are_one_and_a_skipped_one_has_no_number() -> None:
    daily = Series("0 9 * * *", "UTC", at("2027-05-07"), repeats=3, days=rule("next"))
    found = [(said(each.due_at), each.sequence) for each in daily.occurrences(0)]
    assert found == [("2027-05-07 09:00", 1), ("2027-05-10 09:00", 2), ("2027-05-11 09:00", 3)]


def test_a_period_skips_closed_days_of_the_zone_and_keeps_its_phase() -> None:
    found = fires("@every 7h", rule(), "2027-05-07T08:00:00", 4, "Asia/Tokyo")
    # The first period ends as Saturday begins in Tokyo, and the eighth on Monday at 01:00 there.
    assert found == ["2027-05-09 16:00", "2027-05-09 23:00", "2027-05-10 06:00", "2027-05-10 13:00"]


def test_a_local_time_keeps_its_hour_when_it_leaves_the_day_on_which_the_clock_changes() -> None:
    # On Sunday 28 March 2027 there is no 02:30 in Paris.
    assert fires("30 2 28 3 *", rule("next"), "2027-01-01", 1, "Europe/Paris") == ["2027-03-29 00:30"]
    assert fires("30 2 28 3 *", rule("previous"), "2027-01-01", 1, "Europe/Paris") == ["2027-03-26 01:30"]


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("R3/2027-05-08T09:00:00Z/P1M", ["2027-05-10 09:00", "2027-06-08 09:00", "2027-07-08 09:00"]),
        ("R2/2027-05-07T09:00:00Z/P1D", ["2027-05-07 09:00", "2027-05-10 09:00"]),
        ("at(2027-05-08T09:00:00)", ["2027-05-10 09:00"]),
        ("cron(0 9 8 5 ? 2027)", ["2027-05-10 09:00"]),
    ],
)
def test_every_notation_with_local_days_is_moved(schedule: str, expected: list[str]) -> None:
    assert fires(schedule, rule("next"), "2027-05-01", 9) == expected


def test_instants_and_a_one_off_are_moved_too() -> None:
    listed = InstantList((at("2027-05-08T09:00:00.250"), at("2027-05-10T09:00:00.250"), at("2027-05-12")))
    series = Series(listed, "UTC", at("2027-05-01"), days=rule("next"))
    assert [said(each.due_at) for each in series.occurrences(0)] == [
        "2027-05-10 09:00:00.250", "2027-05-12 00:00",
    ]  # fmt: skip
    one_off = Series(None, "UTC", at("2027-05-01"), at("2027-05-08T09:00:00"), days=rule("previous"))
    assert [said(each.due_at) for each in one_off.occurrences(0)] == ["2027-05-07 09:00"]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("otherwise", OTHERWISES)
@pytest.mark.parametrize("fits", DAY_KINDS)
@pytest.mark.parametrize("weekend", [set(), {5, 6}, {0, 1, 2, 3, 4, 5, 6}], ids=["none", "two", "all"])
@pytest.mark.parametrize(
    "period", ["2026-12-31T09:00:00/P1D", "2061-03-05/P2D", "P7D", "P14D", "P1M", "2028-02-29/P1Y"]
)
def test_a_count_and_the_last_one_are_those_of_a_walk_over_decades(
    otherwise: str, fits: str, weekend: set[int], period: str
) -> None:
    differing = {day_of(f"{year}-01-0{year % 9 + 1}"): year % 2 == 0 for year in range(2027, 2035)}
    days = DayRule(ClosedDays.of(weekend, differing).text(), fits, otherwise)  # type: ignore[arg-type]
    series = Series(
        f"R/{period}", "Europe/Paris", at("2026-12-20 09:00"), ttl_at=at("2071-03-01 00:00"), days=days
    )
    walked = [each.due_at for each in series.occurrences(0)]
    assert series.number_through(series.ttl_at or 0) == len(walked)
    assert series.last_at() == (walked[-1] if walked else None)
    middle = at("2050-01-01 00:00")
    assert [*series.due_times(middle)] == [each for each in walked if each > middle]


def test_a_series_without_any_fitting_day_has_no_occurrence() -> None:
    never = DayRule(ClosedDays.of(set(range(7)), {}).text())
    assert Series("0 9 * * *", "UTC", at("2027-05-01"), days=never).next_after(0) is None
    on_sundays = Series("0 9 * * SUN", "UTC", at("2027-05-01"), days=rule())
    assert on_sundays.next_after(0) is None
    assert on_sundays.last_at() is None


@given(st.data(), starts)
@unhurried
def test_days_read_back_from_their_text(data: st.DataObject, start_at: Instant) -> None:
    days = data.draw(day_rules(start_at))
    assert DayRule.from_item(days.to_item()) == days
    known = days.closed
    assert (
        ClosedDays.of(
            {each for each in range(7) if known.weekend >> each & 1},
            {each: known.has(each) for each in range(known.first, known.end)},
        )
        == known
    )


@pytest.mark.parametrize("counted", [0, 2])
def test_due_times_end_with_repeats_although_the_end_is_too_far_ahead_to_be_known(counted: int) -> None:
    leap_days = Series("0 9 29 2 *", "UTC", at("2027-05-07"), repeats=25, counted=counted, days=rule("next"))
    assert leap_days.last_at() is None
    assert len(list(leap_days.due_times(at("2027-05-07")))) == 25 - counted
