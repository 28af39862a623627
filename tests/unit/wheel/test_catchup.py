"""Which misfires fire and which are skipped. The decision does not enumerate them."""

from itertools import takewhile
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweephand.base.instants import DAY_MS, HOUR_MS, Instant
from sweephand.model.definition import CatchUpMode, CatchUpPolicy
from sweephand.schedules import Occurrence, Series
from sweephand.wheel.catchup import Misfires, OccurrenceRange, misfires_between, misfires_of_timer

NOON: Instant = 1_795_262_400_000
MODES: tuple[CatchUpMode, ...] = ("latest", "all", "none")


def every(period: str = "10s", **bounds: Any) -> Series:
    return Series(f"@every {period}", "UTC", start_at=NOON, **bounds)


def occurrence(number: int, period_ms: int = 10_000) -> Occurrence:
    return Occurrence(NOON + number * period_ms, number)


def test_the_newest_misfire_fires_and_those_before_it_are_one_range() -> None:
    found = misfires_between(every(), after=NOON, through=NOON + 60_000, mode="latest")
    assert found.fire == OccurrenceRange(occurrence(6), occurrence(6))
    assert found.skipped == OccurrenceRange(occurrence(1), occurrence(5))
    assert found.skipped.count == 5


def test_every_misfire_fires_with_all_and_no_misfire_with_none() -> None:
    span = OccurrenceRange(occurrence(1), occurrence(6))
    assert misfires_between(every(), after=NOON, through=NOON + 60_000, mode="all") == Misfires(fire=span)
    assert misfires_between(every(), after=NOON, through=NOON + 60_000, mode="none") == Misfires(skipped=span)


@pytest.mark.parametrize("mode", MODES)
def test_nothing_is_decided_if_no_occurrence_fell_due(mode: CatchUpMode) -> None:
    assert misfires_between(every(), after=NOON, through=NOON + 9_999, mode=mode) == Misfires()
    ended = every(ttl_at=NOON + 20_000)
    assert misfires_between(ended, after=NOON + 20_000, through=NOON + DAY_MS, mode=mode) == Misfires()


def test_a_single_misfire_is_the_newest() -> None:
    found = misfires_between(every(), after=NOON, through=NOON + 10_000, mode="latest")
    assert found == Misfires(fire=OccurrenceRange(occurrence(1), occurrence(1)))


def test_an_occurrence_exactly_a_window_back_is_no_misfire() -> None:
    policy = CatchUpPolicy("none", HOUR_MS)
    judged_at = NOON + 20_000 + HOUR_MS
    found = misfires_of_timer(every(), occurrence(1), until=None, judged_at=judged_at, policy=policy)
    assert found == Misfires(skipped=OccurrenceRange(occurrence(1), occurrence(1)))
    assert (
        misfires_of_timer(every(), occurrence(2), until=None, judged_at=judged_at, policy=policy)
        == Misfires()
    )


def test_the_range_of_an_earlier_revision_ends_where_it_ceased_to_rule() -> None:
    policy = CatchUpPolicy("latest", HOUR_MS)
    found = misfires_of_timer(
        every(), occurrence(1), until=NOON + 35_000, judged_at=NOON + DAY_MS, policy=policy
    )
    assert found == Misfires(
        fire=OccurrenceRange(occurrence(3), occurrence(3)),
        skipped=OccurrenceRange(occurrence(1), occurrence(2)),
    )


def test_misfires_of_a_decade_of_seconds_are_not_enumerated() -> None:
    found = misfires_between(every("1s"), after=NOON, through=NOON + 3_650 * DAY_MS, mode="latest")
    assert found.skipped is not None
    assert found.skipped.count == 3_650 * 86_400 - 1
    cron = Series("*/7 * * * * *", "Europe/Paris", start_at=NOON)
    skipped = misfires_between(cron, after=NOON, through=NOON + 3_650 * DAY_MS, mode="none").skipped
    assert skipped is not None
    assert skipped.count == 3_650 * 1_440 * 9


@given(
    schedule=st.sampled_from(["@every 7s", "*/11 * * * * *", "*/5 * * * *", "30 2 * * *", "@every 61m"]),
    mode=st.sampled_from(MODES),
    stretch_s=st.tuples(st.integers(-100, 90_000), st.integers(0, 200_000)),
    repeats=st.none() | st.integers(1, 3_000),
    ttl_s=st.none() | st.integers(0, 200_000),
)
def test_the_decision_is_that_of_trying_each_occurrence(
    schedule: str, mode: CatchUpMode, stretch_s: tuple[int, int], repeats: int | None, ttl_s: int | None
) -> None:
    series = Series(
        schedule,
        "Europe/Paris",
        start_at=NOON,
        repeats=repeats,
        ttl_at=None if ttl_s is None else NOON + ttl_s * 1_000,
    )
    after = NOON + stretch_s[0] * 1_000
    through = after + stretch_s[1] * 1_000
    walked = list(takewhile(lambda each: each.due_at <= through, series.occurrences(after)))
    fire, skipped = {
        "latest": (walked[-1:], walked[:-1]),
        "all": (walked, []),
        "none": ([], walked),
    }[mode]
    found = misfires_between(series, after=after, through=through, mode=mode)
    for span, expected in ((found.fire, fire), (found.skipped, skipped)):
        if not expected:
            assert span is None
            continue
        assert span == OccurrenceRange(expected[0], expected[-1])
        assert span.count == len(expected)
