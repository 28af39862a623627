"""The overview of a namespace, and its flow policies."""

import re
from collections.abc import Callable
from threading import Event

import pytest
from playwright.sync_api import Browser, Route, expect
from tests.fakes.http_events import Client as Api
from tests.fakes.http_server import serving
from tests.integration.console.conftest import SCRIPT, Console, Town

from sweephand.base.instants import HOUR_MS, MINUTE_MS, SECOND_MS
from sweephand.jobs import forecast
from sweephand.model.attempt import Answer, Attempt
from sweephand.model.timer import Heartbeat

Open = Callable[..., Console]

MORE_OF_THE_FORECAST = re.compile(r"/forecast\?.*cursor=")


def test_the_overview_shows_the_heartbeat_the_next_day_and_what_is_paused(open_console: Open) -> None:
    page = open_console().show("ns/overview")
    expect(page.get_by_text("The stack ticks.")).to_be_visible()
    day = page.get_by_role("figure", name="How much falls due in the next 24 hours?")
    expect(day).to_contain_text("The fullest hour begins at 02:00, with 2.")
    day.get_by_text("Show as a table").click()
    expect(day.locator("tbody tr")).to_have_count(24)
    expect(day.locator("tbody tr").nth(13)).to_have_text(re.compile(r"Sun 22 Nov 02:00:00\s*2"))
    expect(page.get_by_text("25 triggers of 2 jobs, and 1 paused")).to_be_visible()
    expect(page.get_by_role("region", name="Paused jobs")).to_contain_text(SCRIPT)


def test_the_overview_looks_for_paused_jobs_by_one_call_and_says_that_there_may_be_more(
    open_console: Open,
) -> None:
    console = open_console()
    page = console.page
    asked: list[str] = []
    jobs: list[dict[str, str]] = []

    def answer(route: Route) -> None:
        asked.append(route.request.url)
        route.fulfill(json={"items": jobs, "nextCursor": f"after-{len(asked)}"})

    page.route("**/jobs?state=paused**", answer)
    paused = console.show("ns/overview").get_by_role("region", name="Paused jobs")
    expect(paused).to_contain_text(re.compile(r"None of the first 1\s000 jobs by name is paused\."))
    expect(paused).to_contain_text("Others may be.")
    assert len(asked) == 1
    jobs.append({"name": "digest", "pausedAt": "2026-11-23T08:00:00Z", "pauseReason": "holidays"})
    page.reload()
    expect(paused.get_by_role("row").filter(has_text="holidays")).to_have_count(1)
    expect(paused).to_contain_text(
        re.compile(r"These are among the first 1\s000 jobs by name\. Others may be paused too\.")
    )
    paused.get_by_role("link", name="All paused jobs").click()
    page.wait_for_url("**#/ns/jobs?state=paused")


def test_the_overview_shows_what_failed_by_answer_and_leads_to_those_runs(
    open_console: Open, town: Town
) -> None:
    def answering(attempt: Attempt) -> Answer:
        """A consumer whose answers name an order. What failed in the town before has another answer."""
        return Answer(succeeded=False, is_final=True, code=500, text=f"no order {attempt.trigger.sequence}")

    town.world.consumers.answering = answering
    for number in range(5):
        town.put(f"mail-{number}", schedule="@every 20m")
    town.let_pass(50 * MINUTE_MS)
    console = open_console()
    page = console.show("ns/overview")
    failed = page.get_by_role("region", name="What failed")
    expect(failed.get_by_text("0 will be tried again")).to_be_visible()
    expect(failed.get_by_role("link", name="0 will be tried again")).to_have_count(0)
    of_answers = [re.compile("^500 · no order … 10 runs of 5 jobs"), re.compile("^422 .* 3 runs of 1 job")]
    expect(failed.locator("tr.part")).to_have_text(of_answers)
    expect(failed.locator("tbody").first.get_by_role("row")).to_have_count(4)
    row = failed.get_by_role("row").filter(has_text="failing")
    expect(row.get_by_role("cell").nth(1)).to_have_text("3")
    failed.get_by_role("link", name="13 failed").click()
    page.wait_for_url("**#/ns/failures")
    failed = console.show("ns/overview").get_by_role("region", name="What failed")
    failed.get_by_role("link", name="500 · no order …").click()
    page.wait_for_url("**#/ns/failures?group=answer")
    failed = console.show("ns/overview").get_by_role("region", name="What failed")
    failed.get_by_role("link", name=re.compile("^422")).click()
    page.wait_for_url("**#/ns/failures?reason=*")
    expect(page.locator("td.answer")).to_have_count(3)


def test_the_overview_does_not_say_that_nothing_has_failed_if_it_has_not_looked_at_all_runs(
    open_console: Open, town: Town
) -> None:
    """The console asks for 200 runs that had a failed attempt. Here the newest 200 succeeded when retried."""

    def failing_at_first(attempt: Attempt) -> Answer:
        return Answer(succeeded=attempt.number > 1, code=503 if attempt.number == 1 else 204)

    town.world.consumers.answering = failing_at_first
    town.put("flaky", schedule="@every 1s", retry={"initialDelay": "1s"})
    town.let_pass(210 * SECOND_MS)
    town.api.send("DELETE", "/v1/namespaces/ns/jobs/flaky")
    town.let_pass(HOUR_MS // 12)
    console = open_console()
    page = console.show("ns/failures")
    expect(page.locator("td.answer")).to_have_count(3)
    page = console.show("ns/overview")
    tiles = page.get_by_role("list", name="What needs a look")
    expect(tiles.get_by_role("link", name="Failed")).to_contain_text("0+")
    expect(tiles).not_to_contain_text("No run in the last 24 hours.")
    failed = page.get_by_role("region", name="What failed")
    expect(failed).not_to_contain_text("No run has failed.")
    expect(failed).to_contain_text("Not all were looked at.")


def test_no_number_of_the_overview_says_that_there_is_nothing_where_it_has_not_looked(
    open_console: Open, town: Town
) -> None:
    town.put_policies(50)
    console = open_console()
    console.page.route(
        "**/jobs?state=paused**", lambda route: route.fulfill(json={"items": [], "nextCursor": "x"})
    )
    tiles = console.show("ns/overview").get_by_role("list", name="What needs a look")
    for title in ("Waiting", "Paused"):
        expect(tiles.get_by_role("link", name=title)).to_have_text(f"{title}0+Not all were looked at.")


def test_the_numbers_of_all_namespaces_do_not_say_that_nothing_has_failed_where_they_have_not_looked(
    open_console: Open,
) -> None:
    console = open_console()

    def answer(route: Route) -> None:
        found = route.fetch().json()
        for each in found["items"]:
            each |= {"failed": 0, "failingJobs": 0, "partial": True, "waitingIsExact": False}
        route.fulfill(json=found)

    console.page.route("**/v1/overview?**", answer)
    tiles = console.show("").get_by_role("list", name="What needs a look")
    for title in ("Failed", "Waiting"):
        expect(tiles.get_by_role("link", name=title)).to_have_text(f"{title}0+Not all were looked at.")


def test_the_number_of_paused_jobs_of_all_namespaces_is_a_bound_where_not_all_jobs_were_looked_at(
    open_console: Open,
) -> None:
    """A call looks at 1,000 jobs of a namespace."""
    console = open_console()

    def answer(route: Route) -> None:
        found = route.fetch().json()
        for each in found["items"]:
            if "jobs" in each:
                each["partial"] = True
        route.fulfill(json=found)

    console.page.route("**/v1/overview?**", answer)
    page = console.show("")
    tile = page.get_by_role("list", name="What needs a look").get_by_role("link", name="Paused")
    expect(tile).to_contain_text("Paused1+In ns.")
    expect(page.get_by_role("row", name="ns").get_by_role("cell").nth(7)).to_have_text("1+")
    with page.expect_response("**/v1/overview?**"):
        page.get_by_title("Load it again").click()
    page.wait_for_load_state("networkidle")
    expect(tile).to_contain_text("Paused1+In ns.")


def test_the_overview_shows_the_jobs_that_fire_next(open_console: Open, town: Town) -> None:
    for number in range(9):
        town.put(f"a-report-{number}", dueTime=f"2027-01-0{9 - number}T00:00:00Z", labels={"team": "ops"})
    console = open_console()
    page = console.show("ns/overview")
    jobs = page.get_by_role("region", name="Jobs, the next first")
    expect(jobs.locator("td.name a")).to_have_text(
        ["failing", "nightly-backup", *(f"a-report-{number}" for number in range(8, 2, -1))]
    )
    marks = jobs.get_by_role("group", name="Newest outcomes of failing, the newest last").get_by_role("link")
    expect(marks).to_have_count(3)
    asked = [path for _, path, _ in town.server.requests if "include=health" in path]
    assert asked == ["/v1/namespaces/ns/jobs?include=health&limit=50"]
    jobs.get_by_role("link", name="team:ops").first.click()
    page.wait_for_url("**#/ns/jobs?label=team%3Aops")
    jobs = console.show("ns/overview").get_by_role("region", name="Jobs, the next first")
    jobs.get_by_role("link", name="All jobs").click()
    page.wait_for_url("**#/ns/jobs")
    for number in range(50):
        town.put(f"b-{number:02}", dueTime="2190-01-01T00:00:00Z")
    jobs = console.show("ns/overview").get_by_role("region", name="Jobs, the next first")
    expect(jobs).to_contain_text("These are the next of the first 50 jobs by name.")
    expect(jobs.locator("td.name a").first).to_have_text("a-report-8")


def test_the_overview_of_an_empty_namespace_says_how_to_make_the_first_job(open_console: Open) -> None:
    page = open_console().show("empty/overview")
    expect(page.get_by_role("heading", name="No jobs in empty yet.")).to_be_visible()
    page.get_by_role("link", name="Write the first one").click()
    page.wait_for_url("**#/empty/new")


def test_a_forecast_of_many_jobs_shows_what_is_counted_so_far(
    open_console: Open, town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forecast, "_WORK_US_MAX", 1)
    page = open_console().page
    held: list[Route] = []
    is_released = Event()

    def answer(route: Route) -> None:
        if is_released.is_set():
            route.continue_()
        else:
            held.append(route)

    page.route(MORE_OF_THE_FORECAST, answer)
    with page.expect_request(MORE_OF_THE_FORECAST):
        page.goto(f"{town.server.url}/console#/ns/overview")
    expect(
        page.get_by_text("0 triggers of 0 jobs, and 1 paused. More jobs are being counted.")
    ).to_be_visible()
    is_released.set()
    held[-1].continue_()
    expect(page.get_by_text("25 triggers of 2 jobs, and 1 paused")).to_be_visible()


def test_a_slow_answer_is_waited_for_before_it_is_asked_for_again(open_console: Open, town: Town) -> None:
    console = open_console()
    page = console.page
    held: list[Route] = []
    page.route("**/forecast?**", lambda route: held.append(route))  # noqa: PLW0108 - playwright marks it
    console.take_clock()
    page.goto(f"{town.server.url}/console#/ns/overview")
    expect(page.get_by_role("region", name="Paused jobs")).to_contain_text("digest")
    with page.expect_request("**/health"):
        page.clock.fast_forward(61_000)
    assert len(held) == 1
    held[0].continue_()
    expect(page.get_by_text("25 triggers of 2 jobs, and 1 paused")).to_be_visible()
    with page.expect_request("**/forecast?**"):
        page.clock.fast_forward(61_000)


def test_the_forecast_is_asked_for_once_a_minute_and_the_rest_every_15_s(
    open_console: Open, town: Town
) -> None:
    console = open_console()
    asked: list[str] = []
    console.page.on("request", lambda request: asked.append(request.url))
    console.take_clock()
    page = console.show("ns/overview")
    # The page makes no call while an earlier one is under way. So each answer has to be shown.
    for age_s in (15, 30):
        town.world.clock.time += 15_000
        page.clock.fast_forward(15_000)
        expect(page.get_by_text(f"Its last tick was {age_s} seconds ago.")).to_be_visible()
    assert len([url for url in asked if "/forecast?" in url]) == 1
    with page.expect_request("**/forecast?**"):
        page.clock.fast_forward(30_000)


def test_an_hour_without_deliveries_says_so(open_console: Open, town: Town) -> None:
    town.world.clock.time += 2 * HOUR_MS
    hour = open_console().show("ns/overview").get_by_role("region", name="The last hour")
    expect(hour).to_contain_text("Nothing was delivered in the last hour.")


def test_a_stack_that_does_not_count_says_how_to_turn_it_on(browser: Browser, town: Town) -> None:
    town.world.counts_deliveries = False
    with serving(Api(town.world)) as server:
        page = browser.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.clock.set_fixed_time(town.world.clock.time / 1_000)
        page.add_init_script("sessionStorage.setItem('sweephand-key', 'sh_admin')")
        page.goto(f"{server.url}/console#/ns/overview")
        hour = page.get_by_role("region", name="The last hour")
        expect(hour).to_contain_text("Set its parameter Stats to on")
        expect(hour).to_contain_text("the newest 3 began at most 0 ms late")
        page.close()
    assert not [url for url in asked if "/stats" in url]


def test_a_stack_that_does_not_tick_is_told_above_all_else(open_console: Open, town: Town) -> None:
    town.world.clock.time += 5 * MINUTE_MS
    page = open_console().show("ns/overview")
    expect(page.get_by_role("alert")).to_contain_text(
        "The stack does not tick. The stack last ticked 300 s ago."
    )


def test_a_stack_that_is_switched_off_says_since_when(open_console: Open, town: Town) -> None:
    town.world.leases.beat(Heartbeat(town.world.clock.now(), off_since=town.world.clock.now()))
    page = open_console().show("ns/overview")
    expect(page.get_by_text("The stack is switched off.")).to_be_visible()


def test_a_policy_is_made_changed_and_deleted(open_console: Open, town: Town) -> None:
    page = open_console().show("ns/policies")
    expect(page.get_by_role("row").filter(has_text="mailer")).to_contain_text("0 of 5")
    page.get_by_role("button", name="New policy").click()
    page.get_by_label("Name", exact=True).fill("partner")
    page.get_by_role("dialog").get_by_role("button", name="Create").click()
    expect(page.get_by_role("dialog").get_by_role("alert")).to_be_visible()
    page.get_by_label("Requests that may leave").fill("100")
    page.get_by_label("within").fill("1m")
    page.get_by_role("dialog").get_by_role("button", name="Create").click()
    row = page.get_by_role("row").filter(has_text="partner")
    expect(row).to_contain_text("100 in 1m")
    page.get_by_role("button", name="Edit partner").click()
    page.get_by_label("Requests open at once").fill("3")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(row).to_contain_text("3 at once, 100 in 1m")
    page.get_by_role("button", name="Delete partner").click()
    page.get_by_label("Type partner to confirm").fill("partner")
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(row).to_have_count(0)
    assert town.api.send("GET", "/v1/namespaces/ns/policies/partner").status == 404


def test_a_policy_is_paused_with_a_reason_and_resumed(open_console: Open, town: Town) -> None:
    page = open_console().show("ns/policies")
    page.get_by_role("button", name="Pause mailer").click()
    page.get_by_label("Reason (optional)").fill("the server moves")
    page.get_by_role("dialog").get_by_role("button", name="Pause").click()
    row = page.get_by_role("row").filter(has_text="mailer")
    expect(row).to_contain_text("the server moves")
    assert town.api.send("GET", "/v1/namespaces/ns/policies/mailer").json["state"] == "paused"
    page.get_by_role("button", name="Resume mailer").click()
    page.get_by_role("dialog").get_by_role("button", name="Resume").click()
    expect(row).not_to_contain_text("the server moves")
    assert town.api.send("GET", "/v1/namespaces/ns/policies/mailer").json["state"] == "active"


def test_a_policy_that_somebody_else_changed_meanwhile_is_not_overwritten(
    open_console: Open, town: Town
) -> None:
    page = open_console().show("ns/policies")
    page.get_by_role("button", name="Edit mailer").click()
    town.api.send("PUT", "/v1/namespaces/ns/policies/mailer", {"maxConcurrent": 9})
    page.get_by_label("Requests open at once").fill("3")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog").get_by_role("alert")).to_be_visible()
    assert town.api.send("GET", "/v1/namespaces/ns/policies/mailer").json["maxConcurrent"] == 9


def test_a_reader_sees_policies_and_no_way_to_change_them(open_console: Open) -> None:
    page = open_console(key="sh_reader").show("ns/policies")
    expect(page.get_by_role("row").filter(has_text="mailer")).to_be_visible()
    assert page.locator("main button").count() == 0


def test_policies_are_shown_by_fifty_and_more_on_demand(open_console: Open, town: Town) -> None:
    town.put_policies(60)
    console = open_console()
    page = console.page
    held: list[Route] = []
    is_released = Event()

    def answer(route: Route) -> None:
        """Let the API leave each page short, as it may."""
        if "limit=100" in route.request.url and not is_released.is_set():
            held.append(route)
        else:
            route.continue_(url=re.sub(r"limit=\d\d+", "limit=10", route.request.url))

    page.route("**/policies?*", answer)
    console.show("ns/policies")
    rows = page.get_by_role("table").locator("tbody tr")
    expect(rows).to_have_count(50)
    expect(page.get_by_role("status")).to_have_text("The first 50 by name are shown.")
    more = page.get_by_role("button", name="More policies")
    more.focus()
    with page.expect_request("**/policies?limit=100"):
        page.keyboard.press("Enter")
    # The rows and the button stay while the longer list is loaded.
    expect(page.get_by_role("button", name="Loading")).to_be_focused()
    expect(rows).to_have_count(50)
    is_released.set()
    answer(held[0])
    expect(rows).to_have_count(61)
    expect(page.get_by_role("status")).to_have_text("All 61 are shown.")
    expect(more).to_have_count(0)
    # What is shown stays shown after a deed.
    page.get_by_role("button", name="Delete partner-59").click()
    page.get_by_label("Type partner-59 to confirm").fill("partner-59")
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(rows).to_have_count(60)


def test_more_policies_that_could_not_be_loaded_are_asked_for_again(open_console: Open, town: Town) -> None:
    town.put_policies(60)
    page = open_console().show("ns/policies")
    rows = page.get_by_role("table").locator("tbody tr")
    expect(rows).to_have_count(50)
    page.route("**/policies?*", lambda route: route.fulfill(status=503, json={}))
    more = page.get_by_role("button", name="More policies")
    more.click()
    expect(page.get_by_role("alert")).to_contain_text("The stack is busy")
    expect(rows).to_have_count(50)
    page.unroute("**/policies?*")
    more.click()
    expect(rows).to_have_count(61)
    expect(page.get_by_role("alert")).to_have_count(0)


def test_the_overview_says_that_it_looked_only_at_the_first_fifty_policies(
    open_console: Open, town: Town
) -> None:
    town.put_policies(49)
    console = open_console()
    flow = console.show("ns/overview").get_by_role("region", name="Flow policies")
    expect(flow.get_by_role("row")).to_have_count(11)
    expect(flow.get_by_text("first 50 policies")).to_have_count(0)
    town.api.send("PUT", "/v1/namespaces/ns/policies/partner-49", {"maxConcurrent": 1})
    console.page.reload()
    expect(flow).to_contain_text("These are among the first 50 policies by name.")
    flow.get_by_role("link", name="Show the policies").click()
    console.page.wait_for_url("**#/ns/policies")


def test_a_day_in_which_nothing_falls_due_says_so_without_a_chart(open_console: Open, town: Town) -> None:
    for name in ("failing", "nightly-backup"):
        town.api.send("POST", f"/v1/namespaces/ns/jobs/{name}/pause")
    day = open_console().show("ns/overview").get_by_role("region", name="The next 24 hours")
    expect(day).to_contain_text("0 triggers of 0 jobs, and 3 paused.")
    expect(day.get_by_role("figure")).to_have_count(0)
