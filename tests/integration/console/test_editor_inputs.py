"""The inputs of the editor: rows, secrets, names that the namespace has, data, and the keyboard alone."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect
from tests.integration.console.conftest import Console, Town
from tests.integration.console.test_editor import definition, field, fold, save

Open = Callable[..., Console]


def test_labels_are_rows(open_console: Open, town: Town) -> None:
    page = open_console().show("ns/jobs/nightly-backup/edit")
    expect(fold(page, "Labels").locator("summary")).to_contain_text("team:ops")
    page.get_by_role("button", name="Add a label").click()
    expect(page.get_by_label("Name of label 2")).to_be_focused()
    page.keyboard.type("7")
    page.get_by_label("Value of label 2").fill("x")
    page.get_by_role("button", name="Add a label").click()
    expect(page.get_by_label("Name of label 3")).to_be_focused()
    page.keyboard.type("team")
    expect(page.locator(".rows").filter(has_text="team stands here twice")).to_be_visible()
    page.get_by_role("button", name="Remove label 3").click()
    expect(page.get_by_role("button", name="Add a label")).to_be_focused()
    page.get_by_role("button", name="Add a label").click()
    page.get_by_role("button", name="Remove label 3").click()
    expect(page.get_by_role("button", name="Add a label")).to_be_focused()
    assert list(definition(page)["labels"].items()) == [("team", "ops"), ("7", "x")]
    save(page, "nightly-backup")
    assert town.api.get("nightly-backup").json["labels"] == {"team": "ops", "7": "x"}


def test_a_header_has_the_value_of_a_secret_of_the_namespace(open_console: Open, town: Town) -> None:
    put = town.api.send("PUT", "/v1/namespaces/ns/secrets/api-token", {"value": "Bearer 3f9c1d"})
    assert put.status in (200, 201)
    page = open_console().show("ns/jobs/nightly-backup/edit")
    page.get_by_role("button", name="Add a header").click()
    page.get_by_label("Name of header 1").fill("authorization")
    page.get_by_label("secret", exact=True).check()
    page.get_by_label("Secret of header 1").focus()
    expect(page.locator('[id="names-secrets"] option')).to_have_attribute("value", "api-token")
    page.get_by_label("Secret of header 1").fill("api-token")
    save(page, "nightly-backup")
    headers = town.api.get("nightly-backup").json["target"]["headers"]
    assert headers == {"authorization": {"secretRef": "api-token"}}


def test_a_name_is_chosen_from_the_list_of_the_namespace_which_is_loaded_once(
    open_console: Open, town: Town
) -> None:
    page = open_console().show("ns/new")
    assert "GET /v1/namespaces/ns/policies" not in town.server.calls()
    page.get_by_label("Flow policy").focus()
    expect(page.locator('[id="names-policies"] option')).to_have_attribute("value", "mailer")
    page.get_by_label("Flow policy").fill("maile")
    expect(field(page, "Flow policy")).to_contain_text("no such name among its policies")
    page.get_by_label("Flow policy").fill("mailer")
    expect(field(page, "Flow policy")).not_to_contain_text("no such name")
    page.get_by_label("Priority").focus()
    page.get_by_label("Flow policy").focus()
    assert town.server.calls().count("GET /v1/namespaces/ns/policies") == 1


def test_a_key_that_may_not_list_secrets_does_not_ask_for_them(open_console: Open, town: Town) -> None:
    page = open_console(key="sh_writer").show("ns/new")
    fold(page, "More of this target").locator("summary").click()
    page.get_by_label("Secret that signs").fill("billing-key")
    assert definition(page)["target"]["signingSecret"] == {"secretRef": "billing-key"}
    assert "GET /v1/namespaces/ns/secrets" not in town.server.calls()


def test_data_that_is_no_json_is_named_at_once_and_not_saved(open_console: Open, town: Town) -> None:
    page = open_console().show("ns/jobs/nightly-backup/edit")
    data = page.get_by_label("Data (JSON)")
    data.fill('{"task": ')
    expect(field(page, "Data (JSON)")).to_contain_text("This is no JSON")
    page.get_by_role("button", name="Save").click()
    expect(data).to_be_focused()
    assert definition(page)["data"] == {"task": "db-backup"}
    data.fill("[1.10, null]")
    expect(field(page, "Data (JSON)")).not_to_contain_text("This is no JSON")
    save(page, "nightly-backup")
    assert "[1.10,null]" in "".join((town.api.get("nightly-backup").text or "").split())


def test_another_type_of_target_keeps_what_both_have_and_comes_back(open_console: Open) -> None:
    page = open_console().show("ns/new")
    page.get_by_label("URL", exact=True).fill("https://consumer.example/h")
    fold(page, "More of this target").locator("summary").click()
    page.get_by_label("Time-out").fill("20s")
    page.get_by_label("Deliver to").select_option("lambda")
    assert definition(page)["target"] == {"type": "lambda", "timeout": "20s"}
    page.get_by_label("Deliver to").select_option("http")
    assert definition(page)["target"] == {
        "type": "http",
        "url": "https://consumer.example/h",
        "timeout": "20s",
    }
    page.get_by_label("Deliver to").select_option("")
    assert "target" not in definition(page)


@pytest.mark.parametrize("keys", ["Control+Enter", "Enter"])
def test_the_keyboard_alone_writes_a_job(open_console: Open, town: Town, keys: str) -> None:
    page = open_console().show("ns/new")
    expect(page.get_by_label("Name", exact=True)).to_be_visible()

    def tab_to(label: str) -> None:
        for _ in range(80):
            page.keyboard.press("Tab")
            text = page.evaluate(
                "(document.activeElement.labels?.[0] || document.activeElement).textContent.trim()"
            )
            if text == label or text.startswith(f"{label} "):
                return
        raise AssertionError(label)

    tab_to("Name")
    page.keyboard.type("report")
    tab_to("Expression")
    page.keyboard.press("Control+a")
    page.keyboard.type("@hourly")
    tab_to("URL")
    page.keyboard.press("End")
    page.keyboard.type("consumer.example/h")
    tab_to("Attempts at most")
    page.keyboard.type("2")
    page.keyboard.press(keys)
    expect(page.get_by_role("heading", name="report", exact=True)).to_be_visible()
    job = town.api.get("report").json
    assert (job["schedule"], job["retry"], job["target"]["url"]) == (
        "@hourly",
        {"maxAttempts": 2},
        "https://consumer.example/h",
    )
