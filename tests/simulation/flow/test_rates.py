"""A rate is kept exactly while everything but the clocks goes wrong."""

import pytest
from tests.simulation.flow.seeds import run


@pytest.mark.parametrize("seed", [10, 18, 36, 39])
def test_requests_that_are_limit_apart_leave_at_least_per_apart_whatever_crashes(seed: int) -> None:
    world = run(seed, clocks_differ=False)
    assert len(world.consumer.begun_at) > 100, "the seed shows little of rates"
    assert not world.complaints
