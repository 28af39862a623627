"""Worlds whose policy has a breaker: nothing but probes leaves while it is open, and nothing is lost."""

import pytest
from tests.simulation.flow.outages import run_outages


@pytest.mark.parametrize("seed", range(3))
def test_a_seed_in_which_nothing_else_goes_wrong_has_no_complaint(seed: int) -> None:
    world = run_outages(seed, is_calm=True)
    assert not world.complaints
    assert world.figures["opened"], "the breaker never opened"
    assert world.figures["probes"]


@pytest.mark.parametrize("seed", range(6))
def test_a_seed_with_mishaps_has_no_complaint(seed: int) -> None:
    assert not run_outages(seed, is_calm=False).complaints
