"""A fixture compares each request that an adapter sends with the OpenAPI document. moto stands in for SQS."""

from collections.abc import Iterator

import pytest
from tests.fakes import webhooks
from tests.fakes.sqs import Sqs, mocked_sqs


@pytest.fixture(autouse=True)
def _watch(monkeypatch: pytest.MonkeyPatch) -> None:
    webhooks.watch(monkeypatch)


@pytest.fixture
def sqs(monkeypatch: pytest.MonkeyPatch) -> Iterator[Sqs]:
    with mocked_sqs(monkeypatch) as mocked:
        yield mocked
