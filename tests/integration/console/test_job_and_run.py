"""One job and one run: what they show, and what an operator does with them."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import expect
from tests.fakes.curl import read_curl
from tests.integration.console.conftest import SCRIPT, Console, Town

from sweephand.base.instants import HOUR_MS, rfc3339
from sweephand.model.attempt import Answer

Open = Callable[..., Console]

#: Where the clock changes at other times than in Paris, where the jobs are; one is a quarter of an hour off.
ZONES = ("UTC", "America/New_York", "Asia/Kathmandu", "Pacific/Auckland")


def test_a_job_shows_its_due_times_in_its_zone_that_of_the_viewer_and_utc(open_console: Open) -> None:
    page = open_console(zone="America/New_York").show("ns/jobs/nightly-backup")
    row = page.get_by_role("region", name="Next due times").get_by_role("row").nth(1)
    expect(row).to_contain_text("Sun 22 Nov 02:30:00 +01:00")
    expect(row).to_contain_text("Sat 21 Nov 20:30:00")
    expect(row).to_contain_text("Sun 22 Nov 01:30:00")


@pytest.mark.parametrize("zone", ZONES)
def test_a_clock_change_is_marked_wherever_the_viewer_is(open_console: Open, town: Town, zone: str) -> None:
    town.put("sundays", schedule="0 30 2 28 3 *", timezone="Europe/Paris")
    page = open_console(zone=zone).show("ns/jobs/sundays")
    changed = page.get_by_role("row").filter(has_text="the gap ends").first
    expect(changed).to_contain_text("Sun 28 Mar 2027 03:00:00 +02:00")


def test_a_job_is_paused_with_a_reason_and_resumed(open_console: Open, town: Town) -> None:
    page = open_console().show("ns/jobs/nightly-backup")
    page.get_by_role("button", name="Pause").click()
    page.get_by_label("Reason").fill(SCRIPT)
    page.get_by_role("dialog").get_by_role("button", name="Pause").click()
    expect(page.locator(".note")).to_contain_text(SCRIPT)
    assert town.world.stored("nightly-backup").pause_reason == SCRIPT
    page.get_by_role("button", name="Resume").click()
    page.get_by_role("dialog").get_by_role("button", name="Resume").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    assert town.world.stored("nightly-backup").paused_at is None


def test_a_job_is_paused_until_an_instant_of_the_viewers_zone(open_console: Open, town: Town) -> None:
    page = open_console(zone="Asia/Kathmandu").show("ns/jobs/nightly-backup")
    page.get_by_role("button", name="Pause").click()
    page.get_by_label("Until").fill("2026-12-24T18:00")
    page.get_by_role("dialog").get_by_role("button", name="Pause").click()
    expect(page.locator(".note")).to_contain_text(", until ")
    expect(page.get_by_role("region", name="Changes")).to_contain_text(", until ")
    end = town.world.stored("nightly-backup").pause_end
    assert end is not None
    assert rfc3339(end.at) == "2026-12-24T12:15:00.000Z"


def test_a_job_is_run_now_with_data_whose_numbers_stay_exact(open_console: Open, town: Town) -> None:
    page = open_console().show("ns/jobs/nightly-backup")
    page.get_by_role("button", name="Run now").click()
    page.get_by_label("Data").fill("{")
    run_now = page.get_by_role("dialog").get_by_role("button", name="Run now")
    run_now.click()
    expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("This is no JSON")
    page.get_by_label("Data").fill('{"id": 12345678901234567890.10}')
    run_now.click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    town.let_pass(1_000, ticking=False)
    attempt = next(each for each in town.world.consumers.attempts if each.trigger.run_id.startswith("manual"))
    assert b"12345678901234567890.10" in attempt.body


def test_the_definition_of_a_job_shows_every_digit(open_console: Open, town: Town) -> None:
    target = b'{"type": "http", "url": "https://consumer.example/h"}'
    text = b'{"target": ' + target + b', "data": [9007199254740993, 1.0, 0.1]}'
    assert town.api.send("PUT", "/v1/namespaces/ns/jobs/exact", text=text).status == 201
    shown = open_console().show("ns/jobs/exact").get_by_role("region", name="Definition")
    for digits in ("9007199254740993", "1.0", "0.1"):
        expect(shown).to_contain_text(digits)


def test_a_range_of_due_times_is_filled_in(open_console: Open) -> None:
    page = open_console(zone="UTC").show("ns/jobs/nightly-backup")
    page.get_by_role("button", name="Backfill").click()
    page.get_by_label("From").fill("2026-11-10T00:00")
    page.get_by_label("To, not included").fill("2026-11-12T00:00")
    page.get_by_role("dialog").get_by_role("button", name="Backfill").click()
    expect(page.get_by_role("status")).to_contain_text("2 runs on the way")


def test_a_job_is_deleted_once_its_name_was_typed(open_console: Open, town: Town) -> None:
    page = open_console().show("ns/jobs/digest")
    page.get_by_role("button", name="Delete").click()
    delete = page.get_by_role("dialog").get_by_role("button", name="Delete")
    expect(delete).to_be_disabled()
    page.get_by_label("Type digest to confirm").fill("digest")
    delete.click()
    expect(page.get_by_role("heading", name="Jobs")).to_be_visible()
    assert not town.world.has_job("digest")


def test_escape_closes_a_dialog_and_nothing_is_done(open_console: Open, town: Town) -> None:
    page = open_console().show("ns/jobs/digest")
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert town.world.has_job("digest")


def test_a_failed_run_shows_its_answer_as_text_and_is_redriven(open_console: Open, town: Town) -> None:
    page = open_console().show("ns/jobs/failing")
    page.locator(".strip .is-failed").first.click()
    expect(page.get_by_role("region", name="Last answer")).to_have_text(SCRIPT)
    page.get_by_role("button", name="Redrive").click()
    page.get_by_role("dialog").get_by_role("button", name="Redrive").click()
    expect(page.get_by_role("status")).to_have_text("Attempt 2 is on its way.")
    assert page.title() != "taken"
    town.let_pass(1_000, ticking=False)
    assert max(each.number for each in town.world.consumers.attempts) == 2


def test_a_run_shows_the_trace_id_of_its_latest_attempt(open_console: Open, town: Town) -> None:
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    run = town.world.trigger("nightly-backup", traceparent=f"00-{trace}-00f067aa0ba902b7-01").run_id
    town.let_pass(1_000, ticking=False)
    page = open_console().show(f"ns/jobs/nightly-backup/runs/{run}")
    expect(page.locator("dl.facts").first).to_contain_text(f"Trace id{trace}")


def test_the_command_of_a_run_repeats_its_request(open_console: Open, town: Town) -> None:
    sent_to = {"type": "http", "url": "https://consumer.example/{{due}}/../[1-99]", "method": "PUT"}
    target = {**sent_to, "headers": {"x-team": "ops"}}
    town.put("quoted", dueTime="1s", data={"text": "it's `x`"}, target=target)
    town.let_pass(2_000)
    page = open_console().show("ns/jobs/quoted")
    page.locator(".strip a").first.click()
    sent = read_curl(page.get_by_role("region", name="A curl command").inner_text(), {})
    attempt = next(each for each in town.world.consumers.attempts if each.trigger.key.name == "quoted")
    assert (sent.method, sent.headers["x-team"]) == ("PUT", "ops")
    assert json.loads(sent.body or "") == {"text": "it's `x`"}
    assert sent.url.startswith("/2026-11-21T15:00:0")
    assert sent.url.endswith("/../[1-99]")
    assert sent.headers["webhook-id"] == attempt.trigger.id


def test_the_state_of_the_runs_that_are_shown_is_in_the_address(open_console: Open) -> None:
    page = open_console().show("ns/jobs/failing?state=succeeded")
    expect(page.get_by_text("No run here is succeeded.")).to_be_visible()
    page.get_by_label("State").focus()
    page.get_by_label("State").select_option("failed")
    page.wait_for_url("**#/ns/jobs/failing?state=failed")
    expect(page.locator(".strip .is-failed")).to_have_count(3)
    expect(page.get_by_label("State")).to_be_focused()
    page.go_back()
    expect(page.get_by_text("No run here is succeeded.")).to_be_visible()
    expect(page.get_by_label("State")).to_have_value("succeeded")


def test_a_run_that_is_retried_is_cancelled(open_console: Open, town: Town) -> None:
    town.world.consumers.answering = lambda _: Answer(succeeded=False, code=503)
    town.let_pass(HOUR_MS)
    page = open_console().show("ns/jobs/failing")
    page.locator(".strip .is-retrying").first.click()
    page.get_by_role("button", name="Cancel the run").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel the run").click()
    expect(page.locator("h1 + .state")).to_have_text("cancelled")


def test_a_run_that_has_not_begun_offers_no_cancel(open_console: Open, town: Town) -> None:
    due_at = town.world.clock.time + HOUR_MS
    town.put("later", dueTime=rfc3339(due_at))
    town.world.pause("later")
    page = open_console().show(f"ns/jobs/later/runs/{due_at}-0")
    expect(page.locator("h1 + .state")).to_have_text("waiting")
    expect(page.get_by_role("button", name="Cancel the run")).to_have_count(0)
