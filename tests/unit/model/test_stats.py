"""Classes of lateness, and what can be said of many by them."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweephand.model.counters import Stats, lateness_bound_ms, no_stats


@pytest.mark.parametrize(
    ("lateness_ms", "bound_ms"),
    [
        (0, 10),
        (10, 10),
        (11, 15),
        (31, 50),
        (70, 70),
        (71, 100),
        (700, 700),
        (701, 1_000),
        (86_400_000, 10**8),
    ],
)
def test_a_lateness_belongs_to_the_least_bound_that_it_does_not_exceed(
    lateness_ms: int, bound_ms: int
) -> None:
    assert lateness_bound_ms(lateness_ms) == bound_ms


def test_a_bound_is_at_most_five_thirds_of_the_one_before() -> None:
    bounds = sorted({lateness_bound_ms(each) for each in range(200_000)})
    assert max(high / low for low, high in pairwise(bounds)) == 5 / 3


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=60), st.integers(1, 100))
def test_a_percentile_is_the_bound_of_the_attempt_of_that_rank(lateness: list[int], percent: int) -> None:
    stats = Stats(Counter(), Counter(map(lateness_bound_ms, lateness)))
    rank = -(-len(lateness) * percent // 100)
    assert stats.lateness_at_most(percent) == lateness_bound_ms(sorted(lateness)[rank - 1])


def test_counts_add_up_and_nothing_counted_says_nothing() -> None:
    stats = no_stats()
    assert stats.are_empty
    assert stats.lateness_at_most(50) is None
    stats.update(Stats(Counter({"failed": 1}), Counter({10: 1})))
    stats.update(Stats(Counter({"failed": 2, "succeeded": 1}), Counter({10: 1, 70: 2})))
    assert stats == Stats(Counter({"failed": 3, "succeeded": 1}), Counter({10: 2, 70: 2}))
    assert not stats.are_empty
