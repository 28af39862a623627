"""Chromium without a window, which shows the console."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from playwright.sync_api import Browser, sync_playwright

#: Sets which Chromium shows the console, for a system that has it under another name.
VARIABLE: Final = "CHROMIUM"


def missing() -> str | None:
    """Why no browser can be started, with the command that installs one; None if there is one."""
    if _found() is None:
        return "Chromium, which shows the console, is not installed: apt-get install chromium"
    return None


def _found() -> str | None:
    return os.environ.get(VARIABLE) or shutil.which("chromium") or shutil.which("chromium-browser")


@contextmanager
def chromium() -> Iterator[Browser]:
    """The Chromium of the system, until the context is left. There has to be one (missing)."""
    with sync_playwright() as playwright:
        # Chromium cannot make its sandbox in a container, or for root. It loads our own pages alone.
        browser = playwright.chromium.launch(executable_path=_found(), args=["--no-sandbox"])
        yield browser
        browser.close()
