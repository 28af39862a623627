"""Each world runs once for all tests of this room, in one process of pytest-xdist.

A world takes a fifth of a second. A module that ran its worlds while it is imported would run them in each
process that collects tests.
"""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import pytest
from tests.simulation.simulation import run
from tests.simulation.traces.trace import Event

HERE = Path(__file__).parent

#: Returns the events of the world of a seed.
Worlds = Callable[[int], Sequence[Event]]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Have one process run those tests of this room that look at worlds."""
    for item in items:
        if item.path.is_relative_to(HERE) and "events_of" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("worlds"))


@pytest.fixture(scope="session")
def events_of() -> Worlds:
    """The events of each world that a test asks for."""

    @cache
    def events(seed: int) -> Sequence[Event]:
        return run(seed).events

    return events
