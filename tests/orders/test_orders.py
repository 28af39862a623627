"""Every order of the small worlds keeps the promises, and each world shows what it is there for."""

import os
from typing import Final

import pytest
from tests.orders.engine import explore
from tests.orders.scenarios import SCENARIOS

#: The worlds that are walked with states apart too, which takes ten times as long.
APART: Final = SCENARIOS if os.environ.get("SWEEPHAND_WHOLE") else ("delete", "pause and resume")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", SCENARIOS)
def test_every_order_keeps_the_promises(name: str) -> None:
    found = explore(SCENARIOS[name].build, None)
    assert found.complaint is None, found.story
    assert found.orders > found.ends > 1


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_world_shows_its_mutation(name: str) -> None:
    scenario = SCENARIOS[name]
    with scenario.breaks():
        assert explore(scenario.build, None).complaint is not None


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", APART)
def test_states_that_are_walked_once_are_equal(name: str) -> None:
    """A bound tells states apart by the preemptions that are left, so it walks many states again.

    If two states were taken for one although they go on differently, the orders would be others.
    """
    merged, apart = (explore(SCENARIOS[name].build, bound, crashes=0) for bound in (None, 99))
    assert merged.orders == apart.orders
    assert merged.states < apart.states
