"""Lists of instants: each instant fires once, past ones are ignored, and an invalid one is named."""

from typing import Any

import pytest
from tests.unit.schedules.say import asked, at, said

from sweephand.base.errors import InvalidError
from sweephand.base.instants import rfc3339
from sweephand.base.limits import INSTANTS_MAX
from sweephand.schedules import Occurrence, Series

NOW = at("2026-11-21T07:00:00Z")


def dues(series: Series) -> list[str]:
    return [said(each.due_at) for each in series.occurrences(0)]


def refusals(**fields: Any) -> dict[str, str]:
    with pytest.raises(InvalidError) as refusal:
        asked(**fields)
    return {each.pointer: each.detail for each in refusal.value.violations}


def test_instants_fire_in_order_each_once() -> None:
    series = asked(
        [
            "2026-12-24T14:00:00Z",
            "2026-12-01T00:00:00.5Z",
            "2026-12-24T15:00:00+01:00",
            "2026-12-02T00:00:00z",
        ]
    )
    assert dues(series) == ["2026-12-01 00:00:00.500", "2026-12-02 00:00", "2026-12-24 14:00"]
    assert series.last_at() == at("2026-12-24T14:00Z")
    assert series.next_after(at("2026-12-02")) == Occurrence(at("2026-12-24T14:00Z"), 3)


def test_past_instants_are_skipped_and_the_present_instant_fires() -> None:
    series = asked(["2026-11-21T06:59:59.999Z", "2026-11-21T07:00:00Z", "2026-11-22T00:00:00Z"])
    assert dues(series) == ["2026-11-21 07:00", "2026-11-22 00:00"]
    assert series.next_after(NOW) == Occurrence(at("2026-11-22"), 2)


def test_instants_at_or_after_the_due_time_fire() -> None:
    listed = ["2026-12-01T00:00:00Z", "2026-12-02T00:00:00Z", "2026-12-03T00:00:00Z"]
    assert dues(asked(listed, due_time="2026-12-02T00:00:00Z")) == ["2026-12-02 00:00", "2026-12-03 00:00"]
    late = refusals(schedule=listed, due_time="2026-12-03T00:00:01Z")
    assert list(late) == ["/dueTime"]
    assert "each of the 3 instants" in late["/dueTime"]


def test_ttl_and_repeats_limit_a_list_of_instants() -> None:
    listed = ["2026-12-01T00:00:00Z", "2026-12-02T00:00:00Z", "2026-12-03T00:00:00Z"]
    assert dues(asked(listed, ttl="2026-12-02T00:00:00Z")) == ["2026-12-01 00:00", "2026-12-02 00:00"]
    assert asked(listed, ttl="2026-12-02T12:00:00Z").last_at() == at("2026-12-02")
    assert asked(listed, repeats=2).last_at() == at("2026-12-02")
    assert asked(listed, repeats=9).last_at() == at("2026-12-03")
    assert list(refusals(schedule=listed, ttl="2026-11-30T00:00:00Z")) == ["/ttl"]


def test_a_list_of_a_hundred_instants_is_accepted_and_a_longer_one_is_refused() -> None:
    listed = [rfc3339(NOW + 1_000 * each) for each in range(INSTANTS_MAX)]
    assert len(dues(asked(listed))) == 100
    assert "101 instants; expected at most 100" in refusals(schedule=[*listed, listed[0]])["/schedule"]


def test_a_list_of_past_instants_alone_is_refused() -> None:
    found = refusals(schedule=["2026-11-21T06:59:59Z", "2020-01-01T00:00:00Z"])
    assert found["/schedule"].startswith(
        "each of the 2 instants is past, the latest at 2026-11-21T06:59:59.000Z"
    )


def test_an_empty_list_of_instants_is_refused() -> None:
    assert refusals(schedule=[]) == {
        "/schedule": "an empty list; expected at least one instant such as 2027-01-31T09:00:00Z"
    }


@pytest.mark.parametrize(
    ("bad", "part"),
    [
        ("tomorrow", "'tomorrow'"),
        ("2027-02-30T00:00:00Z", "'2027-02-30T00:00:00Z'"),
        ("2027-01-01T00:00:00", "'2027-01-01T00:00:00'"),
        ("10s", "'10s'"),
        ("9999-12-31T23:59:59-01:00", "'9999-12-31T23:59:59-01:00'"),
        ("", "''"),
        (5, "'5'"),
        (None, "'None'"),
        (["2027-01-01T00:00:00Z"], "is no text"),
    ],
)
def test_a_bad_instant_is_named_by_its_place(bad: Any, part: str) -> None:
    good = "2027-01-01T00:00:00Z"
    found = refusals(schedule=[good, good, good, bad])
    assert list(found) == ["/schedule/3"]
    assert part in found["/schedule/3"]
    assert "expected" in found["/schedule/3"]


def test_every_bad_instant_is_named() -> None:
    assert list(refusals(schedule=["x", "2027-01-01T00:00:00Z", "y"])) == ["/schedule/0", "/schedule/2"]


def test_a_list_of_instants_is_stored_as_numbers_and_reads_back_equal() -> None:
    series = asked(["2026-12-24T14:00:00Z", "2026-12-01T00:00:00Z"])
    assert series.to_item()["schedule"] == [at("2026-12-01"), at("2026-12-24T14:00Z")]
    assert Series.from_item(series.to_item()) == series
