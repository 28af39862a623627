"""The triggers of a series with a batch: a naive list of them all agrees with every way of finding one."""

from datetime import datetime
from itertools import islice, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.world import NOON

from sweephand.base.instants import DAY_MS, HOUR_MS, INSTANT_MAX, MINUTE_MS, from_datetime
from sweephand.schedules import Batch, Occurrence, Series
from sweephand.schedules.schedule import InstantList
from sweephand.schedules.triggers import (
    TriggerRange,
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
