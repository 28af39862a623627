"""No seed of the worlds with one policy has a complaint, and permits are used while work waits."""

import pytest
from tests.simulation.flow.seeds import run, use


@pytest.mark.parametrize("seed", range(12))
def test_a_seed_has_no_complaint(seed: int) -> None:
    assert not run(seed).complaints


@pytest.mark.parametrize(("limit", "triggers"), [(1, 400), (12, 4_000)])
def test_nine_tenths_of_a_limit_are_in_use_while_work_waits(limit: int, triggers: int) -> None:
    assert use(1, limit, triggers) >= 0.9
