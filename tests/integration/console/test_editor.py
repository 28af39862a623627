"""The editor: a form and the JSON are two views of one job, and the API says what the schedule means."""

import json
from collections.abc import Callable

from playwright.sync_api import expect
from tests.integration.console.conftest import Console, Town

Open = Callable[..., Console]


def test_a_new_job_is_written_by_the_form(open_console: Open, town: Town) -> None:
    page = open_console().show("ns/new")
    page.get_by_label("Name", exact=True).fill("report")
    page.get_by_label("Schedule").fill("@every 2h")
    page.get_by_label("URL of an HTTP target").fill("https://consumer.example/report")
    expect(page.get_by_text("Every 2 hours")).to_be_visible()
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name="report", exact=True)).to_be_visible()
    job = town.api.get("report").json
    assert (job["schedule"], job["target"]["url"]) == ("@every 2h", "https://consumer.example/report")


def test_the_preview_shows_what_a_clock_change_does(open_console: Open) -> None:
    page = open_console().show("ns/new")
    page.get_by_label("Schedule").fill("0 30 2 28 3 *")
    page.get_by_label("Time zone").fill("Europe/Paris")
    changed = page.get_by_role("row").filter(has_text="the gap ends").first
    expect(changed).to_contain_text("Sun 28 Mar 2027 03:00:00 +02:00")


def test_errors_stand_at_their_fields(open_console: Open, town: Town) -> None:
    page = open_console().show("ns/new")
    page.get_by_label("Name", exact=True).fill("report")
    page.get_by_label("Time zone").fill("Europe/Pariss")
    page.get_by_label("URL of an HTTP target").fill("http://consumer.example/")
    page.get_by_role("button", name="Create").click()
    for label in ("Time zone", "URL of an HTTP target"):
        field = page.locator(".field").filter(has=page.get_by_label(label))
        expect(field.get_by_role("alert")).to_be_visible()
    assert not town.world.has_job("report")


def test_the_json_holds_what_the_form_has_no_field_for(open_console: Open, town: Town) -> None:
    page = open_console().show("ns/jobs/nightly-backup/edit")
    text = json.loads(page.get_by_label("The whole definition").input_value())
    text["retry"] = {"maxAttempts": 3}
    page.get_by_label("The whole definition").fill(json.dumps(text))
    page.get_by_label("Description").fill("Nightly")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="nightly-backup", exact=True)).to_be_visible()
    job = town.api.get("nightly-backup").json
    assert (job["retry"], job["description"], job["data"]) == (
        {"maxAttempts": 3},
        "Nightly",
        {"task": "db-backup"},
    )


def test_numbers_keep_their_digits_through_the_editor(open_console: Open, town: Town) -> None:
    target = b'{"type": "http", "url": "https://consumer.example/h"}'
    text = b'{"target": ' + target + b', "data": [9007199254740993, 1.0]}'
    assert town.api.send("PUT", "/v1/namespaces/ns/jobs/exact", text=text).status == 201
    page = open_console().show("ns/jobs/exact/edit")
    page.get_by_label("Description").fill("Exact numbers")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="exact", exact=True)).to_be_visible()
    stored = town.api.get("exact").text or ""
    assert "Exact numbers" in stored
    assert "9007199254740993" in stored
    assert "1.0" in stored


def test_text_that_is_no_json_cannot_be_saved(open_console: Open) -> None:
    page = open_console().show("ns/jobs/nightly-backup/edit")
    page.get_by_label("The whole definition").fill('{"schedule": ')
    expect(page.get_by_text("This is no JSON")).to_be_visible()
    expect(page.get_by_role("button", name="Save")).to_be_disabled()
    expect(page.get_by_label("Description")).to_be_disabled()


def test_a_job_that_somebody_else_changed_meanwhile_is_not_overwritten(
    open_console: Open, town: Town
) -> None:
    page = open_console().show("ns/jobs/nightly-backup/edit")
    town.put("nightly-backup", schedule="@daily")
    page.get_by_label("Description").fill("mine")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_be_visible()
    assert town.api.get("nightly-backup").json["schedule"] == "@daily"


def test_a_reader_gets_no_editor(open_console: Open) -> None:
    console = open_console(key="sh_reader")
    expect(console.show("ns/new").get_by_role("heading", name="No such screen")).to_be_visible()
    assert console.show("ns/jobs/nightly-backup/edit").get_by_role("button", name="Save").count() == 0
