"""The failures of a namespace: spans and searches in the address, groups, redrives and cancellations."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.fakes.http_events import TARGET
from tests.integration.console.conftest import NARROW, WIDE, Console, Town, serious_barriers

from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS
from sweephand.model.attempt import Answer, Attempt

Open = Callable[..., Console]


def bodies(page: Page) -> list[Any]:
    """The bodies of the calls for many runs, in their order, as they are made from now on."""
    found: list[Any] = []
    page.on(
        "request",
        lambda request: (
            found.append(request.post_data_json)
            if request.url.endswith(("/ns/redrive", "/ns/cancel"))
            else None
        ),
    )
    return found


def failing_in_words(attempt: Attempt) -> Answer:
    """A consumer whose answers name the order and the time, and that is asked again for `slow`."""
    name, number = attempt.trigger.key.name, attempt.trigger.sequence
    if name == "slow":
        return Answer(succeeded=False, code=503, text="busy")
    return Answer(succeeded=False, is_final=True, code=500, text=f"no order {number} at 0{number}:00")


def test_failed_runs_are_grouped_by_job_or_answer_and_redriven_together(
    open_console: Open, town: Town
) -> None:
    page = open_console().show("ns/failures")
    expect(page.get_by_role("heading", name="failing")).to_be_visible()
    page.get_by_label("Group by").select_option("answer")
    page.wait_for_url("**#/ns/failures?group=answer")
    expect(page.get_by_role("heading", name="422")).to_be_visible()
    page.get_by_role("button", name="Redrive those of 422").click()
    page.get_by_role("dialog").get_by_role("button", name="Redrive 3").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("status")).to_contain_text("3 runs redriven.")
    assert len([call for call in town.server.calls() if call.endswith("/redrive")]) == 3
    assert len(town.world.queue.waiting) == 3


def test_chosen_runs_alone_are_redriven(open_console: Open, town: Town) -> None:
    page = open_console(zone="UTC").show("ns/failures")
    page.get_by_label("Choose failing 1795266000000-0").check()
    expect(page.get_by_text("1 run chosen")).to_be_visible()
    page.get_by_role("button", name="Redrive 1", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Redrive 1").click()
    expect(page.get_by_role("status")).to_contain_text("1 run redriven.")
    expect(page.get_by_text("1 run chosen")).to_have_count(0)
    redriven = [call for call in town.server.calls() if call.endswith("/redrive")]
    assert redriven == ["POST /v1/namespaces/ns/jobs/failing/runs/1795266000000-0/redrive"]


def test_all_of_a_span_are_counted_first_and_then_redriven_with_the_same_filter(
    open_console: Open, town: Town
) -> None:
    page = open_console(zone="UTC").show("ns/failures?reason=422&prefix=fail&label=team%3Aops&span=6h")
    sent = bodies(page)
    page.get_by_role("button", name="Redrive all in this span").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Redrive 3 runs?")
    expect(dialog).to_contain_text("Due from Sat 21 Nov 09:00:05 until Sat 21 Nov 15:00:05")
    expect(dialog).to_contain_text("Answer or reason has “422”")
    assert not town.world.queue.waiting
    dialog.get_by_role("button", name="Redrive 3").click()
    expect(page.get_by_role("status")).to_contain_text("3 runs redriven.")
    wanted = {
        "reason": "422",
        "prefix": "fail",
        "labels": {"team": "ops"},
        "since": "2026-11-21T09:00:05.000Z",
        "until": "2026-11-21T15:00:05.000Z",
    }
    assert sent == [{**wanted, "dryRun": True}, wanted]
    assert len(town.world.queue.waiting) == 3


def test_what_cannot_be_redriven_is_said_before_anybody_is_asked(open_console: Open, town: Town) -> None:
    town.api.send("DELETE", "/v1/namespaces/ns/jobs/failing")
    page = open_console().show("ns/failures")
    page.get_by_role("button", name="Redrive all in this span").click()
    expect(page.get_by_role("alert")).to_contain_text("The API found no run in this span to redrive.")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_span_stands_in_the_address_and_the_address_sets_the_span(open_console: Open) -> None:
    console = open_console(zone="UTC")
    page = console.show("ns/failures")
    expect(page.get_by_text("3 runs", exact=True).first).to_be_visible()
    for title, address, text in (("15 min", "15m", "1 run"), ("1 h", "1h", "1 run"), ("6 h", "6h", "3 runs")):
        page.get_by_label("Due in the last").select_option(title)
        page.wait_for_url(f"**#/ns/failures?span={address}")
        expect(page.locator(".selection")).to_contain_text(text)
    page.get_by_label("Due in the last").select_option("other span …")
    page.wait_for_url("**?since=2026-11-21T09%3A00%3A05.000Z")
    expect(page.get_by_label("From")).to_have_value("2026-11-21T09:00")
    page.get_by_label("From").fill("2026-11-21T13:30")
    page.get_by_label("Until").fill("2026-11-21T14:30")
    page.get_by_label("Until").blur()
    page.wait_for_url("**?since=2026-11-21T13%3A30%3A00.000Z&until=2026-11-21T14%3A30%3A00.000Z")
    expect(page.locator("tbody tr")).to_have_count(1)
    page = console.show("ns/failures?since=2026-11-21T13:30:00Z&until=2026-11-21T14:30:00Z")
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.get_by_label("Due in the last")).to_have_value("")
    page.get_by_label("Due in the last").select_option("7 days")
    page.wait_for_url("**#/ns/failures?span=7d")
    expect(page.locator("tbody tr")).to_have_count(3)


def test_an_address_that_says_nothing_sensible_shows_the_failures_of_a_day(open_console: Open) -> None:
    page = open_console().show("ns/failures?state=toString&span=constructor&since=soon&group=valueOf")
    expect(page.locator("tbody tr")).to_have_count(3)
    for label, value in (("State", "failed"), ("Due in the last", "1d"), ("Group by", "job")):
        expect(page.get_by_label(label)).to_have_value(value)


def test_runs_that_were_due_before_the_chosen_time_are_not_shown(open_console: Open, town: Town) -> None:
    town.api.send("PATCH", "/v1/namespaces/ns/jobs/failing", {"schedule": "@yearly"})
    town.world.clock.time += 2 * DAY_MS
    page = open_console().show("ns/failures")
    expect(page.get_by_text("No failed run was due in the last 1 day.")).to_be_visible()
    page.get_by_label("Due in the last").select_option("7 days")
    expect(page.get_by_role("heading", name="failing")).to_be_visible()


def test_a_search_stands_in_the_address_and_the_api_makes_it(open_console: Open, town: Town) -> None:
    console = open_console()
    page = console.show("ns/failures")
    search = page.get_by_label("Answer or reason has")
    search.fill("422")
    search.press("Enter")
    page.wait_for_url("**#/ns/failures?reason=422")
    expect(page.get_by_role("heading", name="failing")).to_be_visible()
    search.fill("503")
    search.press("Enter")
    expect(page.get_by_text("No run fits this filter.")).to_be_visible()
    assert any("reason=503" in path for _, path, _ in town.server.requests)
    expect(console.show("ns/failures?prefix=other").get_by_text("No run fits this filter.")).to_be_visible()
    expect(console.show("ns/failures?label=team%3Agrowth").get_by_text("No run fits")).to_be_visible()


def test_a_search_keeps_a_label_with_a_blank_when_another_field_of_it_changes(
    open_console: Open, town: Town
) -> None:
    town.put("failing", schedule="@every 1h", labels={"team": "data platform"})
    page = open_console().show("ns/failures?label=team%3Adata+platform")
    expect(page.get_by_role("heading", name="failing")).to_be_visible()
    page.get_by_label("Due in the last").select_option("7 days")
    page.wait_for_url("**#/ns/failures?span=7d*")
    expect(page.get_by_role("heading", name="failing")).to_be_visible()


def test_a_span_without_a_beginning_counts_the_old_failures_of_all_namespaces(
    open_console: Open, town: Town
) -> None:
    town.api.send("PATCH", "/v1/namespaces/ns/jobs/failing", {"schedule": "@yearly"})
    town.world.clock.time += 2 * DAY_MS
    page = open_console().show("ns/failures?until=2026-11-22T00:00:00Z")
    expect(page.locator("tbody tr")).to_have_count(3)
    page.get_by_label("Namespaces").select_option("all")
    page.wait_for_url("**all=1*")
    expect(page.locator("td.name a")).to_have_text(["ns"])


def test_answers_that_differ_in_numbers_alone_are_one_group_and_a_group_can_be_shown_alone(
    open_console: Open, town: Town
) -> None:
    town.world.consumers.answering = failing_in_words
    town.put("mail", schedule="@every 20m")
    town.let_pass(HOUR_MS + 1_000)
    page = open_console().show("ns/failures?span=1h&group=answer")
    title = "500 · no order … at …:…"
    expect(page.get_by_role("heading", name=title)).to_be_visible()
    expect(page.get_by_role("heading")).to_have_count(2)
    for text in ("500 · no order 1 at 01:00", "500 · no order 4 at 04:00"):
        expect(page.get_by_role("cell", name=text).first).to_be_visible()
    page.get_by_label("Group by").select_option("job")
    page.get_by_role("link", name="Show only those of mail").click()
    page.wait_for_url("**#/ns/failures?span=1h&prefix=mail&group=answer")
    expect(page.locator("td.name")).to_have_text(["mail"] * 3)


def test_few_runs_that_are_retried_are_named_and_cancelled(open_console: Open, town: Town) -> None:
    town.world.consumers.answering = failing_in_words
    town.put("slow", schedule="@every 20m", retry={"initialDelay": "2h"})
    town.let_pass(50 * MINUTE_MS)
    page = open_console(zone="UTC").show("ns/overview")
    page.get_by_role("link", name="2 will be tried again", exact=True).click()
    page.wait_for_url("**#/ns/failures?state=retrying")
    sent = bodies(page)
    page.get_by_role("button", name="Cancel all in this span").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("li")).to_have_text(
        ["slow, due Sat 21 Nov 15:40:05", "slow, due Sat 21 Nov 15:20:05"]
    )
    dialog.get_by_role("button", name="Cancel 2").click()
    expect(page.get_by_text("2 runs cancelled.")).to_be_visible()
    expect(page.get_by_text("No retrying run was due in the last 1 day.")).to_be_visible()
    assert [(each["state"], each.get("dryRun")) for each in sent] == [("retrying", True), ("retrying", None)]


def test_more_than_ten_runs_are_cancelled_once_their_number_is_typed(open_console: Open, town: Town) -> None:
    town.world.consumers.answering = failing_in_words
    town.put("slow", schedule="@every 1m", retry={"initialDelay": "2h"})
    town.let_pass(11 * MINUTE_MS + 1_000)
    page = open_console().show("ns/failures?state=retrying")
    dialog = page.get_by_role("dialog")
    page.get_by_role("button", name="Cancel those of slow").click()
    expect(dialog.locator("li")).to_have_count(11)
    expect(dialog.locator("li").last).to_have_text("and 1 more")
    expect(dialog.get_by_role("button", name="Cancel 11")).to_be_disabled()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Cancel all in this span").click()
    expect(dialog.locator("li")).to_have_count(0)
    expect(dialog.get_by_role("button", name="Cancel 11")).to_be_disabled()
    dialog.get_by_label("Type 11 to confirm").fill("11")
    dialog.get_by_role("button", name="Cancel 11").click()
    expect(page.get_by_text("11 runs cancelled.")).to_be_visible()


def test_a_reader_is_offered_no_redrive_and_no_choice(open_console: Open) -> None:
    page = open_console(key="sh_reader").show("ns/failures")
    expect(page.get_by_role("heading", name="failing")).to_be_visible()
    expect(page.get_by_role("button", name="Redrive")).to_have_count(0)
    expect(page.get_by_role("checkbox")).to_have_count(0)
    expect(page.get_by_label("Namespaces")).to_have_count(0)


def test_a_key_of_all_namespaces_redrives_the_failures_of_all(open_console: Open, town: Town) -> None:
    for namespace in ("zoo", "quiet"):
        job = {"target": TARGET, "schedule": "@every 20m"}
        name = "failing" if namespace == "zoo" else "steady"
        assert town.api.send("PUT", f"/v1/namespaces/{namespace}/jobs/{name}", job).status == 201
    town.let_pass(HOUR_MS + MINUTE_MS)
    page = open_console().show("ns/failures")
    page.get_by_label("Namespaces").select_option("all")
    page.wait_for_url("**#/ns/failures?all=1")
    expect(page.locator("td.name a")).to_have_text(["ns", "zoo"])
    page.get_by_role("button", name="Redrive all in this span").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Redrive 7 runs?")
    expect(dialog.locator("li")).to_have_text(["ns 4", "zoo 3"])
    dialog.get_by_role("button", name="Redrive 7").click()
    expect(page.get_by_text("7 runs redriven.")).to_be_visible()
    assert len(town.world.queue.waiting) == 7
    page.get_by_role("link", name="zoo").click()
    page.wait_for_url("**#/zoo/failures")
    expect(page.get_by_role("heading", name="failing")).to_be_visible()


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("scheme", "size"), [("light", WIDE), ("light", NARROW), ("dark", WIDE), ("dark", NARROW)]
)
def test_failures_have_no_serious_barrier(open_console: Open, town: Town, scheme: str, size: Any) -> None:
    town.world.consumers.answering = failing_in_words
    town.put("mail", schedule="@every 5m")
    town.put("orders-export", schedule="@every 30m")
    town.let_pass(HOUR_MS + 1_000)
    console = open_console(size=size, scheme=scheme)
    for name, screen in (
        ("failures", "ns/failures"),
        (
            "failures-answers",
            "ns/failures?group=answer&since=2026-11-21T13:30:00Z&until=2026-11-21T17:00:00Z",
        ),
        ("failures-all", "ns/failures?all=1"),
        ("failures-none", "ns/failures?state=skipped"),
    ):
        page = console.show(screen)
        page.wait_for_load_state("networkidle")
        if name == "failures-answers":
            page.get_by_role("checkbox").nth(1).check()
        console.shoot(f"{name}-{scheme}")
        assert [(each["id"], each["nodes"][0]["html"]) for each in serious_barriers(page)] == []
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
