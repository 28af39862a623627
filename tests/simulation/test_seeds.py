"""Hundreds of simulated worlds with faults lose, double and resurrect nothing, and deliver nothing early."""

import pytest
from tests.simulation.report import replay_of
from tests.simulation.simulation import run

#: Seeds of `make test`, in parts that pytest-xdist can spread. `.ci/run` adds 200 others, and `make verify`
#: runs thousands.
SEEDS = 300
PART = 20


@pytest.mark.parametrize("first", range(0, SEEDS, PART))
def test_every_seed_recovers_from_its_troubles(first: int) -> None:
    for seed in range(first, first + PART):
        result = run(seed)
        assert not result.complaints, f"{result.complaints[:3]}\n{replay_of(seed, result.mask)}"
