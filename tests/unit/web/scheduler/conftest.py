"""A stack in memory that EventBridge Scheduler's client calls."""

from typing import Any

import pytest
from tests.fakes.http_events import Client
from tests.fakes.scheduler_calls import scheduler_of
from tests.fakes.targets import EVERYTHING


@pytest.fixture
def api() -> Client:
    return Client(listed=EVERYTHING)


@pytest.fixture
def scheduler(api: Client) -> Any:
    return scheduler_of(api)
