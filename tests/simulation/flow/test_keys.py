"""Worlds whose policy has `by`: each key has its limit, nothing is lost, and nobody waits for other keys."""

import pytest
from tests.simulation.flow.keyed import run_keyed


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(8))
def test_a_seed_in_which_nothing_goes_wrong_has_no_complaint(seed: int) -> None:
    world = run_keyed(seed, is_calm=True)
    assert not world.complaints
    assert world.figures["rests"], "no guard rests"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(6))
def test_a_seed_with_mishaps_has_no_complaint(seed: int) -> None:
    assert not run_keyed(seed, is_calm=False).complaints


def test_the_policy_gets_another_by_and_jobs_another_key_in_some_seeds() -> None:
    figures = run_keyed(2, is_calm=True).figures
    assert figures["another by"] > 1
    assert figures["another key"]
