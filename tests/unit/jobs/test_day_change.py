"""What a series owes after its calendar has changed: each day of the schedule fires once."""

import datetime as dt
from collections import Counter
from collections.abc import Collection
from itertools import takewhile
from random import Random

import pytest
from tests.unit.schedules.say import at, said

from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS, Instant
from sweephand.base.timing import API_LIMIT_MS
from sweephand.jobs.day_change import amended
from sweephand.schedules import Series
from sweephand.schedules.clock.dst import DstRule
from sweephand.schedules.day_rule import OTHERWISES, ClosedDays, DayRule
from sweephand.schedules.schedule import InstantList

EPOCH = dt.date(1970, 1, 1)


def day_of(text: str) -> int:
    return (dt.date.fromisoformat(text) - EPOCH).days


def date_of(day: int) -> dt.date:
    return EPOCH + dt.timedelta(days=day)


def rule(otherwise: str, *closed: str, weekend: Collection[int] = (5, 6)) -> DayRule:
    days = ClosedDays.of(weekend, {day_of(each): True for each in closed})
    return DayRule(days.text(), "open", otherwise)  # type: ignore[arg-type]


def changed(schedule: str, before: DayRule | None, after: DayRule | None, reached: str) -> list[str]:
    """What a series that began in 2027 fires after the change, up to 40 days on."""
    former = Series(schedule, "UTC", at("2027-01-01"), days=before)
    now = at(reached)
    series = amended(Series(schedule, "UTC", at("2027-01-01"), days=after), former, now, now)
    return [said(each) for each in coming(series, now, now + 40 * DAY_MS)]


def coming(series: Series, after: Instant, before: Instant) -> list[Instant]:
    return [each.due_at for each in takewhile(lambda each: each.due_at < before, series.occurrences(after))]


def test_what_was_moved_ahead_and_has_fired_does_not_fire_on_its_own_day() -> None:
    # Monday 31 May was closed, so the month ended on Friday the 28th.
    before, after = rule("previous", "2027-05-31"), rule("previous")
    assert changed("0 17 L * *", before, after, "2027-05-29T12:00:00") == ["2027-06-30 17:00"]
    assert changed("0 17 L * *", before, after, "2027-05-28T16:00:00") == [
        "2027-05-31 17:00",
        "2027-06-30 17:00",
    ]


def test_what_the_change_moves_into_the_past_is_due_at_once() -> None:
    before, after = rule("previous"), rule("previous", "2027-05-31")
    assert changed("0 17 L * *", before, after, "2027-05-29T12:00:00") == [
        said(at("2027-05-29T12:00:00") + API_LIMIT_MS), "2027-06-30 17:00",
    ]  # fmt: skip


def test_a_daily_job_whose_holiday_is_called_off_fires_again_on_each_day() -> None:
    august = [f"2027-08-{day:02}" for day in range(3, 32)]
    found = changed("0 9 * * *", rule("previous", *august), rule("previous"), "2027-08-03T12:00:00")
    assert found[:3] == ["2027-08-04 09:00", "2027-08-05 09:00", "2027-08-06 09:00"]


def test_a_weekly_job_that_has_fired_is_not_moved_to_a_later_day() -> None:
    found = changed("0 9 * * MON", rule("next"), rule("next", "2027-05-10"), "2027-05-10T12:00:00")
    assert found[0] == "2027-05-17 09:00"
    found = changed("0 9 * * MON", rule("next"), rule("next", "2027-05-10"), "2027-05-10T08:00:00")
    assert found[0] == "2027-05-11 09:00"


def test_a_second_change_keeps_what_the_first_one_owes() -> None:
    schedule, now = "0 17 L * *", at("2027-05-29T12:00:00")
    first = amended(
        Series(schedule, "UTC", at("2027-01-01"), days=rule("previous", "2027-05-31")),
        Series(schedule, "UTC", at("2027-01-01"), days=rule("previous")),
        now,
        now,
    )
    assert first.days is not None
    assert len(first.days.also) == 1
    reopened = Series(schedule, "UTC", at("2027-01-01"), days=rule("previous"))
    second = amended(reopened, first, now + 1_000, now + 1_000)
    found = [said(each) for each in coming(second, now, now + 40 * DAY_MS)]
    assert found == [said(now + API_LIMIT_MS), "2027-06-30 17:00"]


def test_a_job_that_loses_its_calendar_fires_nothing_again() -> None:
    found = changed("0 17 L * *", rule("previous", "2027-05-31"), None, "2027-05-29T12:00:00")
    assert found == ["2027-06-30 17:00"]


def once_more(series: Series, after: DayRule, reached: str) -> Series:
    """The series after another change of its calendar."""
    now = at(reached)
    return amended(series._replace(days=after), series, now, now)


def moved_ahead() -> Series:
    """A series that has fired on Friday 28 May in the place of Monday the 31st, which is open again."""
    former = Series("0 17 L * *", "UTC", at("2027-01-01"), days=rule("previous", "2027-05-31"))
    return once_more(former, rule("previous"), "2027-05-29T12:00:00")


def test_a_later_change_of_distant_days_does_not_fire_again_what_was_moved_ahead() -> None:
    after = once_more(moved_ahead(), rule("previous", "2027-12-24"), "2027-05-30T12:00:00")
    assert said(next_due(after, "2027-05-30T12:00:00")) == "2027-06-30 17:00"


def test_what_has_fired_does_not_fire_again_when_its_day_was_without_a_place_for_a_while() -> None:
    summer = [str(date_of(day)) for day in range(day_of("2027-04-01"), day_of("2027-08-01"))]
    for closed in (rule("previous", *summer), rule("skip", "2027-05-31")):
        without_place = once_more(moved_ahead(), closed, "2027-05-29T12:00:01")
        stored = Series.from_item(without_place.to_item())
        assert stored == without_place
        after = once_more(stored, rule("previous"), "2027-05-29T12:00:02")
        assert said(next_due(after, "2027-05-29T12:00:02")) == "2027-06-30 17:00"


def test_what_has_fired_on_a_day_that_is_skipped_by_now_is_not_moved_to_another_one() -> None:
    former = Series("0 9 * * MON", "UTC", at("2027-01-01"), days=rule("skip"))
    closed = once_more(former, rule("skip", "2027-05-10"), "2027-05-10T12:00:00")
    after = once_more(closed, rule("next", "2027-05-10"), "2027-05-10T12:01:00")
    assert said(next_due(after, "2027-05-10T12:01:00")) == "2027-05-17 09:00"


def test_days_of_long_ago_are_forgotten() -> None:
    closed = once_more(
        Series("0 9 * * *", "UTC", at("2027-01-01"), days=rule("next")),
        rule("next", *(f"2027-05-{day:02}" for day in range(3, 8))),
        "2027-05-07T12:00:00",
    )
    assert closed.days is not None
    assert len(closed.days.fired) == 5
    later = once_more(closed, rule("next"), "2027-07-01T12:00:00")
    assert later.days is not None
    assert later.days.fired == ()


def test_all_25_hours_of_a_day_are_known_as_fired() -> None:
    former = Series(
        "0 0-23 * * *",
        "Europe/Paris",
        at("2027-01-01"),
        dst=DstRule("skip", "both"),
        days=rule("skip", weekend=()),
    )
    closed = once_more(former, rule("skip", "2027-10-31", weekend=()), "2027-10-31T22:59:59")
    reopened = once_more(closed, rule("skip", weekend=()), "2027-10-31T23:00:30")
    now = at("2027-10-31T23:00:30")
    assert coming(reopened, now, now + 2 * DAY_MS) == coming(former, now, now + 2 * DAY_MS)


def test_all_instants_of_a_list_that_lie_on_one_day_are_known_as_fired() -> None:
    fired = [at("2026-12-13") + each * MINUTE_MS for each in range(95)]
    later = [at("2027-02-14") + each * MINUTE_MS for each in range(5)]
    former = Series(InstantList((*fired, *later)), "UTC", at("2026-01-01"), days=rule("skip", weekend=()))
    closed = once_more(former, rule("skip", "2026-12-13", weekend=()), "2026-12-13T12:00:00")
    moved = once_more(closed, rule("next", "2026-12-13", weekend=()), "2026-12-13T12:01:00")
    assert coming(moved, at("2026-12-13T12:01:00"), at("2028-01-01")) == later


def next_due(series: Series, after: str) -> Instant:
    found = series.next_after(at(after))
    assert found is not None
    return found.due_at


class Calendar:
    """Closed days and a rule, written out day by day."""

    def __init__(self, random: Random, first: int) -> None:
        share = random.choice((0.1, 0.4))
        self.closed = {each for each in range(first, first + 400) if random.random() < share}
        begin = first + random.randrange(400)
        self.closed |= set(range(begin, begin + random.randrange(30)))
        self.otherwise = random.choice(OTHERWISES)

    def rule(self) -> DayRule:
        return DayRule(ClosedDays.of((), dict.fromkeys(self.closed, True)).text(), "open", self.otherwise)

    def place(self, day: int) -> int | None:
        if day not in self.closed or self.otherwise == "skip":
            return None if day in self.closed else day
        found = [each for each in range(day - 31, day + 32) if each not in self.closed]
        later, earlier = [each for each in found if each > day], [each for each in found if each < day]
        if self.otherwise == "next":
            return min(later, default=None)
        if self.otherwise == "previous":
            return max(earlier, default=None)
        return min(found, key=lambda each: (abs(each - day), each < day), default=None)

    def meaning(self, scheduled: set[int]) -> dict[int, int]:
        """Which day of the schedule each day on which the job fires stands for: the nearest, or the later."""
        found: dict[int, list[int]] = {}
        for day in sorted(scheduled):
            place = self.place(day)
            if place is not None:
                found.setdefault(place, []).append(day)
        return {place: min(days, key=lambda each: abs(each - place)) for place, days in found.items()}


@pytest.mark.parametrize("seed", range(300))
def test_whatever_changes_each_day_of_the_schedule_fires_once(seed: int) -> None:
    random = Random(seed)  # noqa: S311 - a seed that a failure names
    first = day_of("2026-06-01")
    schedule, scheduled = random.choice((
        ("0 9 * * *", set(range(first, first + 500))),
        ("0 9 * * MON", {each for each in range(first, first + 500) if each % 7 == day_of("2026-06-01") % 7}),
        ("0 9 L * *", {each for each in range(first, first + 500) if date_of(each + 1).day == 1}),
    ))  # fmt: skip
    before, after = Calendar(random, first), Calendar(random, first)
    if random.random() < 0.5:
        after.otherwise = before.otherwise
    day = first + random.randrange(100, 300)
    now = day * DAY_MS + random.choice((8, 10)) * HOUR_MS
    former = Series(schedule, "UTC", first * DAY_MS, days=before.rule())
    series = amended(Series(schedule, "UTC", first * DAY_MS, days=after.rule()), former, now, now)

    def has_passed(place: int) -> bool:
        return place * DAY_MS + 9 * HOUR_MS <= now

    was, becomes = before.meaning(scheduled), after.meaning(scheduled)
    fired = {meant for place, meant in was.items() if has_passed(place)}
    pending = {meant for place, meant in was.items() if not has_passed(place)}
    expected = [place for place, meant in becomes.items() if not has_passed(place) and meant not in fired]
    owed = [
        meant
        for place, meant in becomes.items()
        if has_passed(place) and meant in pending and place not in was
    ]
    end = now + 80 * DAY_MS
    found = coming(series, now, end)
    at_once = [each for each in found if now < each <= now + API_LIMIT_MS + 100]
    assert len(at_once) == len(owed)
    on_days = sorted(each * DAY_MS + 9 * HOUR_MS for each in expected)
    assert [each for each in found if each not in at_once] == [each for each in on_days if each < end]
    meant = Counter([*fired, *owed, *(becomes[each] for each in expected)])
    assert max(meant.values()) == 1
