"""Chromium of the system, without a window."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from playwright.sync_api import Browser, sync_playwright

#: What installs it on Debian.
INSTALL: Final = "apt-get install chromium"


def found() -> str | None:
    """The path of the program. The variable CHROMIUM names one that the system has under another name."""
    return os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


@contextmanager
def running(program: str) -> Iterator[Browser]:
    """A browser that ends with the block."""
    with sync_playwright() as playwright:
        # Chromium cannot make its sandbox in a container, or for root. It loads our own pages alone.
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()
