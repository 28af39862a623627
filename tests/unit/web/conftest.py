"""The fixture that tests of several rooms of the API share."""

import pytest
from tests.fakes.http_events import Client


@pytest.fixture
def client() -> Client:
    """A client of the API of an empty stack in memory, with the key of an admin."""
    return Client()
