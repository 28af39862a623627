"""The list of jobs: its filter, its pages, and what is done with many jobs at once."""

from collections.abc import Callable

from playwright.sync_api import Page, expect
from tests.integration.console.conftest import SCRIPT, Console, Town

from sweephand.base.instants import MINUTE_MS

Open = Callable[..., Console]


def names(page: Page) -> list[str]:
    page.wait_for_selector(".loading", state="detached")
    return page.locator("td.name a").all_inner_texts()


def test_a_filter_is_in_the_address_and_the_address_sets_the_filter(open_console: Open) -> None:
    console = open_console()
    page = console.show("ns/jobs")
    assert names(page) == ["digest", "failing", "nightly-backup"]
    page.get_by_label("Labels").fill("team:ops")
    page.get_by_label("Labels").press("Enter")
    expect(page.locator("td.name")).to_have_count(2)
    assert page.url.endswith("#/ns/jobs?label=team%3Aops")
    page.get_by_label("Name begins with").fill("night")
    page.get_by_label("Name begins with").press("Enter")
    expect(page.locator("td.name")).to_have_count(1)
    assert names(console.show("ns/jobs?state=paused")) == ["digest"]
    expect(page.get_by_label("State")).to_have_value("paused")


def test_a_part_of_the_name_filters_too_and_offers_nothing_for_all_jobs(
    open_console: Open, town: Town
) -> None:
    for number in range(120):
        town.put(f"eu-report-{number:03}", dueTime="2190-01-01T00:00:00Z")
    console = open_console()
    page = console.show("ns/jobs")
    page.get_by_label("and contains").fill("ailin")
    page.get_by_label("and contains").press("Enter")
    expect(page.locator("td.name")).to_have_count(1)
    assert (names(page), page.url.partition("#")[2]) == (["failing"], "/ns/jobs?contains=ailin")
    page = console.show("ns/jobs?prefix=eu-&contains=report")
    expect(page.locator("td.name")).to_have_count(100)
    # The calls for many jobs select by the beginning of the name alone, so they would take others too.
    expect(page.get_by_role("group", name="All jobs of this filter")).to_have_count(0)
    page = console.show("ns/jobs?prefix=eu-")
    expect(page.get_by_role("group", name="All jobs of this filter")).to_have_count(1)


def test_a_paused_job_shows_its_reason_as_text_and_no_next_run(open_console: Open) -> None:
    row = open_console().show("ns/jobs").get_by_role("row").filter(has_text="digest")
    expect(row).to_contain_text(SCRIPT)
    expect(row).to_contain_text("none while paused")


def test_chosen_jobs_are_paused_after_their_number_was_confirmed(open_console: Open, town: Town) -> None:
    page = open_console().show("ns/jobs")
    page.get_by_label("Choose failing").check()
    page.get_by_label("Choose nightly-backup").check()
    page.get_by_role("button", name="pause").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Pause 2 jobs?")
    dialog.get_by_label("Reason").fill("maintenance")
    dialog.get_by_label("Until").fill("2026-12-24T18:00")
    dialog.get_by_role("button", name="Pause 2").click()
    expect(dialog).to_have_count(0)
    expect(page.locator(".state.is-paused")).to_have_count(3)
    assert [town.world.stored(name).pause_reason for name in ("failing", "nightly-backup")] == [
        "maintenance"
    ] * 2
    expect(page.get_by_role("row").filter(has_text="nightly-backup")).to_contain_text("paused until")


def test_all_jobs_of_a_filter_are_counted_confirmed_and_deleted_by_the_calls_for_many(
    open_console: Open, town: Town
) -> None:
    for number in range(150):
        town.put(f"old-{number:03}", dueTime="2190-01-01T00:00:00Z")
    page = open_console().show("ns/jobs?prefix=old-")
    page.get_by_role("group", name="All jobs of this filter").get_by_role("button", name="delete").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Delete 150 jobs?")
    expect(dialog.get_by_role("button", name="Delete 150")).to_be_disabled()
    dialog.get_by_label("Type 150 to confirm").fill("150")
    dialog.get_by_role("button", name="Delete 150").click()
    expect(page.get_by_text("No job fits this filter.")).to_be_visible()
    assert town.world.has_job("failing")
    assert "DELETE /v1/namespaces/ns/jobs" in town.server.calls()
    assert "DELETE /v1/namespaces/ns/jobs/old-000" not in town.server.calls()


def test_the_failed_runs_of_chosen_jobs_are_redriven(open_console: Open, town: Town) -> None:
    page = open_console().show("ns/jobs")
    page.get_by_label("Choose failing").check()
    page.get_by_role("button", name="redrive").click()
    page.get_by_role("dialog").get_by_role("button", name="Redrive 1").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    redriven = [call for call in town.server.calls() if call.endswith("/redrive")]
    assert len(redriven) == 3


def test_a_page_has_a_hundred_jobs_and_a_link_to_the_next(open_console: Open, town: Town) -> None:
    for number in range(120):
        town.put(f"job-{number:03}", dueTime="2190-01-01T00:00:00Z")
    page = open_console().show("ns/jobs?prefix=job-")
    assert len(names(page)) == 100
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("101 to 120")).to_be_visible()
    page.get_by_role("button", name="Previous").click()
    expect(page.get_by_text("1 to 100")).to_be_visible()


def test_the_list_is_loaded_again_every_15_s_and_not_while_the_tab_is_hidden(
    open_console: Open, town: Town
) -> None:
    console = open_console()
    console.take_clock()
    page = console.show("ns/jobs")
    expect(page.locator("td.name")).to_have_count(3)
    town.put("new", dueTime="2190-01-01T00:00:00Z")
    page.clock.fast_forward(15_000)
    expect(page.locator("td.name")).to_have_count(4)
    page.evaluate("Object.defineProperty(document, 'hidden', { value: true, configurable: true })")
    before = len(town.server.requests)
    page.clock.fast_forward(MINUTE_MS)
    page.evaluate("Promise.resolve()")
    assert len(town.server.requests) == before


def test_an_answer_that_fails_leaves_the_rows_and_says_what_happened(open_console: Open) -> None:
    console = open_console()
    console.take_clock()
    page = console.show("ns/jobs")
    expect(page.locator("td.name")).to_have_count(3)
    page.route("**/v1/**", lambda route: route.abort())
    page.clock.fast_forward(15_000)
    expect(page.get_by_role("alert")).to_contain_text("The stack did not answer.")
    expect(page.locator("td.name")).to_have_count(3)
    page.unroute("**/v1/**")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_namespace_without_jobs_says_so(open_console: Open) -> None:
    page = open_console().show("empty/jobs")
    expect(page.get_by_text("No jobs in empty yet.")).to_be_visible()
