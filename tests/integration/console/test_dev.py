"""The page by which `sweephand dev --open` opens the console."""

from playwright.sync_api import Browser, expect

from sweephand_engine.dev import Development
from sweephand_engine.journal import Journal
from sweephand_engine.server import Server


def test_the_page_that_dev_opens_shows_the_console_signed_in(browser: Browser) -> None:
    development = Development(Server(0), Journal(), allow_outbound=False)
    development.serve()
    try:
        with browser.new_context() as context:
            page = context.new_page()
            page.goto(f"{development.server.url}{development.site.opened_at}")
            expect(page.get_by_role("button", name="Sign out")).to_be_visible()
            assert page.url.startswith(f"{development.server.url}/console")
    finally:
        development.stop()
