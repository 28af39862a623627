"""Chromium without a window, for the tests of the console."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from infra.bench import browser
from playwright.sync_api import Browser


@contextmanager
def chromium() -> Iterator[Browser]:
    """The Chromium of the system. Without one the test is skipped, with the command that installs it."""
    why = browser.missing()
    if why is not None:
        pytest.skip(why)
    with browser.chromium() as found:
        yield found
