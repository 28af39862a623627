"""Chromium of the system, without a window."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from playwright.sync_api import Browser, sync_playwright

#: What installs it on Debian.
INSTALL: Final = "apt-get install chromium-headless-shell"

#: Its names on different systems. The shell comes first: it has no interface of a browser, which takes 0.7 s
#: of a core for each new tab, although nobody sees it.
PROGRAMS: Final = ("chromium-headless-shell", "chromium", "chromium-browser")


def found() -> str | None:
    """The path of the program. The variable CHROMIUM names one that the system has under another name."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, PROGRAMS)), None)


@contextmanager
def running(program: str) -> Iterator[Browser]:
    """A browser that ends with the block."""
    with sync_playwright() as playwright:
        # Chromium cannot make its sandbox in a container, or for root. It loads our own pages alone.
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()
