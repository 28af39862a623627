"""A stack in simulated time for each test."""

from collections.abc import Iterator

import pytest
from tests.fakes import webhooks

from sweephand_engine.testing import Stack

NOW = "2026-10-12T12:00:00Z"


@pytest.fixture(autouse=True)
def _watch(monkeypatch: pytest.MonkeyPatch) -> None:
    webhooks.watch(monkeypatch)


@pytest.fixture
def stack() -> Iterator[Stack]:
    with Stack(NOW) as stack:
        yield stack
