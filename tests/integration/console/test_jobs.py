"""The list of jobs: its filter, its pages, and what is done with many jobs at once."""

from collections.abc import Callable

from playwright.sync_api import Page, Route, expect
from tests.integration.console.conftest import SCRIPT, Console, Town

from sweephand.base.instants import MINUTE_MS, SECOND_MS
from sweephand.model.attempt import Answer

Open = Callable[..., Console]


def names(page: Page) -> list[str]:
    page.wait_for_selector(".loading", state="detached")
    return page.locator("td.name a").all_inner_texts()


def test_a_filter_is_in_the_address_and_the_address_sets_the_filter(open_console: Open) -> None:
    console = open_console()
    page = console.show("ns/jobs")
    expect(page.get_by_role("row", name="1 failing now")).to_be_visible()
    assert names(page) == ["failing", "digest", "nightly-backup"]
    page.get_by_label("Labels").fill("team:ops")
    page.get_by_label("Labels").press("Enter")
    expect(page.locator("td.name")).to_have_count(2)
    assert page.url.endswith("#/ns/jobs?label=team%3Aops")
    page.get_by_label("Name begins with").fill("night")
    page.get_by_label("Name begins with").press("Enter")
    expect(page.locator("td.name")).to_have_count(1)
    assert names(console.show("ns/jobs?state=paused&contains=ig")) == ["digest"]
    expect(page.get_by_label("and contains")).to_have_value("ig")
    tabs = page.get_by_role("navigation", name="Which jobs")
    expect(tabs.get_by_role("link", name="Paused")).to_have_attribute("aria-current", "page")
    tabs.get_by_role("link", name="Active").click()
    page.wait_for_url("**#/ns/jobs?contains=ig&state=active")
    expect(page.locator("td.name a")).to_have_text(["nightly-backup"])


def test_a_field_of_the_filter_keeps_the_focus_when_the_filter_changes(open_console: Open) -> None:
    page = open_console().show("ns/jobs")
    page.get_by_label("Name begins with").fill("night")
    page.keyboard.press("Tab")
    page.wait_for_url("**?prefix=night")
    expect(page.locator("td.name")).to_have_count(1)
    expect(page.get_by_label("and contains")).to_be_focused()
    page.go_back()
    expect(page.get_by_label("Name begins with")).to_have_value("")
    expect(page.locator("td.name")).to_have_count(3)


def test_a_part_of_the_name_filters_too_and_offers_nothing_for_all_jobs(
    open_console: Open, town: Town
) -> None:
    for number in range(60):
        town.put(f"eu-report-{number:03}", dueTime="2190-01-01T00:00:00Z")
    console = open_console()
    page = console.show("ns/jobs")
    page.get_by_label("and contains").fill("ailin")
    page.get_by_label("and contains").press("Enter")
    expect(page.locator("td.name")).to_have_count(1)
    assert (names(page), page.url.partition("#")[2]) == (["failing"], "/ns/jobs?contains=ailin")
    page = console.show("ns/jobs?prefix=eu-&contains=report")
    expect(page.get_by_text("1 to 50 of 60 jobs")).to_be_visible()
    # The calls for many jobs select by the beginning of the name alone, so they would take others too.
    expect(page.get_by_role("button", name="Pause all")).to_have_count(0)
    page = console.show("ns/jobs?prefix=eu-")
    expect(page.get_by_role("button", name="Pause all")).to_be_visible()


def test_only_a_paused_job_shows_its_state_with_its_reason_as_text_and_no_next_run(
    open_console: Open,
) -> None:
    page = open_console().show("ns/jobs")
    expect(page.locator(".state")).to_have_text(["paused"])
    row = page.get_by_role("row").filter(has_text="digest")
    expect(row).to_contain_text(SCRIPT)
    expect(row).to_contain_text("none while paused")


def test_chosen_jobs_are_paused_after_their_number_was_confirmed(open_console: Open, town: Town) -> None:
    page = open_console().show("ns/jobs")
    page.get_by_label("Choose failing").check()
    page.get_by_label("Choose nightly-backup").check()
    page.get_by_role("button", name="Pause").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Pause 2 jobs?")
    dialog.get_by_label("Reason").fill("maintenance")
    dialog.get_by_label("Until").fill("2026-12-24T18:00")
    dialog.get_by_role("button", name="Pause 2").click()
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("status")).to_have_text("2 jobs paused.")
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
    expect(page.get_by_text("150 jobs · none failing")).to_be_visible()
    page.get_by_role("button", name="Delete all").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Delete 150 jobs?")
    expect(dialog.get_by_role("button", name="Delete 150")).to_be_disabled()
    dialog.get_by_label("Type 150 to confirm").fill("150")
    dialog.get_by_role("button", name="Delete 150").click()
    expect(page.get_by_text("No job fits this filter.")).to_be_visible()
    assert town.world.has_job("failing")
    assert "DELETE /v1/namespaces/ns/jobs" in town.server.calls()
    assert "DELETE /v1/namespaces/ns/jobs/old-000" not in town.server.calls()


def test_a_filter_whose_jobs_are_all_shown_offers_them_by_their_names(open_console: Open, town: Town) -> None:
    console = open_console()
    page = console.show("ns/jobs")
    expect(page.get_by_text("3 jobs · 1 failing now")).to_be_visible()
    expect(page.get_by_role("button", name="Delete all")).to_have_count(0)
    page = console.show("ns/jobs?state=active&contains=i")
    page.get_by_role("button", name="Delete all").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Delete 2 jobs?")
    expect(dialog.locator("li")).to_have_text(["failing", "nightly-backup"])
    # What comes meanwhile is not deleted: nobody has seen its name.
    town.put("archive-it", schedule="@daily")
    dialog.get_by_role("button", name="Delete 2").click()
    expect(page.get_by_role("status")).to_have_text("2 jobs deleted.")
    expect(page.locator("td.name a")).to_have_text(["archive-it"])
    assert "DELETE /v1/namespaces/ns/jobs" not in town.server.calls()
    assert town.world.has_job("digest")


def test_the_number_of_jobs_is_typed_only_where_more_than_ten_are_deleted(
    open_console: Open, town: Town
) -> None:
    for number in range(11):
        town.put(f"old-{number:02}", dueTime="2190-01-01T00:00:00Z")
    page = open_console().show("ns/jobs?prefix=old-")
    page.get_by_role("button", name="Delete all").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("li")).to_have_text([f"old-{number:02}" for number in range(10)] + ["and 1 more"])
    expect(dialog.get_by_role("button", name="Delete 11")).to_be_disabled()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Pause all").click()
    expect(dialog.get_by_role("button", name="Pause 11")).to_be_enabled()
    page.keyboard.press("Escape")
    page.get_by_label("Choose all jobs of this page").check()
    page.get_by_label("Choose old-10").uncheck()
    page.get_by_role("group", name="Chosen jobs").get_by_role("button", name="Delete").click()
    expect(dialog.locator("li")).to_have_count(10)
    expect(dialog.get_by_label("to confirm")).to_have_count(0)
    dialog.get_by_role("button", name="Delete 10").click()
    expect(page.locator("td.name a")).to_have_text(["old-10"])


def test_the_failed_runs_of_chosen_jobs_are_redriven(open_console: Open, town: Town) -> None:
    page = open_console().show("ns/jobs")
    page.get_by_label("Choose failing").check()
    page.get_by_role("button", name="Redrive").click()
    page.get_by_role("dialog").get_by_role("button", name="Redrive 1").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("status")).to_contain_text("3 runs redriven.")
    redriven = [call for call in town.server.calls() if call.endswith("/redrive")]
    assert len(redriven) == 3


def test_the_failed_runs_of_all_jobs_of_a_filter_are_counted_by_the_api_and_redriven(
    open_console: Open, town: Town
) -> None:
    for number in range(60):
        town.put(f"job-{number:03}", dueTime="2190-01-01T00:00:00Z", labels={"team": "ops"})
    page = open_console().show("ns/jobs?label=team%3Aops")
    page.get_by_role("button", name="Redrive all").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Redrive 3 runs?")
    assert not town.world.queue.waiting
    dialog.get_by_role("button", name="Redrive 3").click()
    expect(dialog).to_have_count(0)
    assert town.server.calls().count("POST /v1/namespaces/ns/redrive") == 2
    assert len(town.world.queue.waiting) == 3


def test_choices_survive_the_way_to_the_next_page(open_console: Open, town: Town) -> None:
    for number in range(60):
        town.put(f"job-{number:03}", dueTime="2190-01-01T00:00:00Z")
    page = open_console().show("ns/jobs?prefix=job-")
    page.get_by_label("Choose job-007").check()
    page.get_by_role("button", name="Next").click()
    page.get_by_label("Choose job-055").check()
    bar = page.get_by_role("group", name="Chosen jobs")
    expect(bar).to_contain_text("2 of 60 jobs chosen, 1 on other pages")
    bar.get_by_role("button", name="Pause").click()
    page.get_by_role("dialog").get_by_role("button", name="Pause 2").click()
    expect(page.locator(".state.is-paused")).to_have_count(1)
    paused = [name for name in ("job-007", "job-055") if town.world.stored(name).paused_at is not None]
    assert paused == ["job-007", "job-055"]
    page.get_by_role("button", name="Previous").click()
    expect(page.get_by_label("Choose job-007")).not_to_be_checked()


def test_a_page_has_fifty_jobs_and_the_address_leads_to_it(open_console: Open, town: Town) -> None:
    for number in range(120):
        town.put(f"job-{number:03}", dueTime="2190-01-01T00:00:00Z")
    page = open_console().show("ns/jobs?prefix=job-")
    assert len(names(page)) == 50
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("51 to 100 of 120 jobs")).to_be_visible()
    page.get_by_role("link", name="job-060").click()
    expect(page.get_by_role("heading", name="job-060")).to_be_visible()
    page.go_back()
    expect(page.get_by_text("51 to 100 of 120 jobs")).to_be_visible()
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("101 to 120 of 120 jobs")).to_be_visible()
    expect(page.get_by_role("button", name="Next")).to_be_disabled()
    page.get_by_role("button", name="Previous").click()
    page.get_by_role("button", name="Previous").click()
    expect(page.get_by_text("1 to 50 of 120 jobs")).to_be_visible()


def test_the_total_is_a_bound_where_five_calls_do_not_count_all(open_console: Open, town: Town) -> None:
    for number in range(60):
        town.put(f"job-{number:03}", dueTime="2190-01-01T00:00:00Z")
    console = open_console()
    counted: list[str] = []

    def count(route: Route) -> None:
        counted.append(route.request.url)
        route.fulfill(json={"items": [{"name": f"job-{number}"} for number in range(200)], "nextCursor": "x"})

    console.page.route("**/jobs?limit=200*", count)
    page = console.show("ns/jobs")
    expect(page.get_by_text("1 to 50 of at least 1\u202f000 jobs")).to_be_visible()
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("51 to 63 of at least 1\u202f000 jobs")).to_be_visible()
    page.get_by_role("button", name="Previous").click()
    expect(page.get_by_text("1 to 50 of at least 1\u202f000 jobs")).to_be_visible()
    assert len(counted) == 5


def test_a_page_of_failing_jobs_has_its_number_alone_since_pages_before_it_may_be_short(
    open_console: Open, town: Town
) -> None:
    """A call looks at 1,000 failures. All of those that it looks at first are of one job."""
    town.put("noisy", schedule="@every 1s")
    town.world.consumers.answering = lambda _: Answer(succeeded=False, is_final=True, code=422)
    town.let_pass(1_010 * SECOND_MS)
    page = open_console().show("ns/jobs?health=failing")
    assert names(page) == ["noisy"]
    page.get_by_role("button", name="Next").click()
    expect(page.locator("td.name a")).to_have_text(["failing"])
    expect(page.get_by_role("navigation", name="Pages").locator("span")).to_have_text("page 2")


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


def test_a_filter_keeps_a_label_with_a_blank_when_another_field_of_it_changes(
    open_console: Open, town: Town
) -> None:
    for name in ("load-eu", "load-us", "other"):
        town.put(name, labels={"team": "data platform"})
    page = open_console().show("ns/jobs")
    page.get_by_role("link", name="team:data platform").first.click()
    expect(page.locator("td.name a")).to_have_text(["load-eu", "load-us", "other"])
    search = page.get_by_label("Name begins with")
    search.fill("load")
    search.press("Enter")
    expect(page.locator("td.name a")).to_have_text(["load-eu", "load-us"])
