"""API keys: an admin makes, rotates and revokes them. A new key is shown once."""

from collections.abc import Callable

from playwright.sync_api import expect
from tests.contract.builders import admin_change
from tests.integration.console.conftest import Console, Town

from sweephand.model.api_key import Key

Open = Callable[..., Console]


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
