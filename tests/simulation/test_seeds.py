"""Hundreds of simulated worlds with faults lose, double and resurrect nothing, and deliver nothing early."""

import pytest
from tests.simulation.report import replay_of
from tests.simulation.simulation import run
from tests.simulation.workload.switching import FIRST_OFF_FOR_A_MONTH

#: Seeds of `make test`, in parts that pytest-xdist can spread. `.ci/run` runs a part of them and 200
#: others, and `make verify` runs thousands.
SEEDS = 300
PART = 20


@pytest.mark.sampled(5)
@pytest.mark.parametrize("first", range(0, SEEDS, PART))
def test_every_seed_recovers_from_its_troubles(first: int) -> None:
    for seed in range(first, first + PART):
        result = run(seed)
        assert not result.complaints, f"{result.complaints[:3]}\n{replay_of(seed, result.mask)}"


@pytest.mark.parametrize("seed", range(FIRST_OFF_FOR_A_MONTH, FIRST_OFF_FOR_A_MONTH + 3))
def test_a_stack_that_is_off_for_thirty_days_keeps_every_promise(seed: int) -> None:
    result = run(seed)
    assert not result.complaints, f"{result.complaints[:3]}\n{replay_of(seed, result.mask)}"
