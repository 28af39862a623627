"""A policy with more holders than the stack has flow functions leaves one of these to the other policies."""

import pytest
from tests.simulation.flow.crowds import crowd
from tests.simulation.flow.seeds import run


@pytest.mark.parametrize(
    ("limit", "functions", "permits"), [(50, 4, 30), (400, 4, 30), (1_000, 3, 20), (50, 2, 10)]
)
def test_a_backlog_under_a_large_policy_neither_fills_the_queue_nor_takes_the_last_function(
    limit: int, functions: int, permits: int
) -> None:
    seen = crowd(1, limit, functions, 2_000)
    assert seen.workers <= functions - 1
    assert seen.use >= 0.9 * permits
    # Twenty entries come with a message each. Each worker that leaves after its time calls the next one.
    assert seen.messages < 100
    assert seen.drained_ms < 10_000


def test_the_functions_of_the_default_suffice_for_a_small_policy() -> None:
    assert crowd(1, 4, 5, 200).use >= 0.9 * 4


@pytest.mark.parametrize(("seed", "functions"), [(0, 2), (3, 3), (7, 4)])
def test_a_seed_with_few_functions_has_no_complaint(seed: int, functions: int) -> None:
    assert not run(seed, functions_max=functions).complaints
