"""No seed of the worlds with one policy has a complaint, and slots are used while work waits."""

import pytest
from tests.simulation.flow.seeds import CHANGING_RATES, rate_use, run, run_calm, use

from sweephand.base.instants import MINUTE_MS, SECOND_MS
from sweephand.model.policy import Rate


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(12))
def test_a_seed_has_no_complaint(seed: int) -> None:
    assert not run(seed).complaints


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", [12, 18, 22, 29, 47])
def test_a_seed_whose_policy_changes_its_rate_has_no_complaint(seed: int) -> None:
    assert not run(seed, CHANGING_RATES).complaints


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(4))
def test_a_seed_whose_policy_is_paused_has_no_complaint(seed: int) -> None:
    assert not run(seed, has_pauses=True).complaints
    assert not run_calm(seed, has_pauses=True).complaints


@pytest.mark.parametrize(("limit", "of_entry"), [(1, 10), (5, 1), (5, 100), (12, 10), (50, 100)])
def test_nine_tenths_of_a_limit_are_in_use_while_work_waits(limit: int, of_entry: int) -> None:
    assert use(1, limit, 10, of_entry) >= 0.9


@pytest.mark.parametrize(("limit", "of_entry"), [(5, 10), (50, 100)])
def test_nine_tenths_of_a_limit_are_in_use_while_work_waits_for_a_slow_consumer(
    limit: int, of_entry: int
) -> None:
    assert use(1, limit, 20, of_entry, consumer_ms=2_000) >= 0.9


@pytest.mark.sampled(3)
@pytest.mark.parametrize("limit", [1, 40])
@pytest.mark.parametrize(
    ("rate", "seconds"),
    [
        (Rate(5, SECOND_MS), 60),
        (Rate(1, SECOND_MS), 120),
        (Rate(45, MINUTE_MS), 120),
        (Rate(10, MINUTE_MS), 600),
    ],
)
def test_about_95_percent_of_a_rate_is_used_while_work_waits(rate: Rate, seconds: int, limit: int) -> None:
    assert rate_use(1, rate, seconds, limit) >= 0.94


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("limit", "slots", "least"), [(500, 200, 0.9), (1_000, 300, 0.85)])
def test_most_of_a_rate_with_several_buckets_is_used_while_work_waits(
    limit: int, slots: int, least: float
) -> None:
    # The beginning counts, in which the functions are called one after the other.
    used = [rate_use(seed, Rate(limit, SECOND_MS), 10, limit=slots) for seed in (1, 2, 3, 4)]
    assert sum(used) / len(used) >= least


def test_triggers_that_take_longer_than_their_lease_are_delivered_once() -> None:
    assert use(1, 4, 100, of_entry=20, consumer_ms=5_000) >= 0.9
