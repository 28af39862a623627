"""The fixture `sweephand` of pytest: a stack in simulated time. Nothing is imported before a test uses it."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sweephand_engine.testing.stack import Stack


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line(
        "markers",
        "sweephand(now, namespace, seed): when the fixture `sweephand` begins, as in "
        "now='2026-10-12T12:00:00Z', the namespace of its jobs, and the seed of its ids",
    )


@pytest.fixture
def sweephand(request: pytest.FixtureRequest) -> "Iterator[Stack]":
    """A whole Sweephand in simulated time, new and empty."""
    from sweephand_engine.testing.stack import Stack  # noqa: PLC0415 - every run of pytest imports this module

    marker = request.node.get_closest_marker("sweephand")
    with Stack(*(marker.args if marker else ()), **(marker.kwargs if marker else {})) as stack:
        yield stack
