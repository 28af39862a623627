"""Whoever opens the console signs in by a key, and is offered what that key may do."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect
from tests.integration.console.conftest import Console, Town

from sweephand import __version__

Open = Callable[..., Console]


def test_a_key_opens_the_jobs_and_is_in_no_address(open_console: Open, town: Town) -> None:
    page = open_console(key=None).page
    page.get_by_label("API key").fill("sh_admin")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    assert "sh_admin" not in page.url
    assert all("sh_admin" not in path for _, path, _ in town.server.requests)
    assert page.evaluate("JSON.stringify(localStorage) + document.cookie") == "{}"


def test_every_screen_shows_the_version_of_the_stack(open_console: Open) -> None:
    expect(open_console().show("ns/jobs").get_by_role("contentinfo")).to_have_text(f"Sweephand {__version__}")


def test_an_unknown_key_is_refused_in_words_and_forgotten(open_console: Open) -> None:
    page = open_console(key=None).page
    page.get_by_label("API key").fill("sh_nobody")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("does not know this key")
    assert page.evaluate("sessionStorage.getItem('sweephand-key')") is None


def test_sign_out_forgets_the_key(open_console: Open) -> None:
    page = open_console().show("ns/jobs")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("API key")).to_be_visible()
    assert page.evaluate("sessionStorage.getItem('sweephand-key')") is None
    page.reload()
    expect(page.get_by_label("API key")).to_be_visible()


def test_a_key_that_is_revoked_meanwhile_leads_back_to_the_sign_in(open_console: Open) -> None:
    console = open_console()
    console.show("ns/jobs")
    console.page.evaluate("sessionStorage.setItem('sweephand-key', 'sh_revoked')")
    console.page.get_by_role("link", name="failing").click()
    expect(console.page.get_by_role("alert")).to_contain_text("does not know this key")


@pytest.mark.parametrize(("key", "is_offered"), [("sh_reader", False), ("sh_writer", True)])
def test_what_a_role_does_not_allow_is_not_offered(open_console: Open, key: str, is_offered: bool) -> None:  # noqa: FBT001 - a case
    console = open_console(key=key)
    page = console.show("ns/jobs/nightly-backup")
    shown = [
        page.get_by_role("button", name=verb).count() for verb in ("Pause", "Run now", "Backfill", "Delete")
    ]
    assert shown == [int(is_offered)] * 4
    assert console.show("ns/jobs").get_by_role("checkbox").count() == (4 if is_offered else 0)
