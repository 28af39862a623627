"""Random walks: processes end, stores fail, clocks differ, messages come twice, and nothing is lost."""

import pytest
from tests.fakes.walk import Walk


@pytest.mark.parametrize("seed", range(40))
def test_whatever_goes_wrong_for_a_while_comes_right(seed: int) -> None:
    walk = Walk(seed)
    walk.go(60)
    walk.calm_down()
