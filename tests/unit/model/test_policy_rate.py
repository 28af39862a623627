"""When requests under a rate may leave (model/policy.py)."""

from random import Random

import pytest
from tests.contract.builders import NOON
from tests.fakes.flow_memory import applied

from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, Instant
from sweephand.base.timing import TOKEN_READY_MS
from sweephand.model.gate import Gate, GateChange, Token
from sweephand.model.policy import Rate, next_slot_at, step_us_of, taking

RATES = [
    Rate(1, SECOND_MS),
    Rate(10, SECOND_MS),
    Rate(7, MINUTE_MS),
    Rate(1_000, SECOND_MS),
    Rate(3, DAY_MS),
    Rate(9_999, SECOND_MS),
]
TEN = Rate(10, SECOND_MS)


class Bucket:
    """A bucket, and functions that take tokens of it by what they saw a moment or long ago."""

    def __init__(self) -> None:
        self.gate = Gate()

    def take(
        self, rate: Rate, now: Instant, wanted: int, seen_us: int | None = None, *, is_busy: bool = False
    ) -> tuple[Token, ...] | None:
        """The tokens of one write; no token if it is refused, and None if the function does not try."""
        seen_us = self.gate.last_us if seen_us is None else seen_us
        wants = taking(seen_us, rate, now, wanted, None, is_busy=is_busy)
        if wants is None:
            return None
        after = applied(GateChange(taking=wants), self.gate)
        self.gate = after or self.gate
        return () if after is None else wants.tokens(after.last_us)


@pytest.mark.parametrize("rate", RATES)
def test_no_window_sees_more_requests_than_the_rate_allows_however_late_they_leave(rate: Rate) -> None:
    chance, bucket, now = Random(7), Bucket(), NOON  # noqa: S311 - a test, not a secret
    left: list[int] = []
    seen = [0]
    while len(left) < 3 * rate.limit + 10:
        is_busy = chance.random() < 0.5
        taken = bucket.take(rate, now, chance.randint(1, 20), chance.choice(seen), is_busy=is_busy)
        seen = [*seen[-3:], bucket.gate.last_us]
        if not taken:
            now = max(now, chance.choice([now, next_slot_at(bucket.gate.last_us, rate, now)]))
            continue
        for token in taken:
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
    bucket, now, spent = Bucket(), NOON, 0
    end = NOON + 5 * rate.per_ms
    while now < end:
        taken = bucket.take(rate, now, 10)
        if taken is None:
            now = next_slot_at(bucket.gate.last_us, rate, now)
        else:
            spent += sum(each.opens_at < end for each in taken)
    assert spent >= 0.9 * 5 * rate.limit


@pytest.mark.parametrize(
    ("before", "after"),
    [(Rate(1, DAY_MS), TEN), (Rate(1, HOUR_MS), Rate(100, MINUTE_MS)), (TEN, Rate(1, HOUR_MS))],
)
def test_a_changed_rate_counts_from_the_last_slot_that_was_taken(before: Rate, after: Rate) -> None:
    bucket = Bucket()
    *_, last = bucket.take(before, NOON, 3) or pytest.fail("no token")
    next_us = bucket.gate.last_us + step_us_of(after)
    now = next_slot_at(bucket.gate.last_us, after, NOON + 1)
    assert now == -(-next_us // 1_000)
    [following] = bucket.take(after, now - 1, 1) or pytest.fail("no token")
    assert following.opens_at - last.opens_at == pytest.approx(step_us_of(after) / 1_000, abs=1)


def test_a_function_takes_the_slots_that_begin_within_a_second() -> None:
    bucket = Bucket()
    taken = bucket.take(TEN, NOON, 100) or pytest.fail("no token")
    assert [each.opens_at - NOON for each in taken] == [100 + 105 * number for number in range(9)]
    assert bucket.take(TEN, NOON, 100) is None
    assert next_slot_at(bucket.gate.last_us, TEN, NOON) == NOON + 1_045
    assert len(bucket.take(TEN, NOON + 100, 100) or ()) == 1


def test_a_write_that_expects_another_state_of_the_bucket_is_refused() -> None:
    bucket = Bucket()
    seen_us = bucket.gate.last_us
    assert bucket.take(TEN, NOON, 2)
    assert bucket.take(TEN, NOON, 2, seen_us) == (), "the bucket is not quiet any more"
    assert bucket.take(TEN, NOON, 2, seen_us, is_busy=True), "the tokens of others came before"
    assert bucket.take(TEN, NOON + 700, 2, is_busy=True) == (), "nobody has taken tokens since"
    assert bucket.take(TEN, NOON + 100, 9, seen_us, is_busy=True) == (), "some would come after a second"


def test_tokens_that_nobody_took_are_not_saved_up() -> None:
    bucket = Bucket()
    assert bucket.take(TEN, NOON, 1)
    taken = bucket.take(TEN, NOON + MINUTE_MS, 100) or pytest.fail("no token")
    assert taken[0].opens_at == NOON + MINUTE_MS + 100
    assert len(taken) == 9


@pytest.mark.parametrize(("per_ms", "late_ms"), [(SECOND_MS, 50), (MINUTE_MS, 3_000)])
def test_the_first_token_after_a_quiet_time_can_be_used_when_its_request_is_ready(
    per_ms: int, late_ms: int
) -> None:
    [token] = Bucket().take(Rate(10, per_ms), NOON, 1) or pytest.fail("no token")
    assert token == (NOON + max(0, TOKEN_READY_MS - late_ms), max(NOON + TOKEN_READY_MS, NOON + late_ms))


def test_a_bucket_that_was_used_within_the_last_second_goes_on_at_once() -> None:
    bucket = Bucket()
    assert bucket.take(TEN, NOON, 1)
    [token] = bucket.take(TEN, NOON + 500, 1) or pytest.fail("no token")
    assert token.opens_at == NOON + 500


@pytest.mark.parametrize("due_ms", [-10, 0, 200])
def test_the_token_of_a_trigger_that_has_not_waited_opens_when_it_is_due_or_at_once(due_ms: int) -> None:
    wants = taking(0, TEN, NOON, 1, due_at=NOON + due_ms)
    assert wants is not None
    assert wants.first_us == (NOON + max(due_ms, 0)) * 1_000


def test_a_slot_is_open_for_a_twentieth_of_the_time_that_the_rate_counts_in() -> None:
    _, token = Bucket().take(TEN, NOON, 2) or pytest.fail("no token")
    assert [token.is_open(NOON + each) for each in (204, 205, 255, 256)] == [False, True, True, False]
