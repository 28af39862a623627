"""Jitter moves a whole series later by an offset that follows from its job's key."""

from collections import Counter
from itertools import islice
from typing import Any

import pytest
from tests.unit.schedules.say import at, said

from sweephand.base.errors import InvalidError
from sweephand.base.instants import DAY_MS, INSTANT_MAX
from sweephand.schedules import ScheduleError, Series
from sweephand.schedules.durations import offset_ms
from sweephand.schedules.request import parse_jitter_ms, series_of

NOW = at("2026-11-21T07:00:00Z")
#: The place of ns/job within any window.
PLACE = offset_ms("ns/job", 1_000_000)


def asked(schedule: str | None = None, *, key: str | None = "ns/job", **fields: Any) -> Series:
    names = ("timezone", "due_time", "ttl", "repeats", "dst", "jitter")
    given: dict[str, Any] = {name: fields.get(name) for name in names}
    return series_of(schedule=schedule, requested_at=NOW, key=key, **given)


def dues(series: Series, count: int = 3) -> list[int]:
    return [each.due_at for each in islice(series.occurrences(NOW - 1), count)]


def test_the_offset_of_a_job_never_changes() -> None:
    # Were one of these to change, every job with jitter would move.
    keys = ("ns/job", "ns/job2", "a/b", "")
    assert [offset_ms(key, 900_000) for key in keys] == [
        85692,
        856371,
        679571,
        800474,
    ]


def test_offsets_lie_within_the_window_and_fill_it_evenly() -> None:
    offsets = [offset_ms(f"ns/job-{number}", 900_000) for number in range(9_000)]
    assert all(0 <= each < 900_000 for each in offsets)
    per_minute = Counter(each // 60_000 for each in offsets)
    assert len(per_minute) == 15
    assert all(500 < count < 700 for count in per_minute.values())


def test_a_wider_jitter_window_moves_a_job_in_proportion() -> None:
    assert offset_ms("ns/job", 1) == 0
    for key in ("ns/job", "ns/other"):
        assert abs(offset_ms(key, 1_800_000) - 2 * offset_ms(key, 900_000)) <= 1


def test_jitter_spreads_the_jobs_of_one_schedule_and_each_fires_as_often_as_without_it() -> None:
    series = [asked("@hourly", jitter="PT15M", key=f"ns/job-{number}") for number in range(50)]
    assert len({dues(each, 1)[0] for each in series}) == 50
    for each in series:
        first, second, third = dues(each)
        assert second - first == third - second == 3_600_000
        assert 0 <= first % 3_600_000 < 900_000


@pytest.mark.parametrize(
    ("schedule", "due_time", "first"),
    [
        (None, "10s", "2026-11-21T07:00:10Z"),
        (None, "2026-12-01T00:00:00Z", "2026-12-01T00:00:00Z"),
        ("@every 1h", None, "2026-11-21T08:00:00Z"),
        ("@every 1h", "10m", "2026-11-21T07:10:00Z"),
        ("0 9 * * *", None, "2026-11-21T09:00:00Z"),
        ("30 2 * * *", None, "2026-11-22T02:30:00Z"),
    ],
)
def test_the_first_fire_with_jitter_is_the_first_fire_without_it_plus_the_offset(
    schedule: str | None, due_time: str | None, first: str
) -> None:
    series = asked(schedule, due_time=due_time, jitter="1000s")
    assert dues(series, 1) == [at(first) + PLACE]


def test_due_time_and_ttl_limit_the_instants_after_jitter_has_moved_them() -> None:
    hour = 3_600_000
    # The place of ns/job in an hour, and a second more and less.
    place = offset_ms("ns/job", hour)
    jitter = "1h"
    # What the schedule says before the dueTime, and the offset moves behind it, fires.
    after = NOW + hour + place
    assert dues(asked("@hourly", due_time=f"{after - NOW}ms", jitter=jitter), 1) == [after]
    assert dues(asked("@hourly", due_time=f"{after - NOW + 1}ms", jitter=jitter), 1) == [after + hour]
    assert dues(asked("@hourly", ttl=f"{after - NOW}ms", jitter=jitter)) == [NOW + place, after]
    assert dues(asked("@hourly", ttl=f"{after - NOW - 1}ms", jitter=jitter)) == [NOW + place]


def test_an_occurrence_before_the_request_fires_if_jitter_moves_it_after_the_request() -> None:
    series = asked("@hourly", jitter="1h", key="ns/job")
    assert dues(series, 1) == [NOW + offset_ms("ns/job", 3_600_000)]


def test_jitter_keeps_sequence_numbers_and_repeats_and_moves_the_end() -> None:
    series = asked("0 9 * * MON", repeats=3, jitter="1000s")
    assert [each.sequence for each in series.occurrences(NOW)] == [1, 2, 3]
    assert series.last_at() == at("2026-12-07T09:00:00Z") + PLACE
    assert asked(due_time="10s", jitter="1000s").last_at() == NOW + 10_000 + PLACE
    assert asked("0 9 * * MON", jitter="1000s").last_at() is None


def test_jitter_moves_each_instant_once_when_a_list_is_stored_in_parts() -> None:
    instants = [f"2026-12-{day:02d}T00:00:00Z" for day in range(1, 29)]
    series = asked(instants, jitter="1000s")  # type: ignore[arg-type]
    first = series.next_after(NOW)
    assert first is not None
    parts = list(series.parts(first))
    assert len(parts) == 2
    travelled = [each for part, head in parts for each in (head, *part.occurrences(head.due_at, known=head))]
    assert travelled == list(series.occurrences(NOW))
    assert [each.due_at for each in travelled] == [at(each) + PLACE for each in instants]
    for part, head in parts:
        assert part.next_after(head.due_at - 1) == head


def test_the_dst_rule_is_applied_before_jitter_moves_an_occurrence() -> None:
    series = Series("30 2 * * *", "Europe/Paris", at("2027-03-27T12:00"), jitter_ms=600_000)
    assert [said(each.due_at) for each in islice(series.occurrences(series.start_at), 2)] == [
        "2027-03-28 01:10",
        "2027-03-29 00:40",
    ]
    (effect,) = series.clock_effects(series.start_at, at("2027-04-01"))
    assert said(effect.instant) == "2027-03-28 01:10"
    assert said(effect.wall_s * 1000) == "2027-03-28 02:30"


def test_a_preview_without_a_job_has_no_jitter_offset() -> None:
    assert asked("@hourly", jitter="PT15M", key=None).jitter_ms == 0


def test_a_series_is_stored_with_its_offset() -> None:
    series = asked("@hourly", jitter="1000s")
    assert series.to_item()["jitterMs"] == PLACE
    assert Series.from_item(series.to_item()) == series
    assert "jitterMs" not in asked("@hourly").to_item()


def test_the_end_of_the_calendar_ends_a_series_with_jitter() -> None:
    for schedule in ("@every 1s", "* * * * * *"):
        series = Series(schedule, "UTC", INSTANT_MAX - DAY_MS, jitter_ms=DAY_MS // 2)
        assert series.next_after(INSTANT_MAX) is None
        assert all(each.due_at <= INSTANT_MAX for each in islice(series.occurrences(INSTANT_MAX - 5_000), 20))
        assert series.next_after(INSTANT_MAX - 5_000) is not None
    late = Series(None, "UTC", 0, INSTANT_MAX, jitter_ms=1)
    assert late.next_after(0) is None
    assert late.last_at() is None


@pytest.mark.parametrize(
    ("text", "window_ms"),
    [("PT15M", 900_000), ("1ms", 1), ("1ns", 1), ("1d", DAY_MS), ("P1D", DAY_MS), ("24h", DAY_MS)],
)
def test_a_jitter_window_of_up_to_a_day_is_accepted(text: str, window_ms: int) -> None:
    assert parse_jitter_ms(text) == window_ms


@pytest.mark.parametrize("text", ["", "0s", "PT0S", "-5m", "86400001ms", "P1M", "2d", "15", "a while"])
def test_an_invalid_jitter_window_is_refused(text: str) -> None:
    with pytest.raises(ScheduleError, match="expected"):
        parse_jitter_ms(text)


def test_a_refusal_of_jitter_has_the_pointers_of_the_fields() -> None:
    with pytest.raises(InvalidError) as refusal:
        asked("@hourly", jitter="2d", dst={"gap": "leap"})
    assert [each.pointer for each in refusal.value.violations] == ["/dst/gap", "/jitter"]


def test_a_ttl_before_the_first_fire_with_jitter_is_refused() -> None:
    with pytest.raises(InvalidError) as refusal:
        asked(due_time="10s", ttl="10s", jitter="1000s")
    assert [each.pointer for each in refusal.value.violations] == ["/ttl"]
