"""The tests of this folder send some ten thousand requests."""

import gc
import logging
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """The log has no line for each request, which would take longer than many of the requests."""
    logging.disable(logging.INFO)
    yield
    logging.disable(logging.NOTSET)


@pytest.fixture(autouse=True, scope="module")
def small_heap() -> Iterator[None]:
    """The collector of garbage passes over what the tests hold, which no function of the stack holds."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()
