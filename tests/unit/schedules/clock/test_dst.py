"""The rule for clock changes that a job chooses: for gaps, and for local times that occur twice."""

from itertools import islice
from typing import Any

import pytest
from tests.unit.schedules.say import at, said

from sweephand.schedules import ScheduleError, Series
from sweephand.schedules.clock.dst import DEFAULT, DstRule, read_dst

SKIP = DstRule(gap="skip")
LAST = DstRule(overlap="last")
BOTH = DstRule(overlap="both")

#: zone, schedule, after, what fires with the gap left out.
SKIPPED = [
    ("Europe/Paris", "30 2 * * *", "2027-03-27T12:00", ["2027-03-29 00:30"]),
    ("Europe/Paris", "0 3 * * *", "2027-03-27T12:00", ["2027-03-28 01:00", "2027-03-29 01:00"]),
    ("Europe/Paris", "30 1,2,3 * * *", "2027-03-28T00:00", ["2027-03-28 00:30", "2027-03-28 01:30"]),
    ("Europe/Paris", "30 2 28 3 *", "2027-03-01T00:00", ["2028-03-28 00:30"]),
    ("Australia/Lord_Howe", "15 2 * * *", "2027-10-02T00:00", ["2027-10-03 15:15"]),
    ("Australia/Lord_Howe", "30 2 * * *", "2027-10-02T00:00", ["2027-10-02 15:30"]),
    ("Europe/Dublin", "30 1 * * *", "2027-03-27T12:00", ["2027-03-29 00:30"]),
    ("Asia/Beirut", "0 0 * * *", "2027-03-27T12:00", ["2027-03-28 21:00"]),
    ("America/Santiago", "@daily", "2027-09-04T12:00", ["2027-09-06 03:00"]),
    ("America/New_York", "30 2 * * *", "2027-03-13T12:00", ["2027-03-15 06:30"]),
    ("Pacific/Apia", "30 2 * * *", "2011-12-29T00:00", ["2011-12-29 12:30", "2011-12-30 12:30"]),
    # Troll's clock goes from 01:00 to 03:00: two hours.
    ("Antarctica/Troll", "30 1 * * *", "2027-03-27T12:00", ["2027-03-28 23:30"]),
    # Kathmandu lost a quarter of an hour for good.
    ("Asia/Kathmandu", "5 0 1 1 *", "1985-06-01", ["1986-12-31 18:20"]),
    # A wildcard expression follows real time, whatever rule its job has.
    ("Europe/Paris", "30 * * * *", "2027-03-28T00:00", ["2027-03-28 00:30", "2027-03-28 01:30"]),
]

#: zone, schedule, after, what fires at the second showing, what at both.
REPEATED = [
    ("Europe/Paris", "30 2 * * *", "2027-10-30T12:00", ["2027-10-31 01:30", "2027-11-01 01:30"],
     ["2027-10-31 00:30", "2027-10-31 01:30", "2027-11-01 01:30"]),
    ("Europe/Paris", "0 2 * * *", "2027-10-30T12:00", ["2027-10-31 01:00"],
     ["2027-10-31 00:00", "2027-10-31 01:00", "2027-11-01 01:00"]),
    ("Europe/Paris", "0 3 * * *", "2027-10-30T12:00", ["2027-10-31 02:00"], ["2027-10-31 02:00"]),
    ("Europe/Paris", "30 1,2 * * *", "2027-10-30T23:00", ["2027-10-30 23:30", "2027-10-31 01:30"],
     ["2027-10-30 23:30", "2027-10-31 00:30", "2027-10-31 01:30"]),
    ("Australia/Lord_Howe", "45 1 * * *", "2027-04-03T00:00", ["2027-04-03 15:15"],
     ["2027-04-03 14:45", "2027-04-03 15:15", "2027-04-04 15:15"]),
    ("Australia/Lord_Howe", "15 1 * * *", "2027-04-03T00:00", ["2027-04-03 14:15", "2027-04-04 14:45"],
     ["2027-04-03 14:15", "2027-04-04 14:45"]),
    ("Europe/Dublin", "30 1 * * *", "2027-10-30T12:00", ["2027-10-31 01:30"],
     ["2027-10-31 00:30", "2027-10-31 01:30", "2027-11-01 01:30"]),
    ("Asia/Beirut", "30 23 * * *", "2027-10-30T00:00", ["2027-10-30 21:30", "2027-10-31 21:30"],
     ["2027-10-30 20:30", "2027-10-30 21:30", "2027-10-31 21:30"]),
    ("America/Santiago", "30 23 * * *", "2027-04-03T12:00", ["2027-04-04 03:30", "2027-04-05 03:30"],
     ["2027-04-04 02:30", "2027-04-04 03:30", "2027-04-05 03:30"]),
    ("America/New_York", "30 1 * * *", "2027-11-06T12:00", ["2027-11-07 06:30"],
     ["2027-11-07 05:30", "2027-11-07 06:30", "2027-11-08 06:30"]),
    # Casablanca left its hour for Ramadan.
    ("Africa/Casablanca", "30 2 * * *", "2025-02-22T12:00", ["2025-02-23 02:30"],
     ["2025-02-23 01:30", "2025-02-23 02:30"]),
    ("Antarctica/Troll", "30 2 * * *", "2027-10-30T12:00", ["2027-10-31 02:30"],
     ["2027-10-31 00:30", "2027-10-31 02:30"]),
    # Seven hours came twice at Vostok; Dhaka's hour crossed the end of its year.
    ("Antarctica/Vostok", "0 20 * * *", "1994-01-31T12:00", ["1994-01-31 20:00"],
     ["1994-01-31 13:00", "1994-01-31 20:00"]),
    ("Asia/Dhaka", "30 23 31 12 *", "2009-12-01", ["2009-12-31 17:30"],
     ["2009-12-31 16:30", "2009-12-31 17:30"]),
    ("Europe/Paris", "30 * * * *", "2027-10-31T00:00",
     ["2027-10-31 00:30", "2027-10-31 01:30", "2027-10-31 02:30"],
     ["2027-10-31 00:30", "2027-10-31 01:30", "2027-10-31 02:30"]),
]  # fmt: skip


def fires(schedule: str, zone: str, after: str, count: int, rule: DstRule) -> list[str]:
    series = Series(schedule, zone, at(after), dst=rule)
    return [said(each.due_at) for each in islice(series.occurrences(at(after)), count)]


@pytest.mark.parametrize(("zone", "schedule", "after", "expected"), SKIPPED)
def test_a_fixed_time_in_a_gap_does_not_fire_where_the_job_skips_gaps(
    zone: str, schedule: str, after: str, expected: list[str]
) -> None:
    assert fires(schedule, zone, after, len(expected), SKIP) == expected


@pytest.mark.parametrize(("zone", "schedule", "after", "last", "both"), REPEATED)
def test_a_fixed_time_that_comes_twice_fires_the_second_time_or_both_times(
    zone: str, schedule: str, after: str, last: list[str], both: list[str]
) -> None:
    assert fires(schedule, zone, after, len(last), LAST) == last
    assert fires(schedule, zone, after, len(both), BOTH) == both


def test_gap_and_overlap_are_chosen_independently() -> None:
    for rule in (DstRule("skip", "first"), DstRule("skip", "last"), DstRule("skip", "both")):
        assert fires("30 2 * * *", "Europe/Paris", "2027-03-27T12:00", 1, rule) == ["2027-03-29 00:30"]
    for rule in (LAST, BOTH):
        assert fires("30 2 * * *", "Europe/Paris", "2027-03-27T12:00", 1, rule) == ["2027-03-28 01:00"]


@pytest.mark.parametrize("rule", [DstRule("skip", "last"), BOTH])
def test_schedules_of_elapsed_time_and_one_offs_ignore_the_dst_rule(rule: DstRule) -> None:
    expected = ["2027-10-31 00:30", "2027-10-31 01:30", "2027-10-31 02:30"]
    assert fires("@every 1h", "Europe/Paris", "2027-10-30T23:30", 3, rule) == expected
    once = Series(None, "Europe/Paris", at("2027-01-01"), at("2027-03-28T01:15"), dst=rule)
    assert [said(each.due_at) for each in once.occurrences(at("2027-01-01"))] == ["2027-03-28 01:15"]


def test_a_job_made_between_two_equal_local_times_still_fires_at_the_second() -> None:
    assert fires("15 2 * * *", "Europe/Paris", "2027-10-31T00:50", 1, LAST) == ["2027-10-31 01:15"]
    assert fires("15 2 * * *", "Europe/Paris", "2027-10-31T00:50", 1, BOTH) == ["2027-10-31 01:15"]
    assert fires("15 2 * * *", "Europe/Paris", "2027-10-31T00:50", 1, DEFAULT) == ["2027-11-01 01:15"]


@pytest.mark.parametrize(
    ("written", "rule"),
    [
        ({}, DEFAULT),
        ({"gap": "shift", "overlap": "first"}, DEFAULT),
        ({"gap": "skip"}, SKIP),
        ({"overlap": "last", "gap": None}, LAST),
        ({"overlap": "both"}, BOTH),
    ],
)
def test_a_part_that_a_dst_rule_leaves_out_has_the_default(written: dict[str, Any], rule: DstRule) -> None:
    assert read_dst(written) == rule


@pytest.mark.parametrize(
    ("written", "part"),
    [
        ({"gap": "leap"}, "'leap' as gap; expected shift or skip"),
        ({"overlap": "second"}, "'second' as overlap; expected first or last or both"),
        ({"overlap": ["first"]}, "as overlap"),
        ({"gap": 1}, "'1' as gap"),
        ({"gaps": "skip"}, "'gaps' is no choice; expected gap, overlap"),
    ],
)
def test_an_unknown_value_of_a_dst_rule_is_refused(written: dict[str, Any], part: str) -> None:
    with pytest.raises(ScheduleError, match=part):
        read_dst(written)


def test_a_stored_series_leaves_out_the_default_dst_rule_and_keeps_any_other() -> None:
    plain = Series("30 2 * * *", "Europe/Paris", at("2027-01-01"))
    assert set(plain.to_item()) == {"schedule", "timezone", "startAt"}
    for gap in ("shift", "skip"):
        for overlap in ("first", "last", "both"):
            rule = read_dst({"gap": gap, "overlap": overlap})
            chosen = Series("30 2 * * *", "Europe/Paris", at("2027-01-01"), dst=rule)
            assert Series.from_item(chosen.to_item()) == chosen
    assert Series("@daily", "UTC", 0, dst=DstRule("skip", "both")).to_item() == {
        "schedule": "@daily",
        "timezone": "UTC",
        "startAt": 0,
        "gap": "skip",
        "overlap": "both",
    }


def effects(schedule: str, zone: str, after: str, through: str, rule: DstRule, **fields: Any) -> list[Any]:
    series = Series(schedule, zone, at(after), dst=rule, **fields)
    found = series.clock_effects(at(after), at(through))
    return [(said(each.instant), said(each.wall_s * 1000)[11:], each.cause, each.fires) for each in found]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (DEFAULT, [("2027-03-28 01:00", "02:30", "gap", True), ("2027-10-31 00:30", "02:30", "first", True),
                   ("2027-10-31 01:30", "02:30", "second", False)]),
        (DstRule("skip", "last"), [("2027-03-28 01:00", "02:30", "gap", False),
                                   ("2027-10-31 00:30", "02:30", "first", False),
                                   ("2027-10-31 01:30", "02:30", "second", True)]),
        (BOTH, [("2027-03-28 01:00", "02:30", "gap", True), ("2027-10-31 00:30", "02:30", "first", True),
                ("2027-10-31 01:30", "02:30", "second", True)]),
    ],
)  # fmt: skip
def test_an_occurrence_near_a_clock_change_has_its_reason(rule: DstRule, expected: list[Any]) -> None:
    assert effects("30 2 * * *", "Europe/Paris", "2027-01-01", "2027-12-31", rule) == expected


def test_each_local_time_in_a_gap_is_reported_though_they_fire_once() -> None:
    assert effects("0,20,40 2 * * *", "Europe/Paris", "2027-03-01", "2027-04-01", DEFAULT) == [
        ("2027-03-28 01:00", "02:00", "gap", True),
        ("2027-03-28 01:00", "02:20", "gap", True),
        ("2027-03-28 01:00", "02:40", "gap", True),
    ]


def test_times_in_a_gap_of_a_whole_day_are_reported_and_do_not_fire() -> None:
    assert effects("30 2 * * *", "Pacific/Apia", "2011-12-20", "2012-01-05", DEFAULT) == [
        ("2011-12-30 10:00", "02:30", "gap", False)
    ]


@pytest.mark.parametrize(
    ("rule", "fired", "told"),
    [
        (DEFAULT, ["2027-10-31 00:30"], [True, False]),
        (LAST, ["2027-10-31 01:30"], [False, True]),
        (BOTH, ["2027-10-31 00:30", "2027-10-31 01:30"], [True, True]),
    ],
)
@pytest.mark.parametrize("schedule", ["at(2027-10-31T02:30:00)", "R/2027-10-30T02:30:00/P1D"])
def test_every_notation_that_names_local_times_obeys_the_dst_rule(
    schedule: str, rule: DstRule, fired: list[str], told: list[bool]
) -> None:
    series = Series(schedule, "Europe/Paris", at("2027-10-01"), ttl_at=at("2027-10-31T12:00"), dst=rule)
    found = [said(each.due_at) for each in series.occurrences(at("2027-10-30T12:00"))]
    assert found == fired
    effects = list(series.clock_effects(at("2027-10-01"), at("2027-11-01")))
    assert [each.fires for each in effects] == told
    assert [each.cause for each in effects] == ["first", "second"]


def test_an_at_expression_whose_time_a_gap_skips_reports_the_gap() -> None:
    skipped = Series("at(2027-03-28T02:30:00)", "Europe/Paris", at("2027-03-01"), dst=SKIP)
    assert skipped.next_after(skipped.start_at) is None
    (effect,) = skipped.clock_effects(at("2027-03-01"), at("2027-04-01"))
    assert (effect.cause, effect.fires) == ("gap", False)


def test_clock_changes_are_reported_only_within_the_series_and_the_requested_range() -> None:
    assert effects("30 2 * * *", "Europe/Paris", "2027-03-28T01:00", "2027-10-31T00:29", DEFAULT) == []
    ends = {"ttl_at": at("2027-10-31T01:00")}
    found = effects("30 2 * * *", "Europe/Paris", "2027-04-01", "2027-12-01", DEFAULT, **ends)
    assert found == [("2027-10-31 00:30", "02:30", "first", True)]
    assert effects("30 2 * * *", "UTC", "2027-01-01", "2028-01-01", DEFAULT) == []


@pytest.mark.parametrize("schedule", ["30 * * * *", "*/5 2 * * *", "@every 1h", "@hourly", None])
def test_a_schedule_of_elapsed_time_is_not_affected_by_clock_changes(schedule: str | None) -> None:
    series = Series(schedule, "Europe/Paris", at("2027-01-01"), at("2027-03-01"))
    assert list(series.clock_effects(at("2027-01-01"), at("2028-01-01"))) == []
