"""The fixtures that tests of several rooms share."""

import pytest
from tests.fakes.world import World


@pytest.fixture
def world() -> World:
    """An empty stack in memory. Its time is noon."""
    return World()
