"""One Chromium for all tests of a process: Playwright cannot run twice in it."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page
from tests.fakes.chromium import chromium


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium, without a window."""
    with chromium() as browser:
        yield browser


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A tab that knows nothing of other tests."""
    context = browser.new_context()
    yield context.new_page()
    context.close()
