"""Zones are those of the packaged data, and their spans tile time."""

import datetime as dt
import importlib.resources
import struct
from itertools import islice, pairwise, takewhile

import pytest
from tests.unit.schedules.oracle import packaged
from tests.unit.schedules.say import at

from sweephand.schedules import ScheduleError
from sweephand.schedules.zones import _PROBE_S, _REACH_S, zone_named, zone_names


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
    with pytest.raises(ScheduleError, match="expected Europe/Paris"):
        zone_named("EUROPE/PARIS")


def test_every_name_of_the_database_can_be_used() -> None:
    assert len(zone_names()) > 500
    for name in zone_names():
        assert zone_named(name).offset_at(seconds("2026-11-21")) == _offset(name, seconds("2026-11-21"))


def test_old_names_are_kept() -> None:
    assert {"US/Eastern", "GMT", "Etc/GMT+3", "EST5EDT"} <= zone_names()


@pytest.mark.parametrize(
    "name",
    ["UTC", "Europe/Dublin", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Gaza", "America/Boa_Vista",
     "Pacific/Apia", "Antarctica/Troll", "Asia/Kathmandu", "America/Nuuk", "Africa/Monrovia"],
)  # fmt: skip
def test_spans_follow_each_other_and_no_offset_changes_inside_one(name: str) -> None:
    zone = zone_named(name)
    begin, end = seconds("1970-01-03"), seconds("2030-01-01")
    spans = list(takewhile(lambda span: span.start_s < end, zone.spans(begin)))
    assert spans[0].start_s <= begin < spans[0].end_s
    for span, following in pairwise(spans):
        assert following.start_s == span.end_s
        assert following.covered_s >= span.end_s + span.offset_s
    for span in spans:
        assert span.offset_s == _offset(name, span.start_s)
        assert {_offset(name, at_s) for at_s in range(span.start_s, span.end_s, 43_200)} == {span.offset_s}
        assert _offset(name, span.end_s - 1) == span.offset_s


def test_a_zone_without_transitions_yields_year_after_year_without_a_gap() -> None:
    spans = list(islice(zone_named("UTC").spans(seconds("2026-11-21")), 200))
    assert spans[-1].start_s == seconds("2225-01-01")
    assert all(span.covered_s == span.start_s and span.repeated_s == span.end_s for span in spans)


def test_no_two_transitions_lie_so_near_to_each_other_that_looking_for_them_could_miss_both() -> None:
    begin = seconds("1970-01-01")
    nearest = min(
        (later[0] - earlier[0], name)
        for name in zone_names()
        for earlier, later in pairwise(written_transitions(name))
        if later[0] > begin
    )
    # Rules for all years to come, in the footers, change twice a year.
    assert nearest[0] > 2 * _PROBE_S, nearest
    moves = [after - before for name in zone_names() for _, before, after in written_transitions(name)]
    assert max(map(abs, moves)) < _REACH_S


@pytest.mark.parametrize("name", sorted({*sorted(zone_names())[::11], "Asia/Gaza", "America/Recife"}))
def test_every_transition_that_the_data_spell_out_is_found(name: str) -> None:
    zone = zone_named(name)
    found = [change for year in range(1970, 2060) for change in zone._transitions_in(year)]
    end = seconds("2060-01-01")
    written = [each for each in written_transitions(name) if 0 <= each[0] < end]
    assert set(written) <= set(found)
    # Beyond what is spelled out only rules for all years to come are left.
    last = written[-1][0] if written else 0
    assert [each for each in found if each.at_s <= last] == written


@pytest.mark.parametrize("name", sorted(zone_names())[::23])
def test_a_far_year_has_the_spans_of_the_one_400_years_before(name: str) -> None:
    zone = zone_named(name)
    for year in (2500, 2501, 2899, 2903, 3712, 9999):
        assert zone._spans_in(year) == tuple(zone._find_spans(year))


def test_a_zone_keeps_no_more_than_the_years_that_differ() -> None:
    zone = zone_named.__wrapped__("Europe/Paris")
    for _ in zone.spans(seconds("2026-11-21")):
        pass
    assert max(len(zone._transitions), len(zone._spans)) < 500


def test_the_last_spans_end_with_the_calendar() -> None:
    *_, last = zone_named("Pacific/Kiritimati").spans(seconds("9998-06-01"))
    assert last.end_s == seconds("9999-12-31T23:59:59") + 1
    assert list(zone_named("Europe/Paris").spans(10**15)) == []


def test_the_machines_own_zone_and_zone_files_are_not_asked(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    monkeypatch.setenv("PYTHONTZPATH", str(tmp_path_factory.mktemp("zones")))
    assert zone_named.__wrapped__("Europe/Paris").offset_at(seconds("2026-07-01")) == 7200


def written_transitions(name: str) -> list[tuple[int, int, int]]:
    """What a zone's file (RFC 9636, version 2) spells out: the instant, the offset before and after it."""
    data = importlib.resources.files("tzdata").joinpath("zoneinfo", *name.split("/")).read_bytes()
    header = struct.Struct(">4s1s15x6l")
    _, _, utc, standard, leaps, times, types, letters = header.unpack_from(data)
    at = header.size + times * 5 + types * 6 + letters + leaps * 8 + standard + utc
    _, _, _, _, _, times, types, _ = header.unpack_from(data, at)
    at += header.size
    instants = struct.unpack_from(f">{times}q", data, at)
    kinds = data[at + 8 * times : at + 9 * times]
    offsets = [struct.unpack_from(">lbb", data, at + 9 * times + 6 * kind)[0] for kind in range(types)]
    ruling = [offsets[0], *(offsets[kind] for kind in kinds)]
    changes = zip(instants, ruling, ruling[1:], strict=False)
    return [(instant, before, after) for instant, before, after in changes if before != after]


def _offset(name: str, instant_s: int) -> int:
    moment = dt.datetime.fromtimestamp(instant_s, dt.UTC).astimezone(packaged(name))
    offset = moment.utcoffset()
    assert offset is not None
    return int(offset.total_seconds())
