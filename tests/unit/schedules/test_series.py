"""The occurrences of a series and their numbers, which are found without a walk."""

from collections.abc import Callable
from itertools import islice

import pytest
from tests.unit.schedules.say import asked, at, said

from sweephand.base.instants import DAY_MS, INSTANT_MAX
from sweephand.schedules import Occurrence, ScheduleError, Series
from sweephand.schedules.clock.wall_timeline import WallTimeline
from sweephand.schedules.clock.zones import Zone
from sweephand.schedules.notations.cron_pattern import WallPattern
from sweephand.schedules.notations.parsing import timeline_of

NOW = at("2026-11-21T07:00:00Z")


def shown(series: Series, count: int = 10) -> list[tuple[str, int]]:
    return [(said(each.due_at), each.sequence) for each in islice(series.occurrences(NOW - 1), count)]


def test_a_one_off_fires_once_at_its_due_time() -> None:
    assert shown(asked(due_time="10s")) == [("2026-11-21 07:00:10.000", 1)]
    assert asked(due_time="10s").next_after(NOW + 10_000) is None


def test_a_one_off_due_now_fires_at_the_request() -> None:
    assert shown(asked(due_time="0s")) == [("2026-11-21 07:00", 1)]


@pytest.mark.parametrize(
    ("schedule", "due_time", "first"),
    [
        ("0 7 * * *", None, "2026-11-22 07:00"),
        ("0 7 * * *", "0s", "2026-11-21 07:00"),
        ("0 7 * * *", "1ms", "2026-11-22 07:00"),
        ("0 7 * * *", "2026-12-01T07:00:00Z", "2026-12-01 07:00"),
        ("0 7 * * *", "2026-12-01T07:00:00.001Z", "2026-12-02 07:00"),
        ("@daily", "P1M", "2026-12-22 00:00"),
        ("@every 1h", None, "2026-11-21 08:00"),
        ("@every 1h", "0s", "2026-11-21 07:00"),
        ("@every 1h", "90s", "2026-11-21 07:01:30.000"),
    ],
)
def test_the_first_fire_is_the_one_of_the_design_table(
    schedule: str, due_time: str | None, first: str
) -> None:
    assert shown(asked(schedule, due_time=due_time), 1) == [(first, 1)]


def test_cron_fires_on_whole_seconds_whenever_the_request_came() -> None:
    series = asked("* * * * * *", now="2026-11-21T07:00:00.250Z")
    assert shown(series, 2) == [("2026-11-21 07:00:01.000", 1), ("2026-11-21 07:00:02.000", 2)]


def test_ttl_lets_an_occurrence_exactly_at_it_fire_and_none_after() -> None:
    assert len(shown(asked("@every 10s", ttl="30s"))) == 3
    assert len(shown(asked("@every 10s", ttl="29999ms"))) == 2
    assert len(shown(asked("0 * * * *", ttl="2026-11-21T09:00:00Z"))) == 2
    assert len(shown(asked("0 * * * *", ttl="2026-11-21T08:59:59.999Z"))) == 1


def test_repeats_is_the_number_of_occurrences_in_all() -> None:
    assert [number for _, number in shown(asked("@every 10s", repeats=3))] == [1, 2, 3]
    assert [number for _, number in shown(asked("0 * * * *", repeats=2))] == [1, 2]
    assert asked("0 * * * *", repeats=2).next_after(at("2026-11-21T09:00:00Z")) is None


def test_a_period_with_fractions_of_a_millisecond_does_not_drift() -> None:
    series = asked("@every 1000333333ns")
    assert [each.due_at - NOW for each in islice(series.occurrences(NOW), 4)] == [1000, 2000, 3000, 4001]
    assert series.next_after(NOW + 3_000_998) == Occurrence(NOW + 3_000_999, 3000)


def test_sequence_numbers_continue_from_the_number_that_an_update_has_counted() -> None:
    begun = asked("@every 1h", repeats=5)
    counted_at = NOW + 2 * 3_600_000
    assert shown(begun._replace(counted_at=counted_at, counted=2)) == shown(begun)[2:]
    anew = begun._replace(repeats=2, counted_at=counted_at)
    assert shown(anew) == [("2026-11-21 10:00", 1), ("2026-11-21 11:00", 2)]
    assert anew.last_at() == at("2026-11-21T11:00:00Z")
    spent = begun._replace(repeats=2, counted_at=counted_at, counted=2)
    assert shown(spent) == []
    assert spent.last_at() == counted_at


def test_a_known_occurrence_after_the_instant_raises_an_assertion_error() -> None:
    with pytest.raises(AssertionError):
        asked("@every 1h").next_after(NOW, Occurrence(NOW + 3_600_000, 1))


@pytest.mark.parametrize(
    ("series", "last"),
    [
        (asked(due_time="10s"), "2026-11-21 07:00:10.000"),
        (asked("@every 1h"), None),
        (asked("0 9 * * *"), None),
        (asked("@every 1s", repeats=100_000), "2026-11-22 10:46:40.000"),
        (asked("@every 1h", due_time="10m", repeats=2), "2026-11-21 08:10"),
        (asked("@every 1h", ttl="150m"), "2026-11-21 09:00"),
        (asked("@every 1h", ttl="150m", repeats=1), "2026-11-21 08:00"),
        (asked("@every 2000000h", repeats=1000), None),
        (asked("0 9 * * MON", repeats=3), "2026-12-07 09:00"),
        (asked("* * * * * *", repeats=1_000_000), "2026-12-02 20:46:40.000"),
        (asked("0 9 * * MON", ttl="P1M"), "2026-12-14 09:00"),
        (asked("0 9 * * MON", ttl="P1M", repeats=2), "2026-11-30 09:00"),
        (asked("0 0 29 2 *", ttl="P10Y"), "2036-02-29 00:00"),
        (asked("0 0 29 2 *", repeats=1_000_000), None),
        (asked("0 0 29 2 *", repeats=1_000_000, ttl="P10Y"), "2036-02-29 00:00"),
        (asked("0 9 * * *", ttl="9999-12-31T23:59:59Z"), "9999-12-31 09:00"),
    ],
)
def test_a_series_that_ends_knows_its_last_instant(series: Series, last: str | None) -> None:
    last_at = series.last_at()
    assert (None if last_at is None else said(last_at)) == last


def test_an_item_leaves_out_what_is_absent() -> None:
    assert asked("@every 1h").to_item() == {"schedule": "@every 1h", "timezone": "UTC", "startAt": NOW}
    assert asked(due_time="0s").to_item() == {"timezone": "UTC", "startAt": NOW, "dueAt": NOW}


def test_equal_series_have_equal_hashes() -> None:
    assert {asked("@every 1h"): 1}[asked("@every 1h")] == 1


@pytest.mark.parametrize(
    "stored", [Series("fortnightly", "UTC", NOW), Series("@every 1h", "Europe/Atlantis", NOW)]
)
def test_a_stored_series_that_cannot_be_read_raises_a_schedule_error(stored: Series) -> None:
    with pytest.raises(ScheduleError):
        stored.next_after(NOW)


def test_the_end_of_the_calendar_ends_a_series() -> None:
    for schedule in ("@every 1s", "* * * * * *", "0 0 29 2 *"):
        for zone in ("UTC", "Pacific/Kiritimati", "Pacific/Pago_Pago"):
            series = Series(schedule, zone, INSTANT_MAX - DAY_MS // 2)
            assert all(
                each.due_at <= INSTANT_MAX for each in islice(series.occurrences(INSTANT_MAX - 5_000), 20)
            )
            for after in (INSTANT_MAX, INSTANT_MAX + 1, 10**18):
                assert series.next_after(after) is None


class Looks:
    """How often the calendar and the zones were looked at."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        for owner, name in (
            (WallPattern, "_days_of"),
            (WallPattern, "at_or_after"),
            (Zone, "_transitions_in"),
        ):
            monkeypatch.setattr(owner, name, self._counting(getattr(owner, name)))

    def _counting(self, method: Callable[..., object]) -> Callable[..., object]:
        def counted(*arguments: object) -> object:
            self.count += 1
            return method(*arguments)

        return counted


def test_the_hundred_thousandth_occurrence_of_a_period_is_found_without_a_walk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks = Looks(monkeypatch)
    series = asked("@every 1s")
    assert series.next_after(NOW + 99_999_000) == Occurrence(NOW + 100_000_000, 100_000)
    decade = 3650 * DAY_MS
    assert series.next_after(NOW + decade) == Occurrence(NOW + decade + 1000, decade // 1000 + 1)
    assert looks.count == 0


def test_finding_the_next_occurrence_after_ten_years_takes_one_step_for_each_month(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    series = asked("* * * * * *", timezone="Europe/Paris")
    looks = Looks(monkeypatch)
    decade = 3650 * DAY_MS
    assert series.next_after(NOW + decade) == Occurrence(NOW + decade + 1000, decade // 1000 + 1)
    assert looks.count < 250


@pytest.mark.parametrize("expression", ["* * * * *", "30 2 * * SUN", "0 0 29 2 *", "0 30 2 L * *"])
@pytest.mark.parametrize("zone", ["UTC", "Europe/Paris", "Africa/Casablanca"])
def test_counts_over_whole_cycles_of_the_calendar_equal_a_full_count(expression: str, zone: str) -> None:
    timeline = timeline_of(expression, zone, NOW, None)
    assert isinstance(timeline, WallTimeline)
    for through in ("2099-06-01", "2500-01-01", "2501-06-01", "3337-03-03"):
        assert timeline.count(NOW, at(through)) == timeline._count(NOW // 1000, at(through) // 1000)


def test_counting_a_cron_over_eight_thousand_years_takes_no_more_steps_than_over_fourteen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    series = asked("* * * * * *", timezone="Europe/Paris")
    looks = Looks(monkeypatch)
    end_at = at("9999-06-01")
    assert series.next_after(end_at) == Occurrence(end_at + 1000, (end_at - NOW) // 1000 + 1)
    assert looks.count < 1_000


def test_enumeration_from_a_known_occurrence_calculates_nothing_before_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    series = asked("0 9 * * *", timezone="Europe/Paris")
    known = series.next_after(NOW + 3650 * DAY_MS)
    assert known is not None
    looks = Looks(monkeypatch)
    following = series.next_after(known.due_at, known)
    assert following is not None
    assert following.sequence == known.sequence + 1
    assert looks.count < 15


@pytest.mark.parametrize("schedule", ["@every 7s", "*/7 * * * * *", "30 2 * * *"])
def test_the_last_occurrence_of_a_range_and_the_nth_occurrence_agree_with_a_walk(schedule: str) -> None:
    series = asked(schedule, repeats=40)
    walked = list(series.occurrences(NOW))
    known = walked[3]
    for expected in walked[3:]:
        assert series.last_through(expected.due_at, known) == expected
        assert series.last_through(expected.due_at + 999, known) == expected
        assert series.numbered(expected.sequence, known) == expected
    assert series.last_through(INSTANT_MAX, known) == walked[-1]


def test_the_last_occurrence_of_a_range_is_not_after_the_ttl() -> None:
    series = asked("@every 10s", ttl="35s")
    known = Occurrence(NOW + 10_000, 1)
    assert series.last_through(NOW + DAY_MS, known) == Occurrence(NOW + 30_000, 3)
    assert series.last_through(NOW + 19_999, known) == known
