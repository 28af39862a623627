"""One run: its attempts, what was sent and came back, other runs, and what an operator does with it."""

import json
import re
from collections.abc import Callable
from datetime import datetime

import pytest
from playwright.sync_api import Page, expect
from tests.fakes.curl import Curl, read_curl
from tests.fakes.http_events import TARGET
from tests.integration.console.conftest import SCRIPT, Console, Town

from sweephand.base.instants import HOUR_MS, MINUTE_MS, SECOND_MS, rfc3339
from sweephand.model.attempt import Answer, Attempt

Open = Callable[..., Console]


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


def _sent(page: Page) -> Curl:
    """The request of the command of the shown run."""
    return read_curl(page.get_by_role("region", name="A curl command").inner_text(), {})


def test_the_command_of_a_run_by_hand_has_its_index_and_not_its_token(open_console: Open, town: Town) -> None:
    target = {"type": "http", "url": "https://consumer.example/part/{{index}}"}
    town.put("by-hand", target=target, batch={"count": 2})
    run = town.world.trigger("by-hand").run_id
    town.let_pass(2_000)
    page = open_console().show(f"ns/jobs/by-hand/runs/{run}")
    assert _sent(page).url == "/part/0"


def test_the_command_of_a_run_has_the_content_type_of_the_target_alone(
    open_console: Open, town: Town
) -> None:
    headers = {"Content-Type": "application/x-ndjson"}
    town.put("typed", dueTime="1s", target={**TARGET, "headers": headers})
    due_at = town.world.clock.time + 1_000
    town.let_pass(2_000)
    page = open_console().show(f"ns/jobs/typed/runs/{due_at}-0")
    command = page.get_by_role("region", name="A curl command").inner_text()
    assert re.findall("content-type: [a-z/-]+", command.lower()) == ["content-type: application/x-ndjson"]


@pytest.mark.parametrize("form", ["cloudevents", "cloudevents-binary"])
def test_no_command_claims_to_repeat_a_cloud_event(open_console: Open, town: Town, form: str) -> None:
    due_at = town.world.clock.time + 1_000
    town.put("event", dueTime="1s", data={"n": 1}, target={**TARGET, "format": form})
    town.let_pass(2_000)
    page = open_console().show(f"ns/jobs/event/runs/{due_at}-0")
    shown = page.get_by_role("region", name="What was sent").inner_text()
    assert json.loads(shown) == {"target": {**TARGET, "format": form}, "data": {"n": 1}}
    expect(page.get_by_role("region", name="A curl command")).to_have_count(0)


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


def _answered(*answers: Answer, town: Town, took_ms: int = 250) -> None:
    """Let the consumer give these answers in turn, each after so much time."""
    given = iter(answers)

    def answer(_: Attempt) -> Answer:
        town.world.clock.time += took_ms
        return next(given)

    town.world.consumers.answering = answer


BUSY = Answer(succeeded=False, code=503, text="busy")


def test_a_run_shows_each_attempt_with_its_time_answer_and_duration_and_the_wait_between(
    open_console: Open, town: Town
) -> None:
    done = Answer(succeeded=True, code=200, text='{"rows":12345678901234567890}')
    _answered(BUSY, done, town=town)
    due_at = town.world.clock.time + 10 * SECOND_MS
    town.put("slow", dueTime="10s", retry={"initialDelay": "10s"})
    town.let_pass(MINUTE_MS)
    page = open_console().show(f"ns/jobs/slow/runs/{due_at}-0")
    steps = page.get_by_role("region", name="Attempts").get_by_role("listitem")
    expect(steps).to_have_count(5)
    expect(steps.nth(0)).to_contain_text("Due")
    expect(steps.nth(1)).to_contain_text("after the due time")
    expect(steps.nth(2)).to_contain_text("Attempt 1")
    expect(steps.nth(2)).to_contain_text("failed")
    expect(steps.nth(2)).to_contain_text("took 250 ms")
    expect(steps.nth(2)).to_contain_text("503 · busy")
    shown = town.api.send("GET", f"/v1/namespaces/ns/jobs/slow/runs/{due_at}-0").json
    one, other = (datetime.fromisoformat(each["startedAt"]) for each in shown["attemptHistory"])
    waited = steps.nth(3).inner_text().removeprefix("waited ").removesuffix(" s")
    assert float(waited) == pytest.approx((other - one).total_seconds() - 0.25, abs=0.051)
    expect(steps.nth(4)).to_contain_text("succeeded")
    expect(page.get_by_role("region", name="Last answer")).to_have_text(
        '{\n  "rows": 12345678901234567890\n}'
    )
    expect(page.get_by_role("region", name="Request").first).to_contain_text("POST https://consumer.example/")


def test_a_run_that_is_retried_counts_down_to_its_next_attempt_and_not_below_zero(
    open_console: Open, town: Town
) -> None:
    _answered(BUSY, town=town)
    due_at = town.world.clock.time + 10 * SECOND_MS
    town.put("slow", dueTime="10s", retry={"initialDelay": "3m"})
    town.let_pass(11 * SECOND_MS)
    run = f"ns/jobs/slow/runs/{due_at}-0"
    shown = town.api.send("GET", f"/v1/namespaces/{run}").json
    next_at = datetime.fromisoformat(shown["nextAttemptAt"]).timestamp() * 1_000
    console = open_console()
    console.opened_at = int(next_at) - 100 * SECOND_MS
    console.take_clock()
    page = console.show(run)
    page.clock.pause_at(next_at / SECOND_MS - 5)
    coming = page.locator(".attempts .is-coming .soft")
    expect(coming).to_have_text("in 5 s")
    page.clock.run_for(5_000)
    expect(coming).to_have_text("due now")
    with page.expect_response("**/runs/**"):
        page.clock.run_for(17_000)
    page.clock.run_for(1_000)
    expect(coming).to_have_text("late by 18 s")
    expect(page.locator(".beat")).to_contain_text("late by 18 s")


def test_attempts_that_are_not_kept_are_said_to_be_missing(open_console: Open, town: Town) -> None:
    town.world.consumers.answering = lambda _: BUSY
    due_at = town.world.clock.time + 10 * SECOND_MS
    town.put("slow", dueTime="10s", retry={"initialDelay": "1s", "maxDelay": "1s", "maxAttempts": 13})
    town.let_pass(5 * MINUTE_MS)
    page = open_console().show(f"ns/jobs/slow/runs/{due_at}-0")
    expect(page.locator(".attempts .wait").first).to_have_text("Attempts 1 to 3 are not kept.")
    expect(page.locator(".attempts .step")).to_have_text(
        ["Due", *(f"Attempt {each}" for each in range(4, 14)), "Given up"]
    )


def test_the_runs_before_and_after_a_run_are_one_click_away(open_console: Open) -> None:
    page = open_console().show("ns/jobs/failing")
    page.locator(".strip .is-failed").nth(1).click()
    others = page.get_by_role("navigation", name="Other runs of the job")
    others.get_by_role("link", name="Previous run").click()
    expect(others).to_contain_text("No previous run")
    expect(page.locator(".attempts time").first).to_contain_text("13:00:00")
    for due in ("14:00:00", "15:00:00"):
        others.get_by_role("link", name="Next run").click()
        expect(page.locator(".attempts time").first).to_contain_text(due)
    expect(others).to_contain_text("No next run")


def test_the_sentence_that_asks_for_a_redrive_has_its_button(open_console: Open, town: Town) -> None:
    console = open_console()
    page = console.show("ns/jobs/failing/runs/1795266000000-0")
    sentence = page.locator(".beat")
    expect(sentence).to_contain_text("It was given up after 1 attempt. Response 422 is final")
    expect(sentence).to_contain_text("Mend the cause, then redrive it.")
    expect(sentence.get_by_role("button", name="Redrive")).to_be_visible()
    town.api.send("DELETE", "/v1/namespaces/ns/jobs/failing")
    page = console.show("ns/jobs/failing/runs/1795266000000-0")
    expect(page.locator(".beat")).to_contain_text("Its job is deleted, so it cannot be redriven.")
    expect(page.get_by_role("button", name="Redrive")).to_have_count(0)
    expect(page.get_by_text("a run does not keep what was sent")).to_be_visible()


def test_a_request_that_may_have_been_another_one_says_so(open_console: Open, town: Town) -> None:
    run = "ns/jobs/failing/runs/1795266000000-0"
    console = open_console()
    expect(console.show(run).get_by_text("As the job is now")).not_to_contain_text("was changed")
    town.api.send("PATCH", "/v1/namespaces/ns/jobs/failing", {"data": {"other": True}})
    expect(console.show(run).get_by_text("As the job is now")).to_contain_text(
        "The job was changed Sat 21 Nov"
    )


def test_a_run_is_read_again_and_its_job_is_not(open_console: Open) -> None:
    console = open_console()
    asked: list[str] = []
    console.page.on("request", lambda request: asked.append(request.url.partition("/jobs/")[2]))
    console.take_clock()
    page = console.show("ns/jobs/failing/runs/1795266000000-0")
    run = "failing/runs/1795266000000-0?include=neighbours"
    assert sorted(each for each in asked if each) == ["failing", run]
    with page.expect_response("**/runs/**"):
        page.clock.fast_forward(15_000)
    assert sorted(each for each in asked if each) == ["failing", run, run]


def test_a_run_says_how_it_stands_before_and_while_it_is_made(open_console: Open, town: Town) -> None:
    console = open_console()
    sentence = console.page.locator(".beat")
    coming = town.world.clock.time + 10 * MINUTE_MS
    town.put("async", dueTime="10m", completion="async", heartbeatTimeout="2h", maxRunTime="5h")
    console.show(f"ns/jobs/async/runs/{coming}-0")
    expect(sentence).to_contain_text("It is due Sat 21 Nov 15:10:05 in 10 min.")
    asked = town.world.trigger("nightly-backup").run_id
    console.show(f"ns/jobs/nightly-backup/runs/{asked}")
    expect(sentence).to_contain_text("It is due and on its way.")
    expect(sentence.get_by_role("link", name="Why?")).to_have_count(0)
    town.world.consumers.answering = lambda _: Answer(succeeded=True, code=202)
    town.let_pass(11 * MINUTE_MS)
    console.show(f"ns/jobs/async/runs/{coming}-0")
    expect(sentence).to_contain_text("The consumer works on it. Its next callback is due Sat 21 Nov 17:10:05")
    expect(sentence).to_contain_text("the run must be over by Sat 21 Nov 20:10:05")
    expect(console.page.locator(".attempts")).to_contain_text("under way")


def test_a_record_of_skipped_due_times_says_how_many(open_console: Open, town: Town) -> None:
    town.put("strict", schedule="@every 10m", catchup={"mode": "none", "window": "30m"})
    town.world.clock.time += 2 * HOUR_MS
    town.world.tick()
    (run,) = town.api.send("GET", "/v1/namespaces/ns/jobs/strict/runs?state=skipped").json["items"]
    sentence = open_console().show(f"ns/jobs/strict/runs/{run['id']}").locator(".beat")
    expect(sentence).to_contain_text(
        f"It stands for {run['count']} due times that were skipped, up to Sat 21 Nov"
    )
    expect(sentence).to_contain_text("misfire.")
    sentence.get_by_role("link", name="Why?").click()
    expect(sentence).to_contain_text("by the rule of catch-up")
    expect(sentence.get_by_role("button", name="Run now")).to_be_visible()
