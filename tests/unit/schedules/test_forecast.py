"""The numbers of a forecast agree with a walk through the triggers."""

from collections import Counter
from dataclasses import replace
from itertools import islice, takewhile

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.world import NOON

from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, Instant
from sweephand.schedules import Batch, Series
from sweephand.schedules.notations.cron_pattern import WallPattern
from sweephand.schedules.triggers import Span, due_counts, triggers_from

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


BATCHES = st.builds(Batch, st.integers(1, 12), st.integers(0, 6_999))


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
        batch=draw(st.none() | BATCHES),
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
    assert replace(series, repeats=None).number_through(NOON + 20_000) == 9
    known = series.next_after(NOON + 2_000)
    assert known is not None
    assert series.number_through(NOON + 5_000, known) == 5
    later = replace(series, counted_at=NOON + 3_000, counted=2)
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
