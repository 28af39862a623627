"""The bar above all screens: the jump, the choice of a namespace, and how fresh a screen is."""

import re
from collections.abc import Callable
from typing import Final

import pytest
from playwright.sync_api import Page, ViewportSize, expect
from tests.integration.console.conftest import (
    NARROW,
    WIDE,
    Console,
    Town,
    hold_the_first,
    serious_barriers,
)

from sweephand.base.instants import SECOND_MS
from sweephand.model.attempt import Answer

Open = Callable[..., Console]

ELSEWHERE: Final = {"target": {"type": "http", "url": "https://a.example"}}


def jump(page: Page, text: str) -> None:
    """Open the jump by its key, and type a text."""
    page.keyboard.press("/")
    expect(page.get_by_role("dialog").get_by_role("combobox")).to_be_focused()
    page.keyboard.type(text)


def test_a_slash_and_the_beginning_of_a_name_lead_to_a_job(open_console: Open) -> None:
    page = open_console().show("ns/overview")
    jump(page, "nightly")
    expect(page.get_by_role("option", name="nightly-backup")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="nightly-backup")).to_be_visible()


def test_a_part_of_a_name_leads_to_a_job_and_the_arrows_choose_among_several(open_console: Open) -> None:
    page = open_console().show("ns/overview")
    jump(page, "i")
    options = page.get_by_role("option")
    expect(options.filter(has_text="digest")).to_be_visible()
    titles = options.all_inner_texts()
    assert {"digest", "failing", "nightly-backup"} <= set(titles)
    for _ in range(titles.index("nightly-backup")):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**#/ns/jobs/nightly-backup")


def test_enter_before_the_answer_waits_for_it(open_console: Open) -> None:
    page = open_console().show("ns/overview")
    jump(page, "nightly-b")
    page.keyboard.press("Enter")
    page.wait_for_url("**#/ns/jobs/nightly-backup")


def test_escape_closes_the_jump_and_the_focus_is_where_it_was(open_console: Open) -> None:
    page = open_console().show("ns/jobs")
    page.get_by_role("link", name="New job").focus()
    jump(page, "dig")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("link", name="New job")).to_be_focused()
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog").get_by_role("combobox")).to_have_value("")


def test_a_slash_that_somebody_types_into_a_field_stays_there(open_console: Open) -> None:
    page = open_console().show("ns/jobs")
    field = page.get_by_label("Name begins with")
    field.press("/")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(field).to_have_value("/")


def test_the_id_of_a_failed_run_leads_to_it_and_so_does_its_trigger_id(
    open_console: Open, town: Town
) -> None:
    run = town.api.send("GET", "/v1/namespaces/ns/runs?limit=1").json["items"][0]
    page = open_console().show("ns/overview")
    for text in (run["id"], run["triggerId"]):
        jump(page, text)
        expect(page.get_by_role("option", name=f"failing {run['id']}")).to_contain_text("failed")
        page.keyboard.press("Enter")
        page.wait_for_url(f"**#/ns/jobs/failing/runs/{run['id']}")
        page.go_back()
        expect(page.get_by_role("heading", name="Overview", exact=True)).to_be_visible()


def test_a_failed_run_is_found_behind_two_hundred_others_of_its_due_time(
    open_console: Open, town: Town
) -> None:
    town.put("mail-out", batch={"count": 210})
    town.world.consumers.answering = lambda _: Answer(succeeded=False, is_final=True, code=422)
    first = town.api.send("POST", "/v1/namespaces/ns/jobs/mail-out/trigger").json["id"]
    town.let_pass(10 * SECOND_MS)
    last = first.replace("-0-", "-209-")
    page = open_console().show("ns/overview")
    jump(page, last)
    expect(page.get_by_role("option", name=f"mail-out {last}")).to_contain_text("failed")


def test_a_run_that_succeeded_is_found_by_its_job(open_console: Open) -> None:
    page = open_console().show("ns/overview")
    jump(page, "1795266000000-0x")
    expect(page.get_by_text("Nothing fits. A run that succeeded is found by its job")).to_be_visible()
    page.get_by_role("dialog").get_by_role("combobox").fill("nightly-backup 1795266000000-0")
    page.keyboard.press("Enter")
    page.wait_for_url("**#/ns/jobs/nightly-backup/runs/1795266000000-0")


@pytest.mark.parametrize(("key", "offers"), [("sh_admin", True), ("sh_reader", False)])
def test_the_jump_leads_to_the_screens_that_the_key_may_see(
    open_console: Open,
    key: str,
    offers: bool,  # noqa: FBT001 - a case
) -> None:
    page = open_console(key=key).show("ns/jobs")
    page.get_by_role("button", name="Jump to").click()
    for title in ("Keys", "Settings", "New job", "All namespaces"):
        assert page.get_by_role("option", name=title).count() == int(offers)
    page.get_by_role("option", name="Failures").click()
    page.wait_for_url("**#/ns/failures")


def test_a_key_of_all_namespaces_chooses_one_by_the_keyboard_and_stays_on_the_screen(
    open_console: Open, town: Town
) -> None:
    town.api.send("PUT", "/v1/namespaces/other/jobs/job", ELSEWHERE)
    page = open_console().show("ns/policies")
    page.get_by_role("button", name="Namespace: ns").click()
    expect(page.get_by_role("option").first).to_have_text("All namespaces")
    page.keyboard.type("oth")
    expect(page.get_by_role("option", name="other")).to_be_visible()
    page.keyboard.press("Enter")
    page.wait_for_url("**#/other/policies")
    expect(page.get_by_role("button", name="Namespace: other")).to_be_visible()


def test_a_namespace_without_a_job_can_be_opened(open_console: Open) -> None:
    page = open_console().show("ns/jobs")
    page.get_by_role("button", name="Namespace: ns").click()
    page.keyboard.type("brand-new")
    expect(page.get_by_role("option", name="brand-new has no jobs yet")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_text("No jobs in brand-new yet.")).to_be_visible()


def test_all_namespaces_are_the_first_screen_of_a_key_that_sees_them(open_console: Open, town: Town) -> None:
    town.api.send("PUT", "/v1/namespaces/other/jobs/job", ELSEWHERE)
    page = open_console().show("")
    expect(page.get_by_role("button", name="Namespace: all namespaces")).to_be_visible()
    page.get_by_role("main").get_by_role("link", name="other").click()
    page.wait_for_url("**#/other/overview")


def test_a_key_of_one_namespace_opens_its_overview_and_cannot_choose(open_console: Open) -> None:
    page = open_console(key="sh_reader").show("")
    page.wait_for_url("**#/ns/overview")
    expect(page.get_by_role("button", name="Namespace")).to_have_count(0)
    expect(page.get_by_role("banner")).to_contain_text("ns")


def test_the_bar_says_how_old_the_screen_is_and_loads_it_again(open_console: Open, town: Town) -> None:
    console = open_console()
    console.take_clock()
    page = console.show("ns/jobs")
    fresh = page.get_by_title("Load it again")
    expect(fresh).to_have_text("Updated now")
    page.route("**/v1/**", lambda route: route.fulfill(status=503, json={}))
    page.clock.fast_forward(12 * SECOND_MS)
    expect(fresh).to_have_text("Updated 10 s ago")
    page.clock.fast_forward(4 * SECOND_MS)
    expect(fresh).to_have_text("Not updated for 15 s")
    page.unroute("**/v1/**")
    town.put("brand-new")
    fresh.click()
    expect(fresh).to_have_text("Updated now")
    expect(page.get_by_role("link", name="brand-new")).to_be_visible()


def test_a_screen_that_shows_nothing_of_the_stack_has_no_age(open_console: Open) -> None:
    page = open_console().show("ns/new-window")
    expect(page.get_by_title("Load it again")).to_have_count(0)


def test_a_due_time_that_passes_is_due_and_late_only_once_the_stack_says_so(
    open_console: Open, town: Town
) -> None:
    town.put("soon", dueTime="20s")
    console = open_console()
    console.take_clock()
    page = console.show("ns/jobs?prefix=soon")
    row = page.get_by_role("row").filter(has_text="soon")
    expect(row).to_contain_text(re.compile(r"in \d+ s"))
    with page.expect_request("**/jobs?**"):
        page.clock.fast_forward(16 * SECOND_MS)
    page.route("**/jobs?**", lambda route: route.abort())
    page.clock.fast_forward(10 * SECOND_MS)
    expect(row).to_contain_text("due now")
    page.unroute("**/jobs?**")
    page.clock.fast_forward(15 * SECOND_MS)
    expect(row).to_contain_text(re.compile(r"late by \d+ s"))


def test_two_questions_at_once_are_one_request_and_after_a_change_it_is_asked_anew(
    open_console: Open, town: Town
) -> None:
    page = open_console().show("ns/policies")
    held = hold_the_first(page, "**/policies?*")
    for _ in range(2):
        page.get_by_title("Load it again").click()
    page.get_by_role("button", name="New policy").click()
    page.get_by_label("Name", exact=True).fill("partner")
    page.get_by_label("Requests open at once").fill("3")
    page.get_by_role("dialog").get_by_role("button", name="Create").click()
    expect(page.get_by_role("row").filter(has_text="partner")).to_be_visible()
    assert town.api.send("GET", "/v1/namespaces/ns/policies/partner").status == 200
    assert len(held) == 2  # one is shared by both clicks, and one is from after the change
    held[0].abort()


@pytest.mark.parametrize("size", [WIDE, NARROW])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_jump_and_the_choice_of_a_namespace_have_no_serious_barrier(
    open_console: Open, town: Town, size: ViewportSize, scheme: str
) -> None:
    town.api.send("PUT", "/v1/namespaces/other/jobs/job", ELSEWHERE)
    console = open_console(size=size, scheme=scheme)
    page = console.show("ns/jobs")
    jump(page, "i")
    expect(page.get_by_role("option", name="digest")).to_be_visible()
    console.shoot(f"jump-{scheme}")
    assert serious_barriers(page) == []
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Namespace: ns").click()
    expect(page.get_by_role("option", name="other")).to_be_visible()
    console.shoot(f"namespaces-{scheme}")
    assert serious_barriers(page) == []
