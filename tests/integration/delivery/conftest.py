"""Each request that a test of an adapter sends is one of the OpenAPI document."""

import pytest
from tests.fakes import webhooks


@pytest.fixture(autouse=True)
def _watch(monkeypatch: pytest.MonkeyPatch) -> None:
    webhooks.watch(monkeypatch)
