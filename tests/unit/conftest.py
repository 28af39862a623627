"""The fixtures that tests of several rooms share."""

from collections.abc import Iterator

import pytest
from tests.fakes.webhooks import check_attempt
from tests.fakes.world import World


@pytest.fixture
def world() -> Iterator[World]:
    """An empty stack in memory. Its time is noon. What it has sent is what the OpenAPI document says."""
    world = World()
    consumers = world.consumers
    yield world
    for attempt in consumers.attempts:
        check_attempt(attempt)
