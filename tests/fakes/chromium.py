"""Chromium without a window, for the tests of the console and of the documentation's site."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pytest
from infra.chromium import INSTALL, found, running
from playwright.sync_api import Browser, expect

#: How long a test waits for what a page is to show. Two busy cores have taken more than five seconds.
PATIENCE_MS: Final = 30_000


@contextmanager
def chromium() -> Iterator[Browser]:
    """The Chromium of the system. Without one the test is skipped, with the command that installs it."""
    program = found()
    if program is None:
        pytest.skip(f"Chromium, which shows the pages, is not installed: {INSTALL}")
    expect.set_options(timeout=PATIENCE_MS)
    with running(program) as browser:
        yield browser
