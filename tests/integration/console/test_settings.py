"""Signing in, API keys, and the settings of a namespace, as an admin sees them in the console."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect
from tests.contract.builders import admin_change
from tests.integration.console.conftest import Console, Town

from sweephand import __version__
from sweephand.model.api_key import Key

Open = Callable[..., Console]


def test_an_admin_writes_the_limits_of_a_namespace(open_console: Open, town: Town) -> None:
    page = open_console().show("ns/settings")
    expect(page.get_by_text("never")).to_be_visible()
    page.get_by_label("The settings (JSON)").fill('{"limits": {"jobs": -1}}')
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("/limits/jobs")
    page.get_by_label("The settings (JSON)").fill('{"limits": {"jobs": 12345678901234567890}}')
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("/limits/jobs")
    page.get_by_label("The settings (JSON)").fill('{"limits": {"jobs": 100}}')
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("with the key")).to_be_visible()
    assert town.api.send("GET", "/v1/namespaces/ns").json["limits"] == {"jobs": 100}


def test_settings_that_somebody_else_has_written_meanwhile_are_not_overwritten(
    open_console: Open, town: Town
) -> None:
    page = open_console().show("ns/settings")
    town.api.send("PUT", "/v1/namespaces/ns", {"limits": {"jobs": 7}})
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_be_visible()
    assert town.api.send("GET", "/v1/namespaces/ns").json["limits"] == {"jobs": 7}


def test_what_is_no_json_cannot_be_saved(open_console: Open) -> None:
    page = open_console().show("ns/settings")
    page.get_by_label("The settings (JSON)").fill("{")
    expect(page.get_by_role("alert")).to_contain_text("This is no JSON")
    expect(page.get_by_role("button", name="Save")).to_be_disabled()


def test_a_key_of_every_namespace_lists_them(open_console: Open, town: Town) -> None:
    town.api.send(
        "PUT", "/v1/namespaces/other/jobs/job", {"target": {"type": "http", "url": "https://a.example"}}
    )
    page = open_console().show("ns/settings")
    page.get_by_role("link", name="other").click()
    page.wait_for_url("**#/other/overview")


def test_only_an_admin_is_offered_the_settings(open_console: Open) -> None:
    page = open_console(key="sh_writer").show("ns/settings")
    expect(page.get_by_role("heading", name="No such screen")).to_be_visible()


def test_a_new_key_is_shown_once_and_then_listed_without_its_secret(open_console: Open, town: Town) -> None:
    page = open_console().show("ns/keys")
    page.get_by_role("button", name="New key").click()
    page.get_by_label("Role").select_option("write")
    page.get_by_label("Expires after").fill("ninety days")
    page.get_by_role("dialog").get_by_role("button", name="Make").click()
    expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("/expiresIn")
    page.get_by_label("Expires after").fill("90d")
    page.get_by_label("Description").fill("for the pipeline")
    page.get_by_role("dialog").get_by_role("button", name="Make").click()
    shown = page.get_by_role("region", name="The new key").inner_text()
    row = page.get_by_role("row").filter(has_text="for the pipeline")
    expect(row).to_contain_text("write")
    page.get_by_role("button", name="I have kept it").click()
    expect(page.get_by_role("region", name="The new key")).to_have_count(0)
    key_id = shown.split("_")[1]
    stored = town.api.keys.get(key_id)
    assert stored is not None
    assert (stored.namespace, stored.role) == ("ns", "write")
    assert shown not in page.content()


def test_a_key_is_rotated_and_revoked(open_console: Open, town: Town) -> None:
    town.api.keys.put(Key("k1", "0" * 64, "ns", "read", 0), admin_change())
    page = open_console().show("ns/keys")
    page.get_by_role("button", name="Rotate k1").click()
    page.get_by_role("dialog").get_by_role("button", name="Rotate").click()
    expect(page.get_by_role("region", name="The new key")).to_be_visible()
    expect(page.get_by_text("replaced by")).to_be_visible()
    page.get_by_role("button", name="Revoke k1").click()
    page.get_by_label("Type k1 to confirm").fill("k1")
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(page.get_by_role("button", name="Revoke k1")).to_have_count(0)
    assert town.api.keys.get("k1") is None


def test_only_an_admin_is_offered_the_keys(open_console: Open) -> None:
    page = open_console(key="sh_writer").show("ns/keys")
    expect(page.get_by_role("heading", name="No such screen")).to_be_visible()
    assert page.get_by_role("link", name="Keys").count() == 0


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
