"""The tests of this folder send some ten thousand requests."""

import logging
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """The log has no line for each request, which would take longer than many of the requests."""
    logging.disable(logging.INFO)
    yield
    logging.disable(logging.NOTSET)
