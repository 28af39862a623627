"""Chromium without a window, for the tests of the console."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

#: How long a test waits for what a page is to show. Two busy cores have taken more than five seconds.
PATIENCE_MS: Final = 30_000


@contextmanager
def chromium() -> Iterator[Browser]:
    """The Chromium of the system. Without one the test is skipped, with the command that installs it.

    The variable CHROMIUM names one that the system has under another name.
    """
    found = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.skip("Chromium, which shows the console, is not installed: apt-get install chromium")
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        # Chromium cannot make its sandbox in a container, or for root. It loads our own pages alone.
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()
