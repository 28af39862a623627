"""Chromium without a window, for the tests of the console."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, sync_playwright

#: Sets which Chromium shows the console, for a system that has it under another name.
VARIABLE = "CHROMIUM"


@contextmanager
def chromium() -> Iterator[Browser]:
    """The Chromium of the system. Without one the test is skipped, with the command that installs it."""
    found = os.environ.get(VARIABLE) or shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.skip("Chromium, which shows the console, is not installed: apt-get install chromium")
    with sync_playwright() as playwright:
        # Chromium cannot make its sandbox in a container, or for root. It loads our own pages alone.
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()
