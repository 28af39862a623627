"""Signing in, and the settings of a namespace, as an admin sees them in the console."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect
from tests.integration.console.conftest import Console, Town

from sweephand import __version__

Open = Callable[..., Console]


def test_each_setting_has_its_input_and_what_is_refused_stands_at_it(open_console: Open, town: Town) -> None:
    page = open_console().show("ns/settings")
    expect(page.get_by_text("never")).to_be_visible()

    def refused(label: str, text: str) -> None:
        page.get_by_role("button", name="Save").click()
        wrong = page.locator(".field").filter(has=page.get_by_label(label, exact=True)).get_by_role("alert")
        expect(wrong).to_contain_text(text)
        expect(page.get_by_role("alert")).to_have_count(1)
        expect(page.get_by_label(label, exact=True)).to_be_focused()

    page.get_by_label("Jobs", exact=True).fill("-1")
    refused("Jobs", "from 1")
    page.get_by_label("Jobs", exact=True).fill("12345678901234567890")
    refused("Jobs", "from 1")
    page.get_by_label("Jobs", exact=True).fill("many")
    refused("Jobs", "whole number")
    page.get_by_label("Jobs", exact=True).fill("100")
    page.get_by_label("Last attempt within").fill("soon")
    refused("Last attempt within", "duration")
    page.get_by_label("Last attempt within").fill("1h")
    page.get_by_label("Networks").fill("10.0.0.0/99")
    refused("Networks", "0: ")
    page.get_by_label("Networks").fill("203.0.113.0/24")
    page.get_by_label("Hosts").fill("example.com\n*.example.com")
    page.get_by_label("Type").select_option("http")
    page.get_by_label("URL").fill("ftp://example.com")
    refused("URL", "http")
    page.get_by_label("URL").fill("https://example.com/actors")
    page.get_by_label("Its other fields (JSON)").fill('{"headers": {"x-team": 5}}')
    refused("Its other fields (JSON)", "headers/x-team")
    page.get_by_label("Its other fields (JSON)").fill('{"headers": {"x-team": "ops"}}')
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("with the key")).to_be_visible()
    stored = town.api.send("GET", "/v1/namespaces/ns").json
    assert stored["limits"] == {"jobs": 100}
    assert stored["defaultRetry"] == {"maxAge": "1h"}
    assert stored["allowedTargets"] == {
        "hosts": ["example.com", "*.example.com"],
        "networks": ["203.0.113.0/24"],
    }
    target = {"type": "http", "url": "https://example.com/actors", "headers": {"x-team": "ops"}}
    assert stored["defaultTarget"] == target


def test_settings_that_are_saved_unchanged_stay_as_they_are(open_console: Open, town: Town) -> None:
    settings = {
        "limits": {"triggersPerMinute": 600, "payload": 65_536},
        "defaultTarget": {"type": "sqs", "queueUrl": "https://sqs.eu-west-1.amazonaws.com/123456789012/q"},
        "defaultRetry": {"maxAttempts": 5, "multiplier": 1.5, "initialDelay": "10s", "maxDelay": "1h"},
        "allowedTargets": {"networks": ["203.0.113.0/24"]},
    }
    assert town.api.send("PUT", "/v1/namespaces/ns", settings).status == 200
    before = town.api.send("GET", "/v1/namespaces/ns").json
    page = open_console().show("ns/settings")
    with page.expect_response(lambda answer: answer.request.method == "PUT") as saved:
        page.get_by_role("button", name="Save").click()
    assert saved.value.status == 200
    after = town.api.send("GET", "/v1/namespaces/ns").json
    assert {name: after.get(name) for name in settings} == {name: before[name] for name in settings}


def test_a_limit_that_is_emptied_is_removed(open_console: Open, town: Town) -> None:
    town.api.send("PUT", "/v1/namespaces/ns", {"limits": {"jobs": 7, "payload": 9}})
    page = open_console().show("ns/settings")
    page.get_by_label("Jobs", exact=True).fill("")
    with page.expect_response(lambda answer: answer.request.method == "PUT"):
        page.get_by_role("button", name="Save").click()
    assert town.api.send("GET", "/v1/namespaces/ns").json["limits"] == {"payload": 9}


def test_settings_that_somebody_else_has_written_meanwhile_are_not_overwritten(
    open_console: Open, town: Town
) -> None:
    page = open_console().show("ns/settings")
    town.api.send("PUT", "/v1/namespaces/ns", {"limits": {"jobs": 7}})
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_be_visible()
    assert town.api.send("GET", "/v1/namespaces/ns").json["limits"] == {"jobs": 7}
    page.get_by_role("button", name="Load what is stored now").click()
    expect(page.get_by_label("Jobs", exact=True)).to_have_value("7")


def test_a_target_that_is_no_json_cannot_be_saved(open_console: Open) -> None:
    page = open_console().show("ns/settings")
    page.get_by_label("Type").select_option("other")
    page.get_by_label("The target (JSON)").fill("{")
    expect(page.get_by_role("alert")).to_contain_text("This is no JSON")
    expect(page.get_by_role("button", name="Save")).to_be_disabled()


def test_only_an_admin_is_offered_the_settings(open_console: Open) -> None:
    page = open_console(key="sh_writer").show("ns/settings")
    expect(page.get_by_text("This screen needs a key with the role admin.")).to_be_visible()


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
    console.page.get_by_role("link", name="failing", exact=True).click()
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
