"""ISO 8601 repetitions: their number, their start, and their periods on the clock and on the calendar."""

from itertools import islice

import pytest
from tests.unit.schedules.say import asked, at, said

from sweephand.base.errors import InvalidError
from sweephand.base.limits import REPEATS_MAX
from sweephand.schedules import Occurrence, ScheduleError, Series
from sweephand.schedules.notations.parsing import parse_schedule

NOW = at("2026-11-21T07:00:00Z")


def dues(series: Series, count: int = 6) -> list[str]:
    return [said(each.due_at) for each in islice(series.occurrences(NOW - 1), count)]


def test_r4_fires_four_times_in_all_and_first_at_once() -> None:
    series = asked("R4/PT3S")
    assert dues(series) == ["2026-11-21 07:00"] + [f"2026-11-21 07:00:0{each}.000" for each in (3, 6, 9)]
    assert series.last_at() == NOW + 9_000


@pytest.mark.parametrize(
    ("schedule", "zone", "expected"),
    [
        ("R/PT90M", "UTC", ["2026-11-21 07:00", "2026-11-21 08:30"]),
        ("R/2027-01-01T00:00:00Z/P1D", "UTC", ["2027-01-01 00:00", "2027-01-02 00:00"]),
        ("R2/2027-01-01T01:00:00+01:00/PT1H", "UTC", ["2027-01-01 00:00", "2027-01-01 01:00"]),
        # A local start is that of the job's zone.
        ("R2/2027-01-01T00:00:00/PT1H", "Asia/Tokyo", ["2026-12-31 15:00", "2026-12-31 16:00"]),
        ("R2/2027-01-01/P1D", "Asia/Tokyo", ["2026-12-31 15:00", "2027-01-01 15:00"]),
        # Counted from the start, not from the last: the 31st comes back.
        (
            "R/2027-01-31T00:00:00Z/P1M",
            "UTC",
            ["2027-01-31 00:00", "2027-02-28 00:00", "2027-03-31 00:00", "2027-04-30 00:00"],
        ),
        ("R/2027-08-31T12:00:00Z/P6M", "UTC", ["2027-08-31 12:00", "2028-02-29 12:00", "2028-08-31 12:00"]),
        ("R/2028-02-29T12:00:00Z/P1Y", "UTC", ["2028-02-29 12:00", "2029-02-28 12:00", "2030-02-28 12:00"]),
        ("R/2027-01-31T00:00:00Z/P1M1D", "UTC", ["2027-01-31 00:00", "2027-03-01 00:00", "2027-04-02 00:00"]),
        ("R/2027-12-31T00:00:00Z/P1Y1D", "UTC", ["2027-12-31 00:00", "2029-01-01 00:00", "2030-01-02 00:00"]),
        ("R/2027-01-01T00:00:00Z/PT1H2S", "UTC", ["2027-01-01 00:00", "2027-01-01 01:00:02.000"]),
        ("R/2027-01-01T00:00:00Z/P2W", "UTC", ["2027-01-01 00:00", "2027-01-15 00:00", "2027-01-29 00:00"]),
        (
            "R/2027-01-01T00:00:00Z/P1DT1H",
            "UTC",
            ["2027-01-01 00:00", "2027-01-02 01:00", "2027-01-03 02:00"],
        ),
        # A calendar day keeps its time on the wall, 24 hours do not.
        (
            "R3/2027-03-27T09:00:00/P1D",
            "Europe/Paris",
            ["2027-03-27 08:00", "2027-03-28 07:00", "2027-03-29 07:00"],
        ),
        (
            "R3/2027-03-27T09:00:00/PT24H",
            "Europe/Paris",
            ["2027-03-27 08:00", "2027-03-28 08:00", "2027-03-29 08:00"],
        ),
        # Clock changes, as for a fixed time of cron.
        (
            "R3/2027-03-27T02:30:00/P1D",
            "Europe/Paris",
            ["2027-03-27 01:30", "2027-03-28 01:00", "2027-03-29 00:30"],
        ),
        (
            "R3/2027-10-30T02:30:00/P1D",
            "Europe/Paris",
            ["2027-10-30 00:30", "2027-10-31 00:30", "2027-11-01 01:30"],
        ),
        # The start itself is an instant: the second 02:30 of the doubled hour.
        ("R2/2027-10-31T01:30:00Z/P1D", "Europe/Paris", ["2027-10-31 01:30", "2027-11-01 01:30"]),
    ],
)
def test_a_repetition_fires_at_the_multiples_of_its_period(
    schedule: str, zone: str, expected: list[str]
) -> None:
    assert dues(asked(schedule, timezone=zone), len(expected)) == expected


def test_parts_of_a_second_of_the_start_are_kept() -> None:
    assert dues(asked("R2/P1D", now="2026-11-21T07:00:00.250Z")) == [
        "2026-11-21 07:00:00.250",
        "2026-11-22 07:00:00.250",
    ]


def test_a_due_time_is_the_first_fire_and_the_anchor() -> None:
    assert dues(asked("R2/PT1H", due_time="90s")) == ["2026-11-21 07:01:30.000", "2026-11-21 08:01:30.000"]
    moved = asked("R2/2027-01-01T00:00:00Z/P1M", due_time="2027-01-31T09:00:00Z")
    assert dues(moved) == ["2027-01-31 09:00", "2027-02-28 09:00"]


def test_a_repetition_with_a_past_start_passes_over_its_past_instants() -> None:
    assert dues(asked("R/2026-11-21T06:00:00Z/PT25M"), 2) == ["2026-11-21 07:15", "2026-11-21 07:40"]
    assert dues(asked("R4/2026-11-18T09:00:00Z/P1D")) == ["2026-11-21 09:00"]
    assert dues(asked("R/2026-01-31T07:00:00Z/P1M"), 2) == ["2026-11-30 07:00", "2026-12-31 07:00"]
    # One that falls on the request itself still fires.
    assert dues(asked("R/2026-11-20T07:00:00Z/P1D"), 1) == ["2026-11-21 07:00"]
    assert dues(asked("R/2026-11-20T07:00:00Z/PT24H"), 1) == ["2026-11-21 07:00"]


def test_a_start_up_to_a_minute_ago_means_now() -> None:
    assert dues(asked("R2/2026-11-21T06:59:00Z/PT1H")) == ["2026-11-21 07:00", "2026-11-21 08:00"]
    assert dues(asked("R1/2026-11-21T06:59:00Z/P1D")) == ["2026-11-21 07:00"]


@pytest.mark.parametrize("schedule", ["R4/2026-11-01T00:00:00Z/P1D", "R1/2026-11-21T06:58:59Z/PT1H"])
def test_a_repetition_that_is_over_is_refused(schedule: str) -> None:
    with pytest.raises(InvalidError, match="never fires again"):
        asked(schedule)


@pytest.mark.parametrize(("repeats", "count"), [(1, 1), (3, 3), (4, 4), (5, 4)])
def test_the_smaller_of_the_number_of_a_repetition_and_repeats_limits_the_series(
    repeats: int, count: int
) -> None:
    for period in ("PT1H", "P1D"):
        series = asked(f"R4/{period}", repeats=repeats)
        occurrences = list(series.occurrences(0))
        assert len(occurrences) == count
        assert series.last_at() == occurrences[-1].due_at


def test_a_ttl_ends_a_repetition() -> None:
    assert asked("R4/P1D", ttl="P2D").last_at() == at("2026-11-23T07:00Z")
    assert asked("R/P1D", ttl="P2D").last_at() == at("2026-11-23T07:00Z")
    assert asked("R/P1D").last_at() is None


@pytest.mark.parametrize("schedule", ["R/PT1S", "R/P1D", "R/P1M", "R/P1M3D", "R/2027-01-31T00:00:00/P1M"])
def test_the_occurrences_of_a_repetition_have_the_same_numbers_from_any_beginning(schedule: str) -> None:
    series = asked(schedule, timezone="Europe/Paris")
    first = list(islice(series.occurrences(0), 50))
    for at_place in (0, 1, 17, 48):
        known = first[at_place]
        assert series.next_after(known.due_at) == first[at_place + 1]
        assert series.next_after(known.due_at, known) == first[at_place + 1]
    far = at("2400-01-01T00:00:00Z")
    found = series.next_after(far)
    assert found is not None
    assert found.due_at > far
    assert series.next_after(found.due_at - 1) == found


@pytest.mark.parametrize("zone", ["UTC", "Pacific/Kiritimati", "Etc/GMT+12"])
@pytest.mark.parametrize("period", ["P1D", "P1M", "P1M1D", "PT1H"])
def test_the_calendar_ends_every_repetition(period: str, zone: str) -> None:
    late = asked(f"R/{period}", timezone=zone, due_time="9999-12-31T23:30:00Z")
    assert dues(late) == ["9999-12-31 23:30"]
    assert dues(asked(f"R3/9999-12-31T23:30:00Z/{period}", timezone=zone)) == ["9999-12-31 23:30"]
    early = asked(f"R2/1970-01-01/{period}", timezone=zone, due_time="10s")
    assert len(dues(early)) == 2


@pytest.mark.parametrize(
    ("dst", "expected"),
    [
        ({}, ["2027-03-27 01:30", "2027-03-28 01:00", "2027-03-29 00:30"]),
        ({"gap": "skip"}, ["2027-03-27 01:30", "2027-03-29 00:30", "2027-03-30 00:30"]),
    ],
)
def test_r3_fires_three_times_although_a_gap_drops_one(dst: dict[str, str], expected: list[str]) -> None:
    series = asked("R3/2027-03-27T02:30:00/P1D", timezone="Europe/Paris", dst=dst)
    assert dues(series) == expected
    assert series.last_at() == at(expected[-1])


@pytest.mark.parametrize(
    ("overlap", "expected"),
    [
        ("first", ["2027-10-30 00:30", "2027-10-31 00:30", "2027-11-01 01:30"]),
        ("last", ["2027-10-30 00:30", "2027-10-31 01:30", "2027-11-01 01:30"]),
        ("both", ["2027-10-30 00:30", "2027-10-31 00:30", "2027-10-31 01:30"]),
    ],
)
def test_r3_fires_three_times_although_an_overlap_doubles_one(overlap: str, expected: list[str]) -> None:
    series = asked("R3/2027-10-30T02:30:00/P1D", timezone="Europe/Paris", dst={"overlap": overlap})
    assert dues(series) == expected
    assert series.last_at() == at(expected[-1])
    two = asked("R2/2027-10-30T02:30:00/P1D", timezone="Europe/Paris", dst={"overlap": overlap})
    assert dues(two) == expected[:2]


@pytest.mark.parametrize(
    ("schedule", "zone", "dst", "expected"),
    [
        # Nuuk's clocks go from Saturday, 27 March 2027, 23:00 to Sunday 00:00.
        (
            "R/2027-03-27T23:30:00/P1W",
            "America/Nuuk",
            {},
            ["2027-03-28 01:00", "2027-04-04 00:30", "2027-04-11 00:30"],
        ),
        (
            "R/2027-03-28T02:30:00/P1D",
            "Europe/Paris",
            {},
            ["2027-03-28 01:00", "2027-03-29 00:30", "2027-03-30 00:30"],
        ),
        (
            "R/2027-03-28T02:30:00/P1D",
            "Europe/Paris",
            {"gap": "skip"},
            ["2027-03-29 00:30", "2027-03-30 00:30"],
        ),
        ("R2/2027-03-28T02:30:00/P1D", "Europe/Paris", {}, ["2027-03-28 01:00", "2027-03-29 00:30"]),
        (
            "R2/2027-03-28T02:30:00/P1D",
            "Europe/Paris",
            {"gap": "skip"},
            ["2027-03-29 00:30", "2027-03-30 00:30"],
        ),
        (
            "R/2027-10-31T02:30:00/P1M",
            "Europe/Paris",
            {"overlap": "last"},
            ["2027-10-31 01:30", "2027-11-30 01:30"],
        ),
        ("R/2027-10-31T02:30:00/P1M", "Europe/Paris", {}, ["2027-10-31 00:30", "2027-11-30 01:30"]),
        (
            "R3/2027-10-31T02:30:00/P1M",
            "Europe/Paris",
            {"overlap": "both"},
            ["2027-10-31 00:30", "2027-10-31 01:30", "2027-11-30 01:30"],
        ),
        # A day that a zone left out is not made up (semantics.md).
        ("R/2011-12-30T09:00:00/P1D", "Pacific/Apia", {}, ["2026-11-21 20:00", "2026-11-22 20:00"]),
        # A dueTime is an instant, which no clock change moves.
        ("R1/2027-03-28T02:30:00/P1D", "Europe/Paris", {}, ["2027-03-28 01:00"]),
    ],
)
def test_a_clock_change_moves_only_the_local_start_that_it_drops(
    schedule: str, zone: str, dst: dict[str, str], expected: list[str]
) -> None:
    found = dues(asked(schedule, timezone=zone, dst=dst), len(expected))
    assert found == expected


@pytest.mark.parametrize("overlap", ["first", "last", "both"])
@pytest.mark.parametrize("period", ["P1D", "P5D", "P1M", "P7M", "P1M1D"])
def test_the_last_occurrence_of_a_long_repetition_has_the_number_of_the_repetition(
    period: str, overlap: str
) -> None:
    series = asked(f"R30000/2090-03-28T02:30:00/{period}", timezone="Europe/Paris", dst={"overlap": overlap})
    last_at = series.last_at()
    assert last_at is not None
    assert series.next_after(last_at) is None
    if overlap != "both" and last_at < at("2600-01-01"):
        assert series.next_after(last_at - 1) == Occurrence(last_at, 30_000)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("R", "'R' has 1 part"),
        ("R4", "'R4' has 1 part"),
        ("R4/", "'' as the period"),
        ("R0/PT1S", "'R0'"),
        (f"R{REPEATS_MAX + 1}/PT1S", f"'R{REPEATS_MAX + 1}'"),
        ("R4/PT0S", "'PT0S'"),
        ("R/P0D", "'P0D'"),
        ("R/P", "'P' is no ISO 8601 duration"),
        ("R/PT0.5S", "'PT0.5S'"),
        ("R/1h", "'1h' as the period"),
        ("R/P1Dx", "'P1Dx'"),
        ("R/P300Y", "too long"),
        ("R/2027-01-01T00:00:00Z", "as the period"),
        ("R/P1D/2027-01-01T00:00:00Z", "as the period"),
        ("R/soon/P1D", "'soon' is no RFC 3339 instant"),
        ("R/2027-02-30T00:00:00Z/P1D", "'2027-02-30T00:00:00Z'"),
        ("R/2027-02-30/P1D", "names no local time"),
        ("R/2027-01-01T00:00:00Z/P1D/P1D", "has 4 parts"),
        ("R/1969-12-31T23:59:59Z/P1D", "'1969-12-31T23:59:59Z'"),
        ("R/0001-01-01/P1D", "'0001-01-01'"),
        ("R-1/PT1S", "'R-1/PT1S'"),
        ("r4/PT3S", "'r4/PT3S'"),
    ],
)
def test_an_invalid_repetition_is_refused_and_quoted(text: str, part: str) -> None:
    with pytest.raises(ScheduleError) as refusal:
        parse_schedule(text)
    assert part in str(refusal.value)
    assert "expected" in str(refusal.value)
