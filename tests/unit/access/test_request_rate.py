"""A key with a rate sends as many requests a minute as that, over all functions, and others cost nothing."""

import pytest
from tests.fakes.doubles import HandClock
from tests.fakes.flow_memory import MemoryAllowances
from tests.fakes.ports import MISSING

from sweephand.access.callers import REMEMBERED_MAX, RequestRates
from sweephand.base.errors import RateError
from sweephand.base.instants import MINUTE_MS
from sweephand.model.api_key import Caller
from sweephand.model.counters import Slots

FREE = Caller("k1", "ns", "write")


def rated(per_minute: int, key_id: str = "k1") -> Caller:
    return Caller(key_id, "ns", "write", requests_per_minute=per_minute)


class Counting(MemoryAllowances):
    """Allowances that count how often slots were taken."""

    takes = 0

    def take(self, bucket: str, now: int, per_minute: int, count: int, before_us: int | None = None) -> Slots:
        self.takes += 1
        return super().take(bucket, now, per_minute, count, before_us)


def let_in(rates: RequestRates, caller: Caller, now: int, requests: int) -> int:
    """How many of the requests at one instant pass."""
    passed = 0
    for _ in range(requests):
        try:
            rates.check(caller, now)
        except RateError:
            continue
        passed += 1
    return passed


def test_a_caller_without_a_rate_reads_and_writes_nothing() -> None:
    assert let_in(RequestRates(MISSING), FREE, HandClock().time, 100) == 100


@pytest.mark.parametrize("per_minute", [1, 7, 60, 6_000])
def test_a_key_sends_as_many_requests_in_each_minute_as_its_rate(per_minute: int) -> None:
    store, now = MemoryAllowances(), HandClock().time
    rates = RequestRates(store)
    for minute in range(3):
        for at in (0, 20_000, 59_999):
            passed = let_in(rates, rated(per_minute), now + minute * MINUTE_MS + at, per_minute + 5)
            assert passed == (per_minute if at == 0 else 0)


def test_functions_share_the_rate_of_a_key() -> None:
    store, now = MemoryAllowances(), HandClock().time
    functions = [RequestRates(store) for _ in range(4)]
    for minute in range(3):
        at = now + minute * MINUTE_MS
        assert sum(let_in(each, rated(10), at, 10) for each in functions) == 10


@pytest.mark.parametrize("per_minute", [1, 60, 6_000])
def test_a_burst_over_many_functions_uses_up_no_minute_to_come(per_minute: int) -> None:
    store, now = MemoryAllowances(), HandClock().time
    burst = [RequestRates(store) for _ in range(500)]
    assert sum(let_in(each, rated(per_minute), now, 20) for each in burst) == per_minute
    for minute in (1, 2):
        later = RequestRates(store)
        assert let_in(later, rated(per_minute), now + minute * MINUTE_MS, per_minute + 5) == per_minute


def test_a_caller_that_goes_on_asking_is_let_in_again_when_the_answer_said_so() -> None:
    store, now = MemoryAllowances(), HandClock().time
    rates = RequestRates(store)
    assert let_in(rates, rated(2), now, 500) == 2
    with pytest.raises(RateError, match="2 requests a minute") as refused:
        rates.check(rated(2), now + 1_001)
    assert refused.value.retry_after_s == 59
    rates.check(rated(2), now + 1_001 + refused.value.retry_after_s * 1_000)


def test_requests_that_are_refused_write_nothing_and_a_high_rate_costs_little() -> None:
    store, now = Counting(), HandClock().time
    rates = RequestRates(store)
    assert let_in(rates, rated(60), now, 1_000) == 60
    assert store.takes == 61
    assert let_in(rates, rated(60_000, "k2"), now, 1_000) == 1_000
    assert store.takes == 61 + 10


def test_each_key_has_a_rate_of_its_own() -> None:
    store, now = MemoryAllowances(), HandClock().time
    rates = RequestRates(store)
    assert let_in(rates, rated(5), now, 9) == 5
    assert let_in(rates, rated(5, "k2"), now, 9) == 5
    assert let_in(rates, rated(5), now + MINUTE_MS, 9) == 5


def test_a_function_remembers_a_bounded_number_of_keys() -> None:
    store, now = MemoryAllowances(), HandClock().time
    rates = RequestRates(store)
    for number in range(REMEMBERED_MAX * 2 + 1):
        rates.check(rated(1, f"k{number}"), now)
    assert len(rates._slots) <= REMEMBERED_MAX
