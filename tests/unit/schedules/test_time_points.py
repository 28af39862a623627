"""A dueTime or ttl is an instant, or a duration that counts from an instant."""

import pytest
from tests.unit.schedules.say import at, said

from sweephand.base.instants import INSTANT_MAX
from sweephand.schedules import ScheduleError
from sweephand.schedules.clock.zones import zone_named
from sweephand.schedules.time_points import parse_time_point

NOW = at("2026-11-21T07:00:00Z")


def read(text: str, *, since: str = "2026-11-21T07:00:00Z", zone: str = "UTC", round_up: bool = True) -> str:
    from_at = at(since)
    time_point = parse_time_point(
        text, requested_at=min(NOW, from_at), counted_from=from_at, zone=zone_named(zone), round_up=round_up
    )
    return said(time_point)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2027-01-31T09:00:00Z", "2027-01-31 09:00"),
        ("2027-01-31t09:00:00z", "2027-01-31 09:00"),
        ("2027-01-31T09:00:00+02:30", "2027-01-31 06:30"),
        ("2027-01-31T09:00:00-00:00", "2027-01-31 09:00"),
        ("2027-01-31T09:00:00.25Z", "2027-01-31 09:00:00.250"),
        ("2027-12-31T23:59:60Z", "2028-01-01 00:00"),
        ("2028-01-01T01:59:60+02:00", "2028-01-01 00:00"),
        ("10s", "2026-11-21 07:00:10.000"),
        ("0s", "2026-11-21 07:00"),
        ("2h30m", "2026-11-21 09:30"),
        ("7d", "2026-11-28 07:00"),
        ("PT2H30M", "2026-11-21 09:30"),
        ("P1M", "2026-12-21 07:00"),
        ("P1Y2M3DT4H", "2028-01-24 11:00"),
        ("P1Y2D", "2027-11-23 07:00"),
        ("PT1H2S", "2026-11-21 08:00:02.000"),
    ],
)
def test_a_time_point_is_read_in_each_notation(text: str, expected: str) -> None:
    assert read(text) == expected


def test_parts_of_a_millisecond_are_rounded_up_for_the_earliest_and_cut_off_for_the_last_instant() -> None:
    assert read("2027-01-31T09:00:00.1234567890123Z") == "2027-01-31 09:00:00.124"
    assert read("2027-01-31T09:00:00.1234567890123Z", round_up=False) == "2027-01-31 09:00:00.123"
    assert read("2027-01-31T09:00:00.1230000000001Z") == "2027-01-31 09:00:00.124"
    assert read("1500us") == "2026-11-21 07:00:00.002"
    assert read("1500us", round_up=False) == "2026-11-21 07:00:00.001"


@pytest.mark.parametrize(
    ("since", "duration", "expected"),
    [
        ("2027-01-31T09:00:00Z", "P1M", "2027-02-28 09:00"),
        ("2028-01-31T09:00:00Z", "P1M", "2028-02-29 09:00"),
        ("2028-02-29T09:00:00Z", "P1Y", "2029-02-28 09:00"),
        ("2027-08-31T09:00:00Z", "P6M", "2028-02-29 09:00"),
        ("2027-01-31T09:00:00Z", "P1M1D", "2027-03-01 09:00"),
        ("2027-11-30T09:00:00Z", "P1M", "2027-12-30 09:00"),
        ("2027-12-31T09:00:00.125Z", "P1M", "2028-01-31 09:00:00.125"),
    ],
)
def test_months_are_clamped_to_the_end_of_the_month(since: str, duration: str, expected: str) -> None:
    assert read(duration, since=since) == expected


def test_calendar_parts_follow_the_wall_clock_of_the_zone_and_elapsed_ones_do_not() -> None:
    # On 28 March 2027 Paris skips 02:00 to 03:00; on 31 October it repeats it.
    assert read("P1D", since="2027-03-27T11:00:00Z", zone="Europe/Paris") == "2027-03-28 10:00"
    assert read("24h", since="2027-03-27T11:00:00Z", zone="Europe/Paris") == "2027-03-28 11:00"
    assert read("1d", since="2027-03-27T11:00:00Z", zone="Europe/Paris") == "2027-03-28 11:00"
    assert read("PT24H", since="2027-03-27T11:00:00Z", zone="Europe/Paris") == "2027-03-28 11:00"
    assert read("P1DT1H", since="2027-03-27T01:30:00Z", zone="Europe/Paris") == "2027-03-28 02:00"


def test_a_wall_time_that_does_not_exist_is_the_end_of_the_gap_and_one_that_exists_twice_is_the_first() -> (
    None
):
    assert read("P1D", since="2027-03-27T01:30:00Z", zone="Europe/Paris") == "2027-03-28 01:00"
    assert read("P1D", since="2027-10-30T00:30:00Z", zone="Europe/Paris") == "2027-10-31 00:30"


def test_months_are_added_in_the_zone_even_if_utc_has_another_date() -> None:
    # 30 April, 23:00 UTC, is 1 May, 09:00, in Brisbane: a month later is 1 June there.
    assert read("P1M", since="2027-04-30T23:00:00Z", zone="Australia/Brisbane") == "2027-05-31 23:00"


def test_an_instant_up_to_a_minute_ago_is_now_and_an_older_one_is_refused() -> None:
    assert read("2026-11-21T06:59:00Z") == "2026-11-21 07:00"
    with pytest.raises(ScheduleError, match="is past"):
        read("2026-11-21T06:58:59.999Z")


@pytest.mark.parametrize(
    "text",
    [
        "2027-01-31",
        "2027-01-31T09:00Z",
        "2027-01-31T09:00:00",
        "2027-01-31 09:00:00Z",
        "2027-1-31T09:00:00Z",
        "2027-02-30T09:00:00Z",
        "2027-13-01T09:00:00Z",
        "2027-01-31T24:00:00Z",
        "2027-01-31T09:60:00Z",
        "2027-01-31T09:00:60Z",
        "2027-01-30T23:59:60Z",
        "2027-01-31T09:00:00+24:00",
        "2027-01-31T09:00:00+01:60",
        "2027-01-31T09:00:00+01",
        "2027-01-31T09:00:00,5Z",
        "2027-01-31T09:00:00.Z",
        "2027-01-31T09:00:00Z\n",
        "0000-01-31T09:00:00Z",
        "0001-01-01T00:00:00+01:00",
        "9999-12-31T23:59:60Z",
        "9999-12-31T23:59:59-01:00",
        "20270131T090000Z",
        "٢٠٢٧-01-31T09:00:00Z",
        "31/01/2027",
        "",
        "now",
        "tomorrow",
        "R3/PT1H",
        "-10s",
        "P",
        "1" * 100,
        "P290Y" * 5,
    ],
)
def test_a_text_that_is_no_time_point_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ScheduleError, match="expected"):
        read(text)


@pytest.mark.parametrize("duration", ["P1Y", "P12M", "P1D", "PT24H", "1d"])
def test_a_time_point_beyond_the_year_9999_is_refused(duration: str) -> None:
    last = "9999-12-31T12:00:00Z"
    with pytest.raises(ScheduleError, match="beyond the year 9999"):
        parse_time_point(
            duration, requested_at=NOW, counted_from=at(last), zone=zone_named("Pacific/Kiritimati")
        )


def test_the_last_instant_of_the_calendar_is_accepted() -> None:
    assert (
        parse_time_point(
            "9999-12-31T23:59:59.999Z", requested_at=NOW, counted_from=NOW, zone=zone_named("UTC")
        )
        == INSTANT_MAX
    )
