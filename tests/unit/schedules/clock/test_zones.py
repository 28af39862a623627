"""Zones are those of the packaged data, and their offset periods leave no gap."""

import datetime as dt
import importlib.resources
from itertools import islice, pairwise, takewhile

import pytest
from tests.unit.schedules.oracle import packaged
from tests.unit.schedules.say import at

from sweephand.schedules import ScheduleError
from sweephand.schedules.clock.zones import (
    _PROBE_S,
    _REACH_S,
    Transition,
    read_tzif,
    year_like,
    zone_named,
    zone_names,
)


def seconds(text: str) -> int:
    return at(text) // 1000


@pytest.mark.parametrize(
    "name",
    ["", "Paris", "Europe/paris", "../x", "/etc/passwd", "Europe", "Europe/", "Europe/../UTC",
     "zone.tab", "posixrules", "UTC ", "UTC\0", "+01:00", "Local", "Mars/Olympus", "a" * 10_000, "✈"],
)  # fmt: skip
def test_a_name_that_the_database_does_not_list_is_refused(name: str) -> None:
    with pytest.raises(ScheduleError, match="is no time zone"):
        zone_named(name)


def test_a_name_in_other_letters_is_refused_with_the_right_spelling() -> None:
    with pytest.raises(ScheduleError, match=r"Did you mean Europe/Paris\?"):
        zone_named("EUROPE/PARIS")


def test_every_name_of_the_database_can_be_used() -> None:
    assert len(zone_names()) > 500
    for name in zone_names():
        assert zone_named(name).offset_at(seconds("2026-11-21")) == _offset(name, seconds("2026-11-21"))


def test_former_names_of_zones_are_accepted() -> None:
    assert {"US/Eastern", "GMT", "Etc/GMT+3", "EST5EDT"} <= zone_names()


@pytest.mark.parametrize(
    "name",
    ["UTC", "Europe/Dublin", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Gaza", "America/Boa_Vista",
     "Pacific/Apia", "Antarctica/Troll", "Asia/Kathmandu", "America/Nuuk", "Africa/Monrovia"],
)  # fmt: skip
def test_offset_periods_follow_each_other_and_no_offset_changes_inside_one(name: str) -> None:
    zone = zone_named(name)
    begin, end = seconds("1970-01-03"), seconds("2030-01-01")
    spans = list(takewhile(lambda span: span.start_s < end, zone.offset_periods(begin)))
    assert spans[0].start_s <= begin < spans[0].end_s
    for span, following in pairwise(spans):
        assert following.start_s == span.end_s
        assert following.covered_s >= span.end_s + span.offset_s
    for span in spans:
        assert span.offset_s == _offset(name, span.start_s)
        assert {_offset(name, at_s) for at_s in range(span.start_s, span.end_s, 43_200)} == {span.offset_s}
        assert _offset(name, span.end_s - 1) == span.offset_s


def test_a_zone_without_transitions_yields_one_offset_period_for_each_year() -> None:
    spans = list(islice(zone_named("UTC").offset_periods(seconds("2026-11-21")), 200))
    assert spans[-1].start_s == seconds("2225-01-01")
    assert all(span.covered_s == span.start_s and span.repeated_s == span.end_s for span in spans)


def test_no_two_transitions_of_a_zone_are_so_close_that_the_search_could_miss_both() -> None:
    nearest = min(
        (later.at_s - earlier.at_s, name)
        for name in zone_names()
        for earlier, later in pairwise(spelled(name))
    )
    assert nearest[0] > 2 * _PROBE_S, nearest
    moves = [each.after_s - each.before_s for name in zone_names() for each in spelled(name)]
    assert max(map(abs, moves)) < _REACH_S


@pytest.mark.parametrize("name", sorted({*sorted(zone_names())[::11], "Asia/Gaza", "America/Recife"}))
def test_the_transitions_of_a_file_are_those_of_zoneinfo(name: str) -> None:
    zone = zone_named(name)
    written = [each for each in spelled(name) if each.at_s >= 0]
    for change in written:
        assert (zone.offset_at(change.at_s - 1), zone.offset_at(change.at_s)) == change[1:]
    years = range(1970, written[-1].at_s // 31_556_952 + 1970 if written else 2040)
    found = [change for year in years for change in zone._find_transitions(year)]
    assert found == [each for each in written if each.at_s < seconds(f"{years.stop}-01-01")]


def test_a_zone_without_clock_changes_stores_no_transitions() -> None:
    zone = zone_named.__wrapped__("UTC")
    assert zone._transitions_in(2050) == ()
    assert zone._transitions == {}


@pytest.mark.parametrize("name", sorted(zone_names())[::23])
def test_the_transitions_calculated_from_a_similar_year_are_those_of_the_year_itself(name: str) -> None:
    zone = zone_named(name)
    for year in (2087, 2095, 2100, 2104, 2500, 2501, 2899, 3712, 9999):
        spans = zone.offset_periods_in(year)
        changes = list(zone._find_transitions(year))
        assert [span.start_s for span in spans[1:]] == [each.at_s for each in changes]
        assert [span.offset_s for span in spans[1:]] == [each.after_s for each in changes]
        assert spans[0].offset_s == _offset(name, spans[0].start_s)
        assert spans == tuple(zone._find_offset_periods(year))


def test_a_zone_keeps_one_copy_of_the_offset_periods_of_similar_years() -> None:
    zone = zone_named.__wrapped__("Europe/Paris")
    assert len(list(zone.offset_periods(seconds("1900-01-01")))) > 24_000
    # Those whose changes are spelled out, and 14 kinds.
    assert len(zone._offset_periods) < 120


def test_two_years_are_similar_if_they_have_the_same_weekdays_on_the_same_dates() -> None:
    assert len({year_like(year, 2030) for year in range(2030, 2430)}) == 14
    for year in (2030, 2100, 2101, 2400, 9999):
        like = year_like(year, 2030)
        assert dt.date(like, 1, 1).weekday() == dt.date(year, 1, 1).weekday()
        assert dt.date(like, 3, 1).weekday() == dt.date(year, 3, 1).weekday()
        assert 2030 <= like < 2070


def test_the_last_offset_period_ends_with_the_calendar() -> None:
    *_, last = zone_named("Pacific/Kiritimati").offset_periods(seconds("9998-06-01"))
    assert last.end_s == seconds("9999-12-31T23:59:59") + 1
    assert list(zone_named("Europe/Paris").offset_periods(10**15)) == []


def test_the_zone_and_the_zone_files_of_the_machine_are_not_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    monkeypatch.setenv("PYTHONTZPATH", str(tmp_path_factory.mktemp("zones")))
    assert zone_named.__wrapped__("Europe/Paris").offset_at(seconds("2026-07-01")) == 7200


def spelled(name: str) -> tuple[Transition, ...]:
    place = importlib.resources.files("tzdata").joinpath("zoneinfo", *name.split("/"))
    return read_tzif(place.read_bytes()).changes


def _offset(name: str, instant_s: int) -> int:
    moment = dt.datetime.fromtimestamp(instant_s, dt.UTC).astimezone(packaged(name))
    offset = moment.utcoffset()
    assert offset is not None
    return int(offset.total_seconds())
