"""What the console does with hostile addresses, wrong answers of the stack, and what a person mistypes."""

import re
from collections.abc import Callable
from typing import Any, Final

import pytest
from playwright.sync_api import Page, Route, expect
from tests.integration.console.conftest import Console, Town, hold_the_first

from sweephand.base.instants import HOUR_MS, MINUTE_MS, SECOND_MS
from sweephand.model.attempt import Answer

Open = Callable[..., Console]

UNKNOWN: Final = "The stack answered something that the console does not understand."


@pytest.mark.parametrize("days", ["constructor", "-1"])
def test_an_address_of_windows_with_an_unknown_range_shows_the_usual_one(
    open_console: Open, town: Town, days: str
) -> None:
    town.api.send("PUT", "/v1/namespaces/ns/windows/nightly", {"schedule": "0 1 * * *", "duration": "2h"})
    page = open_console().show(f"ns/windows?days={days}")
    expect(page.get_by_role("combobox", name="Show")).to_have_value("14")


@pytest.mark.parametrize(("day", "hours"), [("2026-10-25", 25), ("2026-03-29", 23), ("2026-11-21", 24)])
def test_a_mark_of_the_time_line_stands_where_that_hour_is_also_on_the_day_of_a_clock_change(
    open_console: Open, town: Town, day: str, hours: int
) -> None:
    noon = {"schedule": "0 12 * * *", "timezone": "Europe/Paris", "duration": "2h"}
    town.api.send("PUT", "/v1/namespaces/ns/windows/noon", noon)
    console = open_console()
    console.page.clock.set_fixed_time(f"{day}T05:00:00Z")
    page = console.show("ns/windows?days=1")
    lane = page.get_by_role("img", name="noon: open")
    bar = lane.locator("rect")
    expect(bar).to_have_count(1)
    begins = float(bar.get_attribute("x") or 0)
    assert float(lane.locator("line.mark").nth(4).get_attribute("x1") or 0) == begins
    assert float(bar.get_attribute("width") or 0) == pytest.approx(2000 / hours)
    title = page.locator(".timeline .axis li").nth(4)
    expect(title).to_have_text("12:00")
    drawn = "each => each.getBoundingClientRect().left"
    assert title.evaluate(drawn) == pytest.approx(bar.evaluate(drawn), abs=2)


def test_a_year_of_five_digits_breaks_no_form(open_console: Open) -> None:
    console = open_console()
    page = console.show("ns/failures?since=2026-11-01T00:00:00Z")
    page.get_by_label("Until").fill("12026-01-01T00:00")
    page.get_by_label("Until").blur()
    expect(page.get_by_role("heading", name="Failures")).to_be_visible()
    page = console.show("ns/new-window")
    page.get_by_label("It opens").select_option("once")
    page.get_by_label("From").fill("12026-01-01T00:00")
    page.get_by_label("To", exact=True).fill("12026-01-02T00:00")
    page.get_by_label("Name", exact=True).fill("far")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_label("From")).to_have_attribute("aria-invalid", "true")
    page = console.show("ns/jobs/digest")
    page.get_by_role("button", name="Backfill").click()
    page.get_by_label("From").fill("12026-01-01T00:00:00")
    page.get_by_label("To, not included").fill("12026-01-02T00:00:00")
    page.get_by_role("dialog").get_by_role("button", name="Backfill").click()
    expect(page.get_by_role("dialog").get_by_text("Give an RFC 3339 instant")).to_have_count(2)


def answered(page: Page, **answer: Any) -> None:
    """Let every call be answered so, from now on."""
    page.route("**/v1/**", lambda route: route.fulfill(**answer))


WRONG_ANSWERS: Final[list[tuple[dict[str, Any], str]]] = [
    ({"status": 200, "body": "<html>sign in</html>"}, UNKNOWN),
    ({"status": 200, "body": "[]"}, UNKNOWN),
    ({"status": 200, "body": "null"}, UNKNOWN),
    ({"status": 500, "body": "null"}, "The stack answered 500."),
    ({"status": 502, "body": '{"detail": {"a": 1}, "errors": 7}'}, "The stack answered 502."),
    ({"status": 429, "body": ""}, "The stack gets too many requests at the moment."),
]


def test_a_screen_keeps_what_it_shows_when_the_stack_answers_something_else(
    open_console: Open, town: Town
) -> None:
    town.furnish()
    console = open_console()
    for screen in ("ns/policies", "ns/failures", "ns/windows", "ns/jobs/failing"):
        page = console.show(screen)
        shown = page.get_by_role("table").first
        expect(shown).to_be_visible()
        for answer, said in WRONG_ANSWERS:
            answered(page, **answer)
            page.get_by_title("Load it again").click()
            expect(page.get_by_role("alert").filter(has_text=said).first).to_be_visible()
            expect(shown).to_be_visible()
            page.unroute("**/v1/**")


def test_a_screen_that_cannot_show_an_answer_says_so_and_the_bar_leads_elsewhere(
    open_console: Open,
) -> None:
    console = open_console()
    page = console.show("ns/policies")
    page.route("**/v1/namespaces/ns/jobs?*", lambda route: route.fulfill(json={"items": [{"name": {}}]}))
    page.get_by_role("link", name="Jobs", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text(UNKNOWN)
    page.get_by_role("link", name="Policies", exact=True).click()
    expect(page.get_by_role("link", name="mailer")).to_be_visible()
    page.unroute("**/v1/namespaces/ns/jobs?*")
    page.get_by_role("link", name="Jobs", exact=True).click()
    expect(page.get_by_role("link", name="digest")).to_be_visible()


def test_a_call_that_hangs_ends_and_the_screen_goes_on(open_console: Open) -> None:
    console = open_console()
    console.take_clock()
    page = console.show("ns/policies")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/v1/**", hold)
    with page.expect_request("**/v1/**"):
        page.clock.fast_forward(16_000)
    page.clock.fast_forward(90_000)
    expect(page.get_by_role("alert")).to_contain_text("The stack did not answer.")
    expect(page.get_by_role("link", name="mailer")).to_be_visible()
    page.unroute("**/v1/**")
    page.clock.fast_forward(16_000)
    expect(page.get_by_role("alert")).to_have_count(0)
    assert held


def test_a_pause_that_was_refused_or_not_answered_says_so(open_console: Open) -> None:
    page = open_console().show("ns/jobs/nightly-backup")
    page.get_by_role("button", name="Pause").click()
    page.get_by_label("Until").fill("12026-01-01T00:00")
    page.get_by_role("dialog").get_by_role("button", name="Pause").click()
    expect(page.get_by_label("Until")).to_have_attribute("aria-invalid", "true")  # it is not paused for ever
    page.keyboard.press("Escape")
    page.route("**/pause", lambda route: route.abort())
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("dialog").get_by_role("button", name="Pause").click()
    alert = page.get_by_role("dialog").get_by_role("alert")
    expect(alert).to_contain_text("It may have done this nevertheless")
    expect(alert).not_to_contain_text("tries again by itself")


def test_another_state_of_runs_is_asked_for_once_from_its_newest_on(open_console: Open, town: Town) -> None:
    town.put("often", schedule="@every 1m")
    town.let_pass(70 * MINUTE_MS)
    page = open_console().show("ns/jobs/often")
    page.get_by_role("button", name="Older").click()
    expect(page.get_by_role("button", name="Newer")).to_be_enabled()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.get_by_label("State").select_option("succeeded")
    expect(page.get_by_role("button", name="Newer")).to_be_disabled()
    page.wait_for_load_state("networkidle")
    runs = [each.partition("?")[2] for each in asked if "/runs?" in each]
    assert runs == ["state=succeeded&limit=60"]


def test_a_late_refusal_of_the_former_key_does_not_sign_out_the_new_one(
    open_console: Open,
) -> None:
    page = open_console().show("ns/policies")
    held = hold_the_first(page, "**/v1/namespaces/ns/jobs?*")
    with page.expect_request("**/v1/namespaces/ns/jobs?*"):
        page.get_by_role("link", name="Jobs", exact=True).click()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("API key").fill("sh_reader")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("link", name="digest")).to_be_visible()
    with page.expect_response(lambda response: response.status == 401):
        held[0].fulfill(status=401, json={})
    expect(page.get_by_label("API key")).to_have_count(0)
    expect(page.get_by_role("link", name="digest")).to_be_visible()


def test_a_key_with_other_characters_is_refused_in_words(open_console: Open) -> None:
    page = open_console(key=None).page
    page.get_by_label("API key").fill("sh_reader\u20132")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("This is no key.")


def test_an_empty_address_asks_for_nothing_twice(open_console: Open) -> None:
    console = open_console(key="sh_reader")
    asked: list[str] = []
    console.page.on("request", lambda request: asked.append(request.url) if "/v1/" in request.url else None)
    page = console.show("")
    page.wait_for_url("**#/ns/overview")
    page.wait_for_load_state("networkidle")
    assert "/v1/health" in " ".join(asked)
    assert sorted(set(asked)) == sorted(asked)


@pytest.mark.parametrize("hours", [1, -1])
def test_a_clock_of_the_browser_that_is_off_by_an_hour_changes_no_span_and_no_age(
    open_console: Open, town: Town, hours: int
) -> None:
    town.put("often", schedule="@every 1m")
    town.let_pass(2 * MINUTE_MS)
    console = open_console()
    console.page.clock.set_fixed_time((town.world.clock.time + hours * HOUR_MS) / SECOND_MS)
    page = console.show("ns/failures?span=15m")
    expect(page.get_by_role("table").first).to_contain_text(re.compile(r"\b[2-8] min ago"))
    page.get_by_role("button", name="Redrive all in this span").click()
    expect(page.get_by_role("dialog")).to_contain_text("Redrive 1 run?")
    page = console.show("ns/jobs/often")
    expect(page.get_by_text("Next run").locator("..")).to_contain_text(re.compile(r"in \d+ s|now"))


def test_a_clock_that_is_off_by_a_minute_counts_as_right(open_console: Open, town: Town) -> None:
    console = open_console()
    town.let_pass(MINUTE_MS)
    page = console.show("ns/jobs/failing")
    last = page.get_by_text("Last run").locator("..")
    expect(last).to_contain_text("5 s ago")


def test_a_group_is_shown_alone_only_by_a_filter_that_nothing_else_fits(
    open_console: Open, town: Town
) -> None:
    town.put("failing-too", schedule="@every 20m")
    answering = town.world.consumers.answering
    town.world.consumers.answering = lambda attempt: (
        Answer(succeeded=False, is_final=True, code=500, text="no")
        if attempt.trigger.key.name == "failing-too"
        else answering(attempt)
    )
    town.let_pass(HOUR_MS)
    page = open_console().show("ns/failures")
    expect(page.get_by_role("link", name="Show only those of failing-too")).to_be_visible()
    expect(page.get_by_role("link", name="Show only those of failing", exact=True)).to_have_count(0)


def test_a_text_that_looks_like_a_mark_of_the_editor_stays_a_text(open_console: Open) -> None:
    page = open_console().show("ns/new")
    page.get_by_label("The whole definition").fill(r'{"data": "\u0065xact:12", "dueTime": "1h"}')
    page.get_by_label("Description").fill("x")
    expect(page.get_by_label("The whole definition")).to_have_value(re.compile('"data": "exact:12"'))
