"""The four numbers of an overview, which lead to what they count: of one namespace, and of all of a key."""

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Locator, Page, Route, expect
from tests.contract.builders import trigger_message
from tests.fakes.http_events import TARGET
from tests.integration.console.conftest import NARROW, WIDE, Console, Town, serious_barriers

from sweephand.base.instants import MINUTE_MS, SECOND_MS
from sweephand.model.counters import Stats
from sweephand.model.gate import GateName
from sweephand.model.gate_line import entries_of
from sweephand.model.policy import PolicyKey

Open = Callable[..., Console]


def count_late(town: Town, *namespaces: str) -> None:
    """Count deliveries of this minute, 20 of which began late."""
    now = town.world.clock.time
    counted = Stats(Counter({"succeeded": 120}), Counter({20: 100, 3_000: 20}))
    town.world.stats.add(now - now % MINUTE_MS, 0, dict.fromkeys(namespaces, counted), lambda: True)


def let_wait(town: Town, namespace: str, count: int = 3) -> None:
    """Put triggers into the line of the policy `mailer` of a namespace. They wait for five minutes."""
    messages = [trigger_message(town.world.clock.time - 5 * MINUTE_MS)] * count
    [entry] = entries_of(messages, "normal", "0")
    town.world.gate_lines.put(GateName(PolicyKey(namespace, "mailer"), 0), entry)


def tile(page: Page, title: str) -> Locator:
    return page.get_by_role("list", name="What needs a look").get_by_role(
        "link", name=re.compile(f"^{title}")
    )


def said(page: Page, title: str) -> str:
    """What a tile says, with plain spaces."""
    found = tile(page, title)
    expect(found).not_to_contain_text("Counting")
    return " ".join(found.inner_text().split())


def test_four_numbers_lead_to_what_they_count(open_console: Open, town: Town) -> None:
    count_late(town, "ns")
    let_wait(town, "ns")
    console = open_console()
    page = console.show("ns/overview")
    assert said(page, "Failed") == "Failed 3 Runs of 1 job, in the last 24 hours."
    assert said(page, "Late") == "Late 20 Of 121 in the last hour, by up to 3.0 s."
    assert said(page, "Waiting") == "Waiting 3 Under mailer, the first since 5 min ago."
    assert said(page, "Paused") == "Paused 1 1 job."
    for title, screen in (
        ("Failed", "ns/failures"),
        ("Waiting", "ns/policies"),
        ("Paused", "ns/jobs?state=paused"),
    ):
        tile(console.show("ns/overview"), title).click()
        page.wait_for_url(f"**#/{screen}")
    page = console.show("ns/overview")
    tile(page, "Late").click()
    expect(page.get_by_role("heading", name="The last hour", exact=True)).to_be_focused()


def test_a_calm_namespace_says_so_in_its_numbers(open_console: Open, town: Town) -> None:
    town.api.send("PUT", "/v1/namespaces/calm/jobs/job", {"schedule": "@every 1h", "target": TARGET})
    page = open_console().show("calm/overview")
    assert said(page, "Failed") == "Failed 0 No run in the last 24 hours."
    assert said(page, "Late") == "Late 0 Nothing was delivered in the last hour."
    assert said(page, "Waiting") == "Waiting 0 No policy limits this namespace."
    assert said(page, "Paused") == "Paused 0 No job and no policy."
    assert page.locator(".tile.is-bad, .tile.is-warn, .tile.is-busy").count() == 0


def test_paused_policies_count_as_paused(open_console: Open, town: Town) -> None:
    town.api.send("POST", "/v1/namespaces/ns/policies/mailer/pause")
    town.api.send("POST", "/v1/namespaces/ns/jobs/digest/resume")
    page = open_console().show("ns/overview")
    assert said(page, "Paused") == "Paused 1 the policy mailer."
    tile(page, "Paused").click()
    page.wait_for_url("**#/ns/policies")


def test_a_policy_with_a_limit_for_each_key_is_said_not_to_be_counted(open_console: Open, town: Town) -> None:
    town.api.send("PUT", "/v1/namespaces/ns/policies/customers", {"maxConcurrent": 2, "by": "job"})
    page = open_console().show("ns/overview")
    assert said(page, "Waiting") == (
        "Waiting 0+ No trigger waits under a policy. One with a limit for each key is not counted."
    )


def test_a_number_that_could_not_be_loaded_says_so(open_console: Open) -> None:
    console = open_console()
    console.page.route("**/policies?*", lambda route: route.fulfill(status=503, json={}))
    page = console.show("ns/overview")
    expect(tile(page, "Waiting")).to_contain_text("Could not be loaded.")
    expect(tile(page, "Paused")).to_contain_text("Could not be loaded.")


def put_namespaces(town: Town, *, late: bool = True) -> None:
    """Make `calm` and `held` beside `ns`, where runs failed. In `held` a job is paused, and triggers wait."""
    for namespace in ("calm", "held"):
        url = f"/v1/namespaces/{namespace}"
        town.api.send("PUT", f"{url}/jobs/job", {"schedule": "@every 1h", "target": TARGET})
    town.api.send("PUT", "/v1/namespaces/held/policies/mailer", {"maxConcurrent": 1})
    town.api.send("POST", "/v1/namespaces/held/jobs/job/pause")
    let_wait(town, "held")
    if late:
        count_late(town, "calm", "held", "ns")


def cells(page: Page) -> list[list[str]]:
    """The cells of the table of namespaces, with plain spaces."""
    rows = page.get_by_role("group", name="Namespaces").locator("tbody tr").all()
    return [[" ".join(each.split()) for each in row.get_by_role("cell").all_inner_texts()] for row in rows]


def test_all_namespaces_are_shown_the_sick_ones_first(open_console: Open, town: Town) -> None:
    put_namespaces(town)
    page = open_console().show("")
    expect(page.get_by_role("heading", name="All namespaces")).to_be_visible()
    expect(page.get_by_role("heading", name="3 namespaces in trouble")).to_be_visible()
    expect(page.get_by_role("row", name=re.compile("^held")).get_by_role("cell").nth(7)).to_have_text("1")
    ns, held, calm = cells(page)
    assert ns[:8] == ["ns", "1", "3", "0", "0", "20", "0", "1"]
    assert held[:8] == ["held", "0", "0", "0", "0", "20", "3", "1"]
    assert calm[:8] == ["calm", "0", "0", "0", "0", "20", "0", "0"]
    assert said(page, "Failed") == "Failed 3 In ns."
    expect(tile(page, "Failed").locator("polyline")).to_have_count(1)
    assert said(page, "Late") == "Late 60 In 3 namespaces, most in ns."
    assert said(page, "Waiting") == "Waiting 3 In held."
    assert said(page, "Paused") == "Paused 2 In 2 namespaces, most in ns."


def test_what_waits_or_is_paused_is_no_trouble(open_console: Open, town: Town) -> None:
    put_namespaces(town, late=False)
    page = open_console().show("")
    expect(page.get_by_role("heading", name="1 namespace in trouble")).to_be_visible()
    expect(page.get_by_role("row", name=re.compile("^held")).get_by_role("cell").nth(7)).to_have_text("1")
    assert [row[0] for row in cells(page)] == ["ns", "held", "calm"]
    assert page.locator("tr.is-calm").count() == 1


def test_a_number_of_a_namespace_leads_to_what_it_counts(open_console: Open, town: Town) -> None:
    put_namespaces(town)
    console = open_console()
    for link, screen in (
        (
            lambda page: page.get_by_role("row", name=re.compile("^ns")).get_by_role("link", name="3"),
            "ns/failures",
        ),
        (lambda page: page.get_by_role("link", name="held", exact=True), "held/overview"),
        (lambda page: tile(page, "Waiting"), "held/policies"),
    ):
        link(console.show("")).click()
        console.page.wait_for_url(f"**#/{screen}")
    console.page.get_by_role("link", name="Sweephand").click()
    expect(console.page.get_by_role("heading", name="All namespaces")).to_be_visible()


def test_jobs_are_counted_by_the_second_call_and_then_every_ten_minutes(
    open_console: Open, town: Town
) -> None:
    put_namespaces(town)
    console = open_console()
    asked: list[str] = []
    console.page.on("request", lambda request: asked.append(request.url))
    console.take_clock()
    page = console.show("")
    expect(page.get_by_role("row", name=re.compile("^held")).get_by_role("cell").nth(7)).to_have_text("1")

    def queries() -> list[bool]:
        return ["include=jobs" in url for url in asked if "/v1/overview" in url]

    assert queries() == [False, True]
    for count in range(3, 13):
        with page.expect_response("**/v1/overview?**"):
            page.clock.fast_forward(60_000)
        expect(page.get_by_role("heading", name="3 namespaces in trouble")).to_be_visible()
        assert len(queries()) == count
    assert queries() == [False, True, *[False] * 9, True]


def test_many_namespaces_are_shown_call_by_call_and_found_by_name(open_console: Open, town: Town) -> None:
    console = open_console()
    held: list[Route] = []

    def answer(route: Route) -> None:
        if "cursor=" in route.request.url and not held:
            held.append(route)
        else:
            route.fulfill(json=page_of(26, 40) if "cursor=" in route.request.url else page_of(1, 25, "more"))

    console.page.route("**/v1/overview?**", answer)
    page = console.page
    page.goto(f"{town.server.url}/console#/")
    rows = page.get_by_role("group", name="Namespaces").locator("tbody tr")
    expect(rows).to_have_count(25)
    expect(page.get_by_text("25 namespaces up to now, in the order of their names.")).to_be_visible()
    answer(held[0])
    expect(rows).to_have_count(40)
    expect(page.get_by_role("heading", name="Nothing fails")).to_be_visible()
    page.get_by_label("Name contains").fill("-3")
    expect(rows).to_have_count(10)


def test_a_number_that_was_not_counted_to_its_end_says_so(open_console: Open) -> None:
    console = open_console()
    found = page_of(1, 1)
    found["items"][0] |= {"failed": 900, "partial": True, "waiting": 40, "waitingIsExact": False}
    console.page.route("**/v1/overview?**", lambda route: route.fulfill(json=found))
    page = console.show("")
    assert said(page, "Failed") == "Failed 900+ In team-01."
    assert said(page, "Waiting") == "Waiting 40+ In team-01."
    assert said(page, "Paused") == "Paused 0+ Not all were looked at."
    (row,) = cells(page)
    assert (row[2], row[6]) == ("900+", "40+")


def page_of(first: int, last: int, following: str | None = None) -> dict[str, Any]:
    """A page of calm namespaces."""
    calm = {
        **dict.fromkeys(("failed", "retrying", "skipped", "running", "failingJobs"), 0),
        "newestFailureAt": None,
        "failuresOverTime": [0] * 24,
        "pausedPolicies": 0,
        "partial": False,
        "waiting": 0,
        "waitingIsExact": True,
        "waitingSince": None,
        "jobs": {"active": 1, "paused": 0, "completed": 0},
    }
    page: dict[str, Any] = {"since": "2026-11-20T12:00:00.000Z", "heartbeatAt": None, "enabled": True}
    page["items"] = [{"namespace": f"team-{number:02}", **calm} for number in range(first, last + 1)]
    return page if following is None else {**page, "nextCursor": following}


def test_a_key_of_one_namespace_begins_with_its_overview(open_console: Open, town: Town) -> None:
    console = open_console(key="sh_reader")
    console.page.goto(f"{town.server.url}/console")
    console.page.wait_for_url("**#/ns/overview")
    expect(console.page.get_by_role("heading", name="Overview")).to_be_visible()


def test_the_numbers_fit_a_phone_and_have_no_barrier(open_console: Open, town: Town) -> None:
    put_namespaces(town)
    let_wait(town, "ns", 20)
    for size in (WIDE, NARROW):
        for scheme in ("light", "dark"):
            console = open_console(size=size, scheme=scheme)
            console.page.clock.set_fixed_time(town.world.clock.time / SECOND_MS)
            for name, screen in (("everywhere", ""), ("numbers", "ns/overview")):
                page = console.show(screen)
                page.wait_for_load_state("networkidle")
                console.shoot(f"{name}-{scheme}")
                assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, name
                assert [each["id"] for each in serious_barriers(page)] == []
