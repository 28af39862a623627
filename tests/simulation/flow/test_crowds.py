"""A policy with more slots than the stack's flow functions can have uses these, and crowds nobody out."""

import pytest
from tests.simulation.flow.crowds import crowd
from tests.simulation.flow.seeds import run

from sweephand.model.gate import gates_of


@pytest.mark.parametrize(
    ("limit", "functions", "slots"), [(50, 4, 40), (400, 4, 40), (1_000, 3, 30), (50, 2, 20)]
)
def test_a_backlog_under_a_large_policy_uses_the_functions_and_does_not_fill_the_queue(
    limit: int, functions: int, slots: int
) -> None:
    seen = crowd(6, limit, functions, 2_000)
    assert seen.use >= 0.85 * slots
    # A gate has one baton at a time.
    assert seen.waiting <= gates_of(limit)
    # Twenty calls enqueue, and each may send a guard. A function that leaves after its turn calls the next.
    assert seen.messages < 150
    assert seen.drained_ms < 10_000


def test_the_functions_of_the_default_suffice_for_a_small_policy() -> None:
    assert crowd(1, 4, 5, 200).use >= 0.9 * 4


@pytest.mark.parametrize(("seed", "functions"), [(0, 2), (3, 3), (7, 4)])
def test_a_seed_with_few_functions_has_no_complaint(seed: int, functions: int) -> None:
    assert not run(seed, functions_max=functions).complaints
