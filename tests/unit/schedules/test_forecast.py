"""The numbers of a forecast agree with a walk through the triggers."""

from collections import Counter
from itertools import islice, takewhile

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.world import NOON

from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, Instant
from sweephand.schedules import Batch, Series
from sweephand.schedules.batch_triggers import triggers_from
from sweephand.schedules.forecast import Span, due_counts

SCHEDULES = ["@every 7s", "*/9 * * * * *", "30 2,3 * * *", "@hourly", "R5/PT40S", None]


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
    counts = due_counts(series, span_from(NOON, 365, 7 * DAY_MS))
    size = series.batch.size if series.batch else 1
    assert next(counts)[1] == (7 * 86_400 - 1) * size, "nothing fires at the very start"
    assert [count for _, count in islice(counts, 51)] == [7 * 86_400 * size] * 51
