"""A stack in simulated time for each test."""

from collections.abc import Iterator

import pytest

from sweephand_engine.testing import Stack

NOW = "2026-10-12T12:00:00Z"


@pytest.fixture
def stack() -> Iterator[Stack]:
    with Stack(NOW) as stack:
        yield stack
