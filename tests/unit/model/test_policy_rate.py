"""When requests under a rate may leave (model/policy.py)."""

from random import Random

import pytest
from tests.contract.builders import NOON

from sweephand.model.policy import Rate, RateBucket, next_slot_at, next_slots, step_us_of

ME = "owner00000000001"

RATES = [
    Rate(1, 1_000),
    Rate(10, 1_000),
    Rate(7, 60_000),
    Rate(1_000, 1_000),
    Rate(3, 86_400_000),
    Rate(9_999, 1_000),
]


@pytest.mark.parametrize("rate", RATES)
def test_no_window_sees_more_requests_than_the_rate_allows_however_late_they_leave(rate: Rate) -> None:
    chance, bucket, now = Random(7), RateBucket(), NOON  # noqa: S311 - a test, not a secret
    left: list[int] = []
    while len(left) < 3 * rate.limit + 10:
        taken = next_slots(bucket, rate, now, chance.randint(1, 20), ME)
        if taken is None:
            now = next_slot_at(bucket, rate, now)
            continue
        slots, bucket = taken
        for number in range(slots.size):
            token = slots.token(number)
            at = chance.choice([token.opens_at, token.closes_at])
            assert token.is_open(at) or at < token.opens_at
            if token.is_open(at):
                left.append(at)
        now += chance.randint(0, 2_000)
    left.sort()
    spans = [after - before for before, after in zip(left, left[rate.limit :], strict=False)]
    assert min(spans) >= rate.per_ms


@pytest.mark.parametrize("rate", [rate for rate in RATES if rate.limit > 1])
def test_nine_tenths_of_the_rate_and_more_are_used_while_work_waits(rate: Rate) -> None:
    bucket, now, spent = RateBucket(), NOON, 0
    end = NOON + 5 * rate.per_ms
    while now < end:
        taken = next_slots(bucket, rate, now, 10, ME)
        if taken is None:
            now = next_slot_at(bucket, rate, now)
            continue
        slots, bucket = taken
        spent += sum(slots.token(number).opens_at < end for number in range(slots.size))
    assert spent >= 0.9 * 5 * rate.limit


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (Rate(1, 86_400_000), Rate(10, 1_000)),
        (Rate(1, 3_600_000), Rate(100, 60_000)),
        (Rate(10, 1_000), Rate(1, 3_600_000)),
    ],
)
def test_a_changed_rate_counts_from_the_last_slot_that_was_taken(before: Rate, after: Rate) -> None:
    slots, bucket = next_slots(RateBucket(), before, NOON, 3, ME) or pytest.fail("no token")
    next_us = NOON * 1_000 + (slots.size - 1) * step_us_of(before) + step_us_of(after)
    now = next_slot_at(bucket, after, NOON + 1)
    assert now == -(-next_us // 1_000)
    taken = next_slots(bucket, after, now - 1, 1, ME)
    assert taken is not None
    assert taken[0].first_us == next_us


def test_a_slice_holds_the_slots_that_begin_within_a_second() -> None:
    taken = next_slots(RateBucket(), Rate(10, 1_000), NOON, 100, ME)
    assert taken is not None
    slots, bucket = taken
    assert slots.size == 10
    assert slots.token(9).opens_at == NOON + 945
    assert next_slots(bucket, Rate(10, 1_000), NOON, 100, ME) is None
    assert next_slot_at(bucket, Rate(10, 1_000), NOON) == NOON + 1_050


def test_tokens_that_nobody_took_are_not_saved_up() -> None:
    _, bucket = next_slots(RateBucket(), Rate(10, 1_000), NOON, 1, ME) or pytest.fail("no token")
    taken = next_slots(bucket, Rate(10, 1_000), NOON + 60_000, 100, ME)
    assert taken is not None
    assert taken[0].size == 10


def test_a_slot_is_open_for_a_twentieth_of_the_time_that_the_rate_counts_in() -> None:
    taken = next_slots(RateBucket(), Rate(10, 1_000), NOON, 2, ME)
    assert taken is not None
    token = taken[0].token(1)
    assert [token.is_open(NOON + each) for each in (104, 105, 155, 156)] == [False, True, True, False]
