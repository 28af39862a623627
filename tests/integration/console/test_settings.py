"""The settings of a namespace: an admin reads and writes them."""

from collections.abc import Callable

from playwright.sync_api import expect
from tests.integration.console.conftest import Console, Town

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
