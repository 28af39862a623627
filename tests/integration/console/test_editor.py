"""The editor: a form and the JSON are two views of one job, and the API says what the schedule means."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect
from tests.integration.console.conftest import NARROW, Console, Town

Open = Callable[..., Console]


def field(page: Page, label: str) -> Any:
    """The field with this label: its input, what is wrong, and its hint."""
    return page.locator(".field").filter(has=page.get_by_label(label, exact=True))


def fold(page: Page, title: str) -> Any:
    """The folded group with this title."""
    return page.locator("details").filter(has=page.get_by_text(title, exact=True)).last


def definition(page: Page) -> Any:
    """What the JSON view shows."""
    return json.loads(page.get_by_label("The whole definition").input_value())


def save(page: Page, name: str, button: str = "Save") -> None:
    """Save the job, and wait for its own screen."""
    page.get_by_role("button", name=button).click()
    expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()


def test_the_editor_is_loaded_once_it_is_opened_and_again_after_a_failure(open_console: Open) -> None:
    console = open_console()
    loaded: list[str] = []
    console.page.on("request", lambda request: loaded.append(request.url))
    asset = re.compile(r"/console/editor\.[0-9a-f]+\.js$")
    console.page.route(asset, lambda route: route.fulfill(status=404, json={}), times=1)
    page = console.show("ns/jobs")
    assert not [url for url in loaded if asset.search(url)]
    page.get_by_role("link", name="New job").click()
    expect(page.get_by_role("alert")).to_contain_text("The editor could not be loaded.")
    page.get_by_role("button", name="Try again").click()
    page.get_by_label("Expression").fill("@every 3h")
    page.get_by_role("link", name="Jobs", exact=True).first.click()
    page.get_by_role("link", name="New job").click()
    expect(page.get_by_text("This is what you wrote before.")).to_be_visible()
    assert len([url for url in loaded if asset.search(url)]) == 2


def test_a_new_job_is_written_by_the_form(open_console: Open, town: Town) -> None:
    page = open_console().show("ns/new")
    page.get_by_label("Name", exact=True).fill("report")
    page.get_by_label("Expression").fill("@every 2h")
    page.get_by_label("URL", exact=True).fill("https://consumer.example/report")
    expect(page.get_by_text("Every 2 hours")).to_be_visible()
    save(page, "report", "Create")
    job = town.api.get("report").json
    assert (job["schedule"], job["target"]["url"]) == ("@every 2h", "https://consumer.example/report")


@pytest.mark.parametrize(
    ("kind", "label", "text", "written"),
    [
        ("by an expression", "Expression", "rate(5 minutes)", {"schedule": "rate(5 minutes)"}),
        ("every so often", "Every", "1h30m", {"schedule": "@every 1h30m"}),
        ("by fields of the clock", "Hour", "3", {"schedule": {"hour": 3, "dayOfWeek": "MON-FRI"}}),
        ("at given instants", "Instant 1", "2027-01-01T00:00:00Z", {"schedule": ["2027-01-01T00:00:00Z"]}),
        ("once", "Fires at", "2h", {"dueTime": "2h"}),
        ("only on demand", None, "", {}),
    ],
)
def test_each_kind_of_schedule_has_its_inputs(
    open_console: Open, kind: str, label: str | None, text: str, written: Any
) -> None:
    page = open_console().show("ns/new")
    page.get_by_label("Fires", exact=True).select_option("once")
    page.get_by_label("Fires", exact=True).select_option(kind)
    if label is not None:
        page.get_by_label(label, exact=True).fill(text)
    found = definition(page)
    assert {name: found[name] for name in ("schedule", "dueTime") if name in found} == written


def test_an_empty_schedule_makes_no_job_on_demand_by_accident(open_console: Open, town: Town) -> None:
    page = open_console().show("ns/new")
    page.get_by_label("Name", exact=True).fill("report")
    page.get_by_label("Expression").fill("")
    page.get_by_label("URL", exact=True).fill("https://consumer.example/report")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_label("Fires", exact=True)).to_be_focused()
    assert not town.world.has_job("report")
    page.get_by_label("Fires", exact=True).select_option("only on demand")
    save(page, "report", "Create")
    assert town.api.get("report").json["onDemand"] is True


def test_a_clock_writes_an_instant_in_the_zone_of_the_job(open_console: Open) -> None:
    page = open_console().show("ns/new")
    page.get_by_label("Fires", exact=True).select_option("once")
    page.get_by_label("Time zone").fill("America/New_York")
    page.get_by_label("Fires at, by the clock of America/New_York").fill("2027-07-01T09:00")
    assert definition(page)["dueTime"] == "2027-07-01T09:00:00-04:00"
    page.get_by_label("Fires at", exact=True).fill("2027-01-01T00:00:00Z")
    expect(page.get_by_label("Fires at, by the clock of America/New_York")).to_have_value("2026-12-31T19:00")


def test_the_preview_shows_what_a_clock_change_does(open_console: Open) -> None:
    page = open_console().show("ns/new")
    page.get_by_label("Expression").fill("0 30 2 28 3 *")
    page.get_by_label("Time zone").fill("Europe/Paris")
    changed = page.get_by_role("row").filter(has_text="the gap ends").first
    expect(changed).to_contain_text("Sun 28 Mar 2027 03:00:00 +02:00")


def test_the_preview_is_asked_once_the_typing_pauses_and_not_again(open_console: Open, town: Town) -> None:
    console = open_console()
    console.take_clock()
    page = console.show("ns/new")
    expect(page.get_by_text("At 09:00")).to_be_visible()
    page.clock.pause_at((console.opened_at + 60_000) / 1_000)
    before = town.server.calls().count("POST /v1/occurrences")
    page.get_by_label("Expression").fill("")
    page.get_by_label("Expression").press_sequentially("@every 3h")
    page.clock.run_for(1_000)
    expect(page.get_by_text("Every 3 hours")).to_be_visible()
    page.get_by_label("Description").fill("Each third hour")
    page.clock.run_for(60_000)
    assert town.server.calls().count("POST /v1/occurrences") == before + 1


def test_a_wrong_time_is_named_at_its_field_before_it_is_saved(open_console: Open) -> None:
    page = open_console().show("ns/new")
    page.get_by_label("Time zone").fill("Europe/Pariss")
    expect(field(page, "Time zone").get_by_role("alert")).to_be_visible()
    expect(page.get_by_label("Refused lines")).to_contain_text("/timezone")
    page.get_by_label("Time zone").fill("Europe/Paris")
    expect(field(page, "Time zone").get_by_role("alert")).to_have_count(0)


def test_errors_stand_at_their_fields_in_both_views(open_console: Open, town: Town) -> None:
    page = open_console().show("ns/new")
    page.get_by_label("Name", exact=True).fill("report")
    page.get_by_label("URL", exact=True).fill("http://consumer.example/")
    text = definition(page)
    wrong = {"retry": {"maxAge": "1y"}, "colour": 1, "onComplete": {"type": "http", "url": "ftp://x"}}
    page.get_by_label("The whole definition").fill(json.dumps({**text, **wrong}, indent=2))
    page.get_by_role("button", name="Create").click()
    expect(page.locator('[id="/target/url-about"]').get_by_role("alert")).to_be_visible()
    expect(field(page, "All attempts within").get_by_role("alert")).to_be_visible()
    expect(page.locator('[id="/onComplete/url-about"]').get_by_role("alert")).to_be_visible()
    expect(fold(page, "Notification").locator("summary").first).to_contain_text("1 refused")
    expect(page.locator(".problem")).to_contain_text("/colour")
    lines = page.get_by_label("Refused lines")
    for pointer in ("/target/url", "/retry/maxAge", "/colour"):
        expect(lines).to_contain_text(pointer)
    expect(page.locator('[id="/target/url"]')).to_be_focused()
    lines.get_by_role("listitem").filter(has_text="/retry/maxAge").get_by_role("button").click()
    chosen = "(area) => area.value.slice(area.selectionStart, area.selectionEnd)"
    assert page.get_by_label("The whole definition").evaluate(chosen) == '"1y"'
    page.get_by_label("All attempts within").fill("1h")
    expect(field(page, "All attempts within").get_by_role("alert")).to_have_count(0)
    assert not town.world.has_job("report")


def test_a_change_in_one_view_shows_in_the_other_at_once(open_console: Open, town: Town) -> None:
    page = open_console().show("ns/jobs/nightly-backup/edit")
    text = definition(page)
    page.get_by_label("The whole definition").fill(
        json.dumps({**text, "retry": {"maxAttempts": 3, "odd": 1}})
    )
    expect(fold(page, "Retries").locator("summary")).to_contain_text("attempts at most 3")
    expect(page.get_by_label("Attempts at most")).to_have_value("3")
    page.get_by_label("All attempts within").fill("2h")
    assert definition(page)["retry"] == {"maxAttempts": 3, "odd": 1, "maxAge": "2h"}
    page.get_by_label("The whole definition").fill(json.dumps({**text, "retry": {"maxAttempts": 3}}))
    page.get_by_label("Description").fill("Nightly")
    save(page, "nightly-backup")
    job = town.api.get("nightly-backup").json
    assert (job["retry"], job["description"], job["data"]) == (
        {"maxAttempts": 3},
        "Nightly",
        {"task": "db-backup"},
    )


def test_an_emptied_field_leaves_the_definition_and_so_does_an_empty_object(open_console: Open) -> None:
    page = open_console().show("ns/new")
    page.get_by_label("Attempts at most").fill("5")
    assert definition(page)["retry"] == {"maxAttempts": 5}
    page.get_by_label("Attempts at most").fill("")
    assert "retry" not in definition(page)


def test_groups_are_open_where_there_is_room_and_else_those_that_have_something(
    open_console: Open, town: Town
) -> None:
    town.put("bounded", schedule="@daily", retry={"maxAttempts": 3})
    page = open_console().show("ns/jobs/bounded/edit")
    for label in ("Attempts at most", "Later by up to", "Priority"):
        expect(page.get_by_label(label)).to_be_visible()
    expect(page.get_by_label("Time-out")).to_be_hidden()
    page = open_console(size=NARROW).show("ns/jobs/bounded/edit")
    expect(page.get_by_label("Attempts at most")).to_have_value("3")
    expect(page.get_by_label("Attempts at most")).to_be_visible()
    expect(page.get_by_label("Priority")).to_be_hidden()
    fold(page, "Overlap and limits").locator("summary").click()
    expect(page.get_by_label("Priority")).to_be_visible()


def test_a_value_that_the_form_cannot_show_is_changed_in_the_json_alone(open_console: Open) -> None:
    page = open_console().show("ns/new")
    page.get_by_label("The whole definition").fill('{"policy": ["a"], "target": {"type": "fax", "to": 7}}')
    expect(page.get_by_label("Flow policy")).to_be_disabled()
    expect(page.get_by_label("Deliver to")).to_have_value("fax")
    page.get_by_label("Description").fill("x")
    assert definition(page)["target"] == {"type": "fax", "to": 7}


def test_digits_and_the_order_of_names_survive_the_editor(open_console: Open, town: Town) -> None:
    target = b'{"type": "http", "url": "https://consumer.example/h"}'
    text = b'{"target": ' + target + b', "data": {"b": 9007199254740993, "7": [1.0], "a": 1e2}}'
    assert town.api.send("PUT", "/v1/namespaces/ns/jobs/exact", text=text).status == 201
    page = open_console().show("ns/jobs/exact/edit")
    page.get_by_label("Description").fill("Exact numbers")
    save(page, "exact")
    stored = "".join((town.api.get("exact").text or "").split())
    assert "Exactnumbers" in stored
    assert '{"b":9007199254740993,"7":[1.0],"a":1e2}' in stored


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


def test_a_save_that_meets_another_change_keeps_both(open_console: Open, town: Town) -> None:
    page = open_console().show("ns/jobs/nightly-backup/edit")
    page.get_by_label("Description").fill("mine")
    page.get_by_label("Priority").select_option("high")
    job = {name: town.api.get("nightly-backup").json[name] for name in ("schedule", "timezone", "data")}
    town.put("nightly-backup", **job, description="theirs", labels={"team": "data"})
    page.get_by_role("button", name="Save").click()
    note = page.get_by_role("alert").filter(has_text="Somebody else changed this job")
    expect(note).to_contain_text("Their change of labels is in the form")
    expect(note).to_contain_text("You both changed description")
    expect(note).to_be_in_viewport()
    assert town.api.get("nightly-backup").json["description"] == "theirs"
    save(page, "nightly-backup")
    found = town.api.get("nightly-backup").json
    assert (found["description"], found["priority"], found["labels"]) == ("mine", "high", {"team": "data"})


def test_a_job_of_a_file_says_which_file_and_what_becomes_of_a_change(open_console: Open, town: Town) -> None:
    town.put("owned", schedule="@daily", labels={"sweephand-file": "jobs/billing.yaml 0123456789abcdef"})
    page = open_console().show("ns/jobs/owned/edit")
    expect(page.locator(".note")).to_contain_text("The file jobs/billing.yaml owns this job.")
    expect(page.locator(".note")).to_contain_text("with --take-over it overwrites your change")
    assert open_console().show("ns/jobs/digest/edit").locator(".note").count() == 0


@pytest.mark.parametrize(
    ("more", "note"),
    [
        (
            {"owner": "arn:aws:cloudformation:eu-west-1:123456789012:stack/billing/0f1a-22/Nightly"},
            "The resource Nightly of the CloudFormation stack billing owns this job.",
        ),
        ({"eventbridge": "{}"}, "A client of EventBridge Scheduler wrote this job."),
    ],
)
def test_a_job_that_something_else_writes_says_so(open_console: Open, more: Any, note: str) -> None:
    console = open_console()

    def with_more(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, json={**answer.json(), **more})

    console.page.route("**/jobs/digest", with_more)
    expect(console.show("ns/jobs/digest/edit").locator(".note")).to_contain_text(note)


def test_what_was_not_saved_is_found_again_until_it_is_cancelled(open_console: Open) -> None:
    page = open_console().show("ns/jobs/nightly-backup/edit")
    page.get_by_label("Description").fill("half")
    page.get_by_role("link", name="Policies").click()
    expect(page.get_by_role("heading", name="Policies")).to_be_visible()
    page.go_back()
    expect(page.get_by_label("Description")).to_have_value("half")
    page.get_by_role("button", name="Begin again").click()
    expect(page.get_by_label("Description")).to_have_value("Nightly backup of the orders database")
    page.get_by_label("Description").fill("half")
    page.get_by_role("link", name="Cancel").click()
    page.get_by_role("link", name="Edit").click()
    expect(page.get_by_label("Description")).to_have_value("Nightly backup of the orders database")
    expect(page.locator(".note")).to_have_count(0)
    page.get_by_label("Description").fill("whole")
    save(page, "nightly-backup")
    page.get_by_role("link", name="Edit").click()
    expect(page.get_by_label("Description")).to_have_value("whole")
    expect(page.locator(".note")).to_have_count(0)


def test_a_reader_gets_no_editor(open_console: Open) -> None:
    console = open_console(key="sh_reader")
    expect(console.show("ns/new").get_by_text("This screen needs a key with the role write.")).to_be_visible()
    assert console.show("ns/jobs/nightly-backup/edit").get_by_role("button", name="Save").count() == 0
