"""The triggers of a series, one after the other, and how many are due when."""

from collections import Counter
from datetime import datetime
from itertools import islice, pairwise, takewhile
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.world import NOON

from sweephand.base.instants import DAY_MS, HOUR_MS, INSTANT_MAX, MINUTE_MS, SECOND_MS, Instant, from_datetime
from sweephand.schedules import Batch, Occurrence, Series
from sweephand.schedules.notations.cron_pattern import WallPattern
from sweephand.schedules.schedule import InstantList
from sweephand.schedules.triggers import (
    Span,
    TriggerRange,
    due_counts,
    last_trigger_of,
    last_trigger_through,
    nth_trigger_from,
    trigger_after,
    trigger_following,
    triggers_from,
)

BATCHES = st.builds(Batch, st.integers(1, 40), st.integers(0, 9_999))


def series_of(batch: Batch | None, schedule: str | None = "@every 10s", **bounds: object) -> Series:
    return Series(schedule, "UTC", NOON, batch=batch, **bounds)  # type: ignore[arg-type]


def all_of(series: Series) -> list[Occurrence]:
    """Every trigger of a finite series whose occurrences lie further apart than its window."""
    batch = series.batch or Batch(1)
    return [
        Occurrence(each.due_at, each.sequence, index, index * batch.window_ms // batch.size)
        for each in series.occurrences(0)
        for index in range(batch.size)
    ]


def test_an_occurrence_has_its_triggers_evenly_over_the_window() -> None:
    series = series_of(Batch(4, 10_000), None, due_at=NOON)
    assert [each.at - NOON for each in triggers_from(series, Occurrence(NOON, 1))] == [0, 2500, 5000, 7500]


def test_without_a_window_all_triggers_are_due_with_their_occurrence() -> None:
    series = series_of(Batch(3), None, due_at=NOON)
    found = list(triggers_from(series, Occurrence(NOON, 1)))
    assert [(each.at, each.batch_index) for each in found] == [(NOON, 0), (NOON, 1), (NOON, 2)]


def test_a_fraction_of_a_millisecond_is_cut_off() -> None:
    series = series_of(Batch(3, 10), None, due_at=NOON)
    assert [each.after_ms for each in triggers_from(series, Occurrence(NOON, 1))] == [0, 3, 6]


@given(BATCHES, st.integers(1, 4), st.data())
def test_each_way_to_find_a_trigger_agrees_with_a_list_of_them_all(
    batch: Batch, repeats: int, data: st.DataObject
) -> None:
    series = series_of(batch, repeats=repeats)
    triggers = all_of(series)
    assert triggers == sorted(triggers, key=lambda each: each.at)
    assert list(triggers_from(series, triggers[0])) == triggers
    number = data.draw(st.integers(0, len(triggers) - 1))
    known = triggers[number]
    assert list(triggers_from(series, known)) == triggers[number:]
    assert trigger_following(series, known) == (triggers[number + 1] if known != triggers[-1] else None)
    assert last_trigger_of(series, known) == [each for each in triggers if each.due_at == known.due_at][-1]
    instant = known.at + data.draw(st.integers(0, 40_000))
    due = [each for each in triggers if each.at <= instant]
    assert last_trigger_through(series, instant, known) == due[-1]
    assert trigger_after(series, instant, known) == (triggers[len(due)] if len(due) < len(triggers) else None)
    further = data.draw(st.integers(0, len(triggers) - 1 - number))
    assert nth_trigger_from(series, known, further) == triggers[number + further]
    assert TriggerRange(known, triggers[number + further]).size(batch) == further + 1


@given(st.integers(1, 4))
def test_without_a_batch_each_occurrence_is_its_only_trigger(repeats: int) -> None:
    series = series_of(None, repeats=repeats)
    occurrences = list(series.occurrences(0))
    assert list(triggers_from(series, occurrences[0])) == occurrences
    assert last_trigger_of(series, occurrences[0]) == occurrences[0]
    assert nth_trigger_from(series, occurrences[0], repeats - 1) == occurrences[-1]
    assert TriggerRange(occurrences[0], occurrences[-1]).size(None) == repeats


def test_a_batch_ends_before_an_occurrence_that_a_clock_change_brings_forward() -> None:
    # On 28 March 2027 Paris has no 02:30: that occurrence comes at 03:00, half an hour before the next one.
    series = Series("30 2,3 * * *", "Europe/Paris", NOON, batch=Batch(60, 50 * MINUTE_MS))
    night = from_datetime(datetime.fromisoformat("2027-03-28T00:59:59+00:00"))
    first = series.next_after(night)
    assert first is not None
    found = list(islice(triggers_from(series, first), 120))
    assert [each.sequence - first.sequence for each in found] == [0] * 60 + [1] * 60
    assert all(one.at <= other.at for one, other in pairwise(found))
    assert found[59].at < found[60].due_at == first.due_at + 30 * MINUTE_MS
    assert found[119].after_ms == 59 * 50 * MINUTE_MS // 60


@pytest.mark.parametrize("bounds", [{"repeats": 1}, {"ttl_at": NOON + 15_000}])
def test_a_batch_is_not_shortened_for_an_occurrence_that_its_series_does_not_have(
    bounds: Any,
) -> None:
    series = series_of(Batch(4, 60_000), **bounds)
    found = list(triggers_from(series, Occurrence(NOON + 10_000, 1)))
    assert [each.after_ms for each in found] == [0, 15_000, 30_000, 45_000]


def test_a_batch_ends_before_the_year_10000() -> None:
    series = series_of(Batch(2, DAY_MS), None, due_at=INSTANT_MAX)
    assert last_trigger_of(series, Occurrence(INSTANT_MAX, 1)).at == INSTANT_MAX


def test_a_ttl_bounds_occurrences_and_cuts_no_batch() -> None:
    series = series_of(Batch(2, HOUR_MS), "@every 2h", ttl_at=NOON + 2 * HOUR_MS)
    first = series.next_after(NOON)
    assert first is not None
    assert [each.at - NOON for each in triggers_from(series, first)] == [2 * HOUR_MS, 2.5 * HOUR_MS]


def test_a_series_has_ended_when_the_window_of_its_last_batch_is_over() -> None:
    series = series_of(Batch(2, HOUR_MS), None, due_at=NOON)
    assert not series.has_ended(NOON + HOUR_MS - 1)
    assert series.has_ended(NOON + HOUR_MS)


def test_finding_a_trigger_among_ten_million_takes_no_walk() -> None:
    series = series_of(Batch(10_000_000, 7 * DAY_MS), "@weekly")
    first = series.next_after(NOON)
    assert first is not None
    late = first.due_at + 6 * DAY_MS
    found = trigger_after(series, late, first)
    assert found is not None
    assert found.at == late + 1 or found.at > late
    assert nth_trigger_from(series, first, found.batch_index) == found


@pytest.mark.parametrize("batch", [None, Batch(3), Batch(10_000_000, DAY_MS)])
def test_a_series_travels_with_its_batch(batch: Batch | None) -> None:
    series = series_of(batch)
    assert Series.from_item(series.to_item()) == series


def test_a_part_of_a_list_continues_a_batch_that_has_begun() -> None:
    instants = tuple(NOON + number * HOUR_MS for number in range(30))
    series = series_of(Batch(4, HOUR_MS - 1), None)
    series = Series(InstantList(instants), "UTC", NOON - 1, batch=series.batch)
    begun = nth_trigger_from(series, Occurrence(NOON, 1), 5)
    travelled = [each for part, head in series.parts(begun) for each in triggers_from(part, head)]
    whole = list(triggers_from(series, begun))
    assert [each[:3] for each in travelled] == [each[:3] for each in whole]


SCHEDULES = [
    *("@every 1s", "* * * * * *", "0-29 * * * * *", "@every 7s", "*/9 * * * * *"),
    *("30 2,3 * * *", "@hourly", "R5/PT40S", "R300/PT1S", None),
]


def walked(series: Series, span: Span) -> dict[int, int]:
    """What the forecast says, by a walk from the first occurrence on."""
    first = series.next_after(0)
    if first is None:
        return {}
    due = (each.at for each in triggers_from(series, first))
    coming = takewhile(lambda at: at < span.until, due)
    return dict(Counter((at - span.since) // span.bucket_ms for at in coming if at >= span.since))


COUNTED_BATCHES = st.builds(Batch, st.integers(1, 12), st.integers(0, 6_999))


@st.composite
def all_series(draw: st.DrawFn) -> Series:
    schedule = draw(st.sampled_from(SCHEDULES))
    ttl_s = draw(st.none() | st.integers(1, 400))
    return Series(
        schedule,
        "Europe/Paris",
        NOON,
        due_at=NOON + 5_000 if schedule is None else None,
        ttl_at=None if ttl_s is None else NOON + ttl_s * SECOND_MS,
        repeats=draw(st.none() | st.integers(1, 30)),
        batch=draw(st.none() | COUNTED_BATCHES),
    )


@given(all_series(), st.integers(-30_000, 400_000), st.integers(1, 400_000), st.integers(500, 90_000))
def test_a_forecast_agrees_with_a_walk_through_the_triggers(
    series: Series, since_ms: int, span_ms: int, bucket_ms: int
) -> None:
    since = NOON + since_ms
    span = Span(since, since + span_ms, bucket_ms)
    assert dict(due_counts(series, span)) == walked(series, span)


def test_the_last_number_is_found_within_the_bounds_of_the_series() -> None:
    series = Series("@every 1s", "UTC", NOON, ttl_at=NOON + 9_500, repeats=7)
    found = [series.number_through(NOON + at_ms) for at_ms in (-1, 0, 999, 1_000, 6_999, 8_000)]
    assert found == [0, 0, 0, 1, 6, 7]
    assert series._replace(repeats=None).number_through(NOON + 20_000) == 9
    known = series.next_after(NOON + 2_000)
    assert known is not None
    assert series.number_through(NOON + 5_000, known) == 5
    later = series._replace(counted_at=NOON + 3_000, counted=2)
    assert [later.number_through(NOON + at_ms) for at_ms in (1_000, 3_000, 4_000)] == [2, 2, 3]


def test_no_occurrence_beyond_the_span_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    search = WallPattern._search_day
    found: list[int | None] = []

    def searched(pattern: WallPattern, day: int) -> int | None:
        found.append(search(pattern, day))
        return found[-1]

    monkeypatch.setattr(WallPattern, "_search_day", searched)
    # One second a year. The fields differ from those of other tests, so that nothing is known from before.
    series = Series("cron(17 13 2 12 ? 2026,2199)", "UTC", NOON, batch=Batch(10, MINUTE_MS))
    found_at = series.next_after(NOON)
    assert found_at is not None
    span = Span(NOON, found_at.due_at + HOUR_MS, HOUR_MS)
    found.clear()
    assert sum(due_counts(series, span).values()) == 10
    never = due_counts(series, Span(found_at.due_at + HOUR_MS, found_at.due_at + 400 * DAY_MS, DAY_MS))
    assert never == {}
    assert set(found) <= {found_at.due_at // DAY_MS}


def span_from(since: Instant, days: int, bucket_ms: int) -> Span:
    return Span(since, since + days * DAY_MS, bucket_ms)


def test_a_bucket_holds_its_first_instant_and_not_its_end() -> None:
    series = Series("@hourly", "UTC", NOON)
    found = dict(due_counts(series, Span(NOON + HOUR_MS, NOON + 3 * HOUR_MS, HOUR_MS)))
    assert found == {0: 1, 1: 1}


def test_a_batch_that_began_before_the_span_counts_with_what_is_left_of_it() -> None:
    series = Series(None, "UTC", NOON, due_at=NOON, batch=Batch(60, HOUR_MS))
    half_past = NOON + 30 * MINUTE_MS
    assert dict(due_counts(series, Span(half_past, half_past + HOUR_MS, 10 * MINUTE_MS))) == {
        0: 10,
        1: 10,
        2: 10,
    }


def test_a_clock_change_moves_a_trigger_into_another_bucket() -> None:
    # On 28 March 2027 Paris has no 02:30: the job fires at 03:00, which is 01:00 in UTC.
    night = 1_806_192_000_000
    series = Series("30 2 * * *", "Europe/Paris", NOON)
    assert dict(due_counts(series, Span(night, night + DAY_MS, HOUR_MS))) == {1: 1}


@pytest.mark.parametrize(
    "series",
    [
        Series("* * * * * *", "UTC", NOON),
        Series("@every 1s", "UTC", NOON),
        Series("* * * * * *", "UTC", NOON, batch=Batch(10_000, 999)),
    ],
)
def test_the_triggers_of_a_dense_bucket_are_counted_without_a_walk(series: Series) -> None:
    counts = iter(due_counts(series, span_from(NOON, 365, 7 * DAY_MS)).items())
    size = series.batch.size if series.batch else 1
    assert next(counts)[1] == (7 * 86_400 - 1) * size, "nothing fires at the very start"
    assert [count for _, count in islice(counts, 51)] == [7 * 86_400 * size] * 51
