"""One job: what it shows, and what an operator does with it."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect
from tests.integration.console.conftest import NARROW, SCRIPT, Console, Town

from sweephand.base.instants import HOUR_MS, MINUTE_MS, SECOND_MS, rfc3339

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


@pytest.mark.parametrize(
    ("zone", "begin", "end"),
    [
        ("UTC", "2026-11-20T00:00", "2026-11-21T00:00"),
        ("Pacific/Auckland", "2026-11-21T00:00", "2026-11-22T00:00"),
    ],
)
def test_a_backfill_begins_with_yesterday_by_the_clock_of_the_viewer(
    open_console: Open, zone: str, begin: str, end: str
) -> None:
    page = open_console(zone=zone).show("ns/jobs/nightly-backup")
    page.get_by_role("button", name="Backfill").click()
    expect(page.get_by_label("From")).to_have_value(begin)
    expect(page.get_by_label("To, not included")).to_have_value(end)
    page.get_by_role("dialog").get_by_role("button", name="Backfill").click()
    expect(page.get_by_role("status")).to_contain_text("1 run on the way")


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


def test_a_job_says_its_schedule_in_words_and_shows_its_runs_before_its_due_times(open_console: Open) -> None:
    page = open_console().show("ns/jobs/nightly-backup")
    expect(page.locator("dl.facts").first).to_contain_text("ScheduleAt 02:300 30 2 * * * in Europe/Paris")
    titles = page.get_by_role("heading", level=2).all_inner_texts()
    assert titles == ["Runs", "Next due times", "Changes", "Definition"]


def test_the_due_times_of_a_paused_job_are_those_that_it_would_have(open_console: Open, town: Town) -> None:
    town.world.pause("failing", until=town.world.clock.time + 2 * HOUR_MS + HOUR_MS // 2)
    fires = open_console().show("ns/jobs/failing").get_by_role("region", name="Next due times")
    expect(fires).to_contain_text(
        "None fires until the pause ends, Sat 21 Nov 17:30:05 in 2 h: these would be"
    )
    expect(fires.locator("tbody td:last-child")).to_have_text(
        ["paused"] * 2 + [f"in {each} h" for each in range(2, 10)]
    )


def test_a_job_that_is_paused_without_an_end_fires_at_none_of_its_due_times(open_console: Open) -> None:
    fires = open_console().show("ns/jobs/digest").get_by_role("region", name="Next due times")
    expect(fires).to_contain_text("None fires while the job is paused: these would be its due times.")
    expect(fires.locator("tbody td:last-child")).to_have_text(["paused"] * 10)


def test_a_change_shows_each_field_before_and_after_and_marks_what_differs(
    open_console: Open, town: Town
) -> None:
    retry = {"maxAttempts": 5, "initialDelay": "10s"}
    town.put("moving", schedule="0 30 2 * * *", labels={"team": "ops"}, retry=retry)
    job = "/v1/namespaces/ns/jobs/moving"
    fields = {
        "schedule": "0 45 2 * * *",
        "retry": {**retry, "maxAttempts": 7},
        "labels": None,
        "description": "new",
        "data": {"secret": 1},
    }
    assert town.api.send("PATCH", job, fields).status == 200
    changes = open_console().show("ns/jobs/moving").get_by_role("region", name="Changes")
    rows = {row.get_by_role("rowheader").inner_text(): row for row in changes.locator("tbody tr").all()}
    assert list(rows) == ["data", "description", "labels", "retry", "schedule"]
    assert rows["schedule"].get_by_role("cell").all_inner_texts() == ["0 30 2 * * *", "0 45 2 * * *"]
    for name, before, after in (("schedule", "30", "45"), ("retry", "5", "7")):
        expect(rows[name].locator("del")).to_have_text([before])
        expect(rows[name].locator("ins")).to_have_text([after])
    assert rows["description"].get_by_role("cell").all_inner_texts() == ["not set", "new"]
    expect(rows["labels"].get_by_role("cell").last).to_have_text("not set")
    expect(rows["data"]).to_contain_text("Its values may hold secrets")


def test_no_countdown_goes_below_zero(open_console: Open, town: Town) -> None:
    town.put("soon", dueTime="2m")
    due_at = town.world.clock.time + 2 * MINUTE_MS
    console = open_console()
    console.take_clock()
    page = console.show("ns/jobs/soon")
    page.clock.pause_at((due_at - 10 * SECOND_MS) / SECOND_MS)
    due = page.locator("dl.facts time .soft").first
    expect(due).to_have_text("in 10 s")
    page.clock.run_for(4_000)
    expect(due).to_have_text("in 6 s")
    page.clock.run_for(7_000)
    expect(due).to_have_text("due now")
    expect(page.locator(".fires tbody td:last-child").first).to_have_text("due now")


def test_a_chart_shows_how_late_each_run_began(open_console: Open, town: Town) -> None:
    town.put("held", schedule="@every 10m")
    town.let_pass(35 * MINUTE_MS)
    town.let_pass(6 * MINUTE_MS, ticking=False)
    town.let_pass(10 * MINUTE_MS)
    page = open_console().show("ns/jobs/held")
    chart = page.get_by_role("figure", name="How late did runs begin?")
    shown = town.api.send("GET", "/v1/namespaces/ns/jobs/held/runs").json["items"]
    late = [each["latenessMs"] for each in shown if each["latenessMs"] > SECOND_MS]
    assert len(late) == 1
    expect(chart).to_contain_text(f"Of {len(shown)} runs, half began at most 0 ms after their due time")
    expect(chart).to_contain_text(f"and the latest {late[0] // MINUTE_MS} min.")
    expect(chart.locator("canvas")).to_be_visible()
    chart.get_by_text("Show as a table").click()
    expect(chart.get_by_role("row").filter(has_text=f"{late[0] // MINUTE_MS} min")).to_have_count(1)


def test_each_datum_of_a_job_is_requested_once_and_what_cannot_have_changed_is_not_again(
    open_console: Open, town: Town
) -> None:
    console = open_console()
    asked: list[str] = []
    console.page.on(
        "request", lambda request: asked.append(request.url.partition("/jobs/")[2].partition("?")[0])
    )
    console.take_clock()
    page = console.show("ns/jobs/failing")
    expect(page.locator(".strip .is-failed")).to_have_count(3)
    job = ["failing", "failing/changes", "failing/occurrences", "failing/runs"]
    assert sorted(each for each in asked if each) == job
    asked.clear()
    for _ in range(2):
        with page.expect_response("**/runs?**"), page.expect_response("**/jobs/failing"):
            page.clock.fast_forward(15_000)
    town.api.send("PATCH", "/v1/namespaces/ns/jobs/failing", {"description": "new"})
    assert sorted(each for each in asked if each) == ["failing"] * 2 + ["failing/runs"] * 2
    with page.expect_response("**/changes?**"), page.expect_response("**/occurrences?**"):
        page.clock.fast_forward(15_000)


def test_a_failed_run_is_redriven_from_the_table_of_runs(open_console: Open, town: Town) -> None:
    page = open_console().show("ns/jobs/failing")
    page.get_by_role("button", name="Redrive the run due Sat 21 Nov 14:00:00").click()
    page.get_by_role("dialog").get_by_role("button", name="Redrive").click()
    expect(page.get_by_role("status")).to_have_text("Attempt 2 of the run is on its way.")
    town.let_pass(1_000, ticking=False)
    assert [each.number for each in town.world.consumers.attempts][-1] == 2


def test_a_reader_is_offered_nothing_that_changes_a_job_or_a_run(open_console: Open) -> None:
    console = open_console(key="sh_reader")
    for screen in ("failing", "digest", "failing/why", "digest/why"):
        page = console.show(f"ns/jobs/{screen}")
        page.wait_for_load_state("networkidle")
        for verb in ("Redrive", "Resume", "Run now", "Pause", "Delete", "Cancel the run"):
            expect(page.get_by_role("button", name=verb)).to_have_count(0)


def test_the_zone_is_chosen_once_for_all_times_of_a_job(open_console: Open) -> None:
    console = open_console(zone="America/New_York")
    page = console.show("ns/jobs/failing")
    due = page.get_by_role("group", name="Runs").get_by_role("link").first
    expect(due).to_contain_text("Sat 21 Nov 15:00:00")
    page.get_by_label("Times in").select_option("America/New_York (yours)")
    expect(due).to_contain_text("Sat 21 Nov 10:00:00")
    expect(console.show("ns/jobs/failing/why").get_by_label("Times in")).to_have_value("own")


def test_a_phone_shows_every_column_and_every_action(open_console: Open, town: Town) -> None:
    town.api.send("PATCH", "/v1/namespaces/ns/jobs/failing", {"description": "new", "labels": None})
    page = open_console(size=NARROW, zone="America/New_York").show("ns/jobs/failing")
    page.wait_for_load_state("networkidle")
    for cells in (".runs td", ".fires td", ".sides td", ".runs button", ".verbs button"):
        boxes = [each.bounding_box() for each in page.locator(f"main {cells}").all()]
        assert boxes, cells
        shown = [each for each in boxes if each and each["width"]]
        assert all(each["x"] >= 0 and each["x"] + each["width"] <= NARROW["width"] for each in shown), cells
