"""The rows of jobs: what of them fails, where they deliver, and what stands where there are none."""

from collections.abc import Callable
from typing import Any, Final

import pytest
from playwright.sync_api import Route, expect
from tests.integration.console.conftest import NARROW, WIDE, Console, Town, serious_barriers

from sweephand.base.instants import HOUR_MS
from sweephand.model.attempt import Answer

Open = Callable[..., Console]

#: What the API shows of a job, besides its target.
ROW: Final = {
    "name": "job",
    "state": "active",
    "nextRun": None,
    "owner": "k1",
    "health": {"failuresInARow": 0, "runs": []},
}


def test_jobs_that_fail_stand_first_once_and_each_mark_leads_to_its_run(open_console: Open) -> None:
    page = open_console(zone="UTC").show("ns/jobs")
    expect(page.locator("tr.part")).to_have_text(["1 failing now", "Others by name"])
    expect(page.locator("td.name a")).to_have_text(["failing", "digest", "nightly-backup"])
    expect(page.get_by_text("3 jobs · 1 failing now")).to_be_visible()
    row = page.get_by_role("row").filter(has_text="3 failed in a row")
    marks = row.get_by_role("group", name="Newest outcomes of failing, the newest last").get_by_role("link")
    expect(marks).to_have_count(3)
    expect(marks.last).to_have_accessible_name("failed, due Sat 21 Nov 15:00:00")
    marks.last.click()
    expect(page.get_by_role("heading", name="Run")).to_be_visible()
    page.wait_for_url("**#/ns/jobs/failing/runs/1795273200000-0")


def test_a_job_that_begins_to_fail_or_recovers_moves_with_the_next_refresh(
    open_console: Open, town: Town
) -> None:
    town.put("steady", schedule="@every 30m", retry={"maxAttempts": 1})
    console = open_console()
    console.take_clock()
    page = console.show("ns/jobs")
    expect(page.locator("td.name a").first).to_have_text("failing")
    town.world.consumers.answering = lambda attempt: Answer(
        succeeded=attempt.trigger.key.name == "failing", code=500
    )
    town.let_pass(HOUR_MS)
    page.clock.fast_forward(15_000)
    expect(page.locator("td.name a")).to_have_text(["steady", "digest", "failing", "nightly-backup"])
    expect(page.locator("tr.part").first).to_have_text("1 failing now")
    assert sum("health=failing" in path for _, path, _ in town.server.requests) == 1


def test_the_keyboard_stops_once_at_the_marks_and_goes_along_them_by_arrows(open_console: Open) -> None:
    page = open_console(zone="UTC").show("ns/jobs")
    page.get_by_role("link", name="failing", exact=True).focus()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="failed, due Sat 21 Nov 15:00:00")).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("link", name="failed, due Sat 21 Nov 14:00:00")).to_be_focused()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="team:ops").first).to_be_focused()


def test_the_failing_jobs_alone_are_in_the_order_that_the_address_says(
    open_console: Open, town: Town
) -> None:
    console = open_console()
    page = console.show("ns/jobs")
    page.get_by_role("link", name="Failing", exact=True).click()
    page.wait_for_url("**#/ns/jobs?health=failing")
    expect(page.locator("td.name a")).to_have_text(["failing"])
    page.get_by_label("Order").select_option("by name")
    page.wait_for_url("**?health=failing&sort=name")
    expect(page.locator("td.name a")).to_have_text(["failing"])
    asked = [path for _, path, _ in town.server.requests if "health=failing" in path and "sort=name" in path]
    assert len(asked) == 1
    town.api.send("DELETE", "/v1/namespaces/ns/jobs/failing")
    expect(console.show("ns/jobs?health=failing").get_by_text("No job fails now.")).to_be_visible()
    expect(console.show("ns/jobs").get_by_text("2 jobs · none failing")).to_be_visible()


def test_a_refresh_reads_the_page_once_and_looks_for_failing_jobs_each_minute(
    open_console: Open, town: Town
) -> None:
    console = open_console()
    console.take_clock()
    page = console.show("ns/jobs")
    expect(page.locator("tr.part")).to_have_count(2)

    def asked() -> tuple[int, int]:
        paths = [path for _, path, _ in town.server.requests if "/jobs?" in path]
        return sum("include=health" in each for each in paths), sum(
            "health=failing" in each for each in paths
        )

    assert asked() == (1, 1)
    for number in range(2, 5):
        with page.expect_response("**include=health*"):
            page.clock.fast_forward(15_000)
        assert asked() == (number, 1)
    with page.expect_response("**health=failing*"):
        page.clock.fast_forward(15_000)


@pytest.mark.parametrize(
    ("target", "text"),
    [
        ({"type": "http", "url": "https://billing.example:8443/hook/{{index}}"}, "http billing.example:8443"),
        ({"type": "sqs", "queueUrl": "https://sqs.eu-west-1.amazonaws.com/1/orders"}, "sqs orders"),
        ({"type": "lambda", "functionArn": "arn:aws:lambda:eu:1:function:orders:live"}, "lambda orders:live"),
        (
            {"type": "sns", "roleArn": "arn:aws:iam::9:role/own", "topicArn": "arn:aws:sns:eu:1:news"},
            "sns news",
        ),
        ({"type": "eventbridge", "busArn": "arn:aws:events:eu-west-1:1:event-bus/main"}, "eventbridge main"),
        (
            {"type": "stepfunctions", "stateMachineArn": "arn:aws:states:eu-west-1:1:stateMachine:ship"},
            "stepfunctions ship",
        ),
        ({"type": "default", "path": "/reminders/42"}, "default /reminders/42"),
        (None, "default"),
    ],
)
def test_a_target_is_shown_in_a_few_words(open_console: Open, target: Any, text: str) -> None:
    console = open_console()
    job = ROW if target is None else {**ROW, "target": target}
    console.page.route("**/jobs?*", lambda route: route.fulfill(json={"items": [job]}))
    page = console.show("ns/jobs")
    expect(page.locator("td.target")).to_have_text([text])
    expect(page.locator("td.owner")).to_have_text(["k1"])


@pytest.mark.parametrize(
    ("failures", "states", "text"),
    [
        (1, ["failed", "succeeded"], "newest failed"),
        (2, ["failed", "retrying", "succeeded"], "2 failed in a row"),
        (10, ["failed"] * 10, "10 or more failed in a row"),
    ],
)
def test_failures_in_a_row_stand_in_words_below_the_marks(
    open_console: Open, failures: int, states: list[str], text: str
) -> None:
    runs = [{"id": f"manual-{1795273200000 - at}-0-x", "state": state} for at, state in enumerate(states)]
    job = {**ROW, "health": {"failing": True, "failuresInARow": failures, "runs": runs}}
    console = open_console()
    console.page.route("**/jobs?*", lambda route: route.fulfill(json={"items": [job]}))
    page = console.show("ns/jobs")
    expect(page.locator("td.newest .under")).to_have_text([text])
    expect(page.locator(".mark").last).to_have_class(f"mark is-{states[0]}")


def test_a_namespace_without_jobs_says_how_to_make_the_first_one(open_console: Open, town: Town) -> None:
    page = open_console().show("empty/jobs")
    expect(page.get_by_role("heading", name="No jobs in empty yet.")).to_be_visible()
    by_http = page.get_by_role("region", name="The first job by HTTP")
    expect(by_http).to_contain_text(f"curl -X PUT {town.server.url}/v1/namespaces/empty/jobs/hello")
    command = page.get_by_role("region", name="The first job on the command line")
    expect(command).to_contain_text(f"export SWEEPHAND_URL={town.server.url} SWEEPHAND_KEY=$KEY")
    page.get_by_role("link", name="Write the first one").click()
    page.wait_for_url("**#/empty/new")


def test_the_request_that_makes_the_first_job_is_accepted(open_console: Open, town: Town) -> None:
    page = open_console().show("empty/jobs")
    text = page.get_by_role("region", name="The first job by HTTP").inner_text()
    body = text.partition("-d '")[2].removesuffix("'")
    answer = town.api.send("PUT", "/v1/namespaces/empty/jobs/hello", text=body)
    assert answer.status == 201, answer.text


def test_a_stack_without_any_job_lets_its_reader_name_the_namespace(open_console: Open) -> None:
    console = open_console()
    since = "2026-11-20T12:00:00.000Z"
    empty: dict[str, Any] = {"since": since, "heartbeatAt": None, "enabled": True, "items": []}
    console.page.route("**/v1/overview?**", lambda route: route.fulfill(json=empty))
    page = console.show("")
    expect(page.get_by_role("heading", name="This stack has no jobs yet.")).to_be_visible()
    page.get_by_role("main").get_by_label("Namespace").fill("billing")
    expect(page.get_by_role("region", name="The first job by HTTP")).to_contain_text(
        "/namespaces/billing/jobs/"
    )
    assert [each["id"] for each in serious_barriers(page)] == []
    console.shoot("first-stack")
    page.get_by_role("link", name="Write the first one").click()
    page.wait_for_url("**#/billing/new")


def test_a_reader_is_told_which_key_makes_jobs(open_console: Open, town: Town) -> None:
    for name in ("digest", "failing", "nightly-backup"):
        town.api.send("DELETE", f"/v1/namespaces/ns/jobs/{name}")
    page = open_console(key="sh_reader").show("ns/jobs")
    expect(page.get_by_text("A key with the role write makes jobs.")).to_be_visible()
    expect(page.get_by_role("link", name="Write the first one")).to_have_count(0)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("scheme", "size"), [("light", WIDE), ("light", NARROW), ("dark", WIDE), ("dark", NARROW)]
)
def test_a_list_with_every_outcome_has_no_serious_barrier(
    open_console: Open, town: Town, scheme: str, size: Any
) -> None:
    states = ("succeeded", "failed", "retrying", "running", "skipped", "cancelled", "claimed")
    runs = [{"id": f"{1795273200000 - at * HOUR_MS}-0", "state": state} for at, state in enumerate(states)]

    def with_runs(route: Route) -> None:
        answer = route.fetch()
        found = answer.json()
        for job in found["items"]:
            if job["name"] != "failing":
                job["health"] = {"failing": False, "failuresInARow": 0, "runs": runs}
        route.fulfill(response=answer, json=found)

    console = open_console(size=size, scheme=scheme)
    console.page.route("**/jobs?*health*", with_runs)
    for number in range(60):
        town.put(
            f"report-{number:02}", dueTime="2190-01-01T00:00:00Z", description="Sends the report of a shop"
        )
    for name, screen in (
        ("jobs-many", "ns/jobs"),
        ("jobs-failing", "ns/jobs?health=failing"),
        ("jobs-none", "empty/jobs"),
    ):
        page = console.show(screen)
        page.wait_for_load_state("networkidle")
        if name == "jobs-many":
            page.get_by_label("Choose digest").check()
        console.shoot(f"{name}-{scheme}")
        assert [(each["id"], each["nodes"][0]["html"]) for each in serious_barriers(page)] == []
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
