"""One policy in the console, and what waits for each of its keys."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect
from tests.fakes.policies import nobody_serves
from tests.integration.console.conftest import Console, Town

from sweephand.base.instants import SECOND_MS

Open = Callable[..., Console]

URL = "/v1/namespaces/ns/policies/tenants"


@pytest.fixture
def _waiting(town: Town) -> None:
    """Triggers of two tenants wait, and of jobs that name none."""
    assert town.api.send("PUT", URL, {"maxConcurrent": 1, "by": "label:tenant"}).status == 201
    with nobody_serves(town.world):
        for tenant in ("acme", "", "zulu"):
            labels = {"tenant": tenant} if tenant else {}
            town.put(f"job-{tenant}x", policy="tenants", schedule="@every 10s", labels=labels)
            town.let_pass(20 * SECOND_MS)


@pytest.mark.usefixtures("_waiting")
def test_a_policy_shows_what_waits_for_each_key_longest_first(open_console: Open) -> None:
    page = open_console(key="sh_reader").show("ns/policies")
    page.get_by_role("link", name="tenants", exact=True).click()
    rows = page.get_by_role("group", name="What waits").locator("tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.nth(0)).to_contain_text("acme")
    expect(rows.nth(1)).to_contain_text("jobs without this label")
    expect(rows.nth(2)).to_contain_text("zulu")
    counts = [int(each.get_by_role("cell").nth(1).inner_text()) for each in rows.all()]
    assert counts[0] > counts[1] > counts[2] >= 1
    assert page.locator("main button").count() == 0
    rows.nth(0).get_by_role("link").click()
    page.wait_for_url("**#/ns/jobs?label=tenant%3Aacme")


@pytest.mark.usefixtures("_waiting")
def test_a_key_that_stands_on_two_pages_is_one_row(open_console: Open) -> None:
    item = {"value": "acme", "waiting": 3, "waitingIsExact": True, "waitingSince": "2026-11-21T10:00:00Z"}
    more = {**item, "waiting": 4, "waitingIsExact": False}
    console = open_console()
    console.page.route("**/tenants/keys?**", lambda route: route.fulfill(json={"items": [item, more]}))
    rows = console.show("ns/policies/tenants").get_by_role("group", name="What waits").locator("tbody tr")
    expect(rows).to_have_count(1)
    expect(rows.get_by_role("cell").nth(1)).to_have_text("at least 7")


def test_a_policy_is_changed_paused_resumed_and_deleted_on_its_own_screen(
    open_console: Open, town: Town
) -> None:
    page = open_console().show("ns/policies/mailer")
    expect(page.get_by_text("0 of 5")).to_be_visible()
    page.get_by_role("button", name="Edit mailer").click()
    page.get_by_label("Requests open at once").fill("-3")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    wrong = page.locator(".field").filter(has_text="Requests open at once").get_by_role("alert")
    expect(wrong).to_contain_text("from 1")
    expect(page.get_by_label("Requests open at once")).to_be_focused()
    expect(page.get_by_role("dialog").get_by_role("alert")).to_have_count(1)
    page.get_by_label("Requests open at once").fill("7")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_text("0 of 7")).to_be_visible()
    page.get_by_role("button", name="Pause mailer").click()
    page.get_by_label("Reason").fill("the server moves")
    page.get_by_role("dialog").get_by_role("button", name="Pause").click()
    expect(page.get_by_text("the server moves")).to_be_visible()
    page.get_by_role("button", name="Resume mailer").click()
    page.get_by_role("dialog").get_by_role("button", name="Resume").click()
    expect(page.get_by_role("button", name="Pause mailer")).to_be_visible()
    page.get_by_role("button", name="Delete mailer").click()
    page.get_by_label("Type mailer to confirm").fill("mailer")
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    page.wait_for_url("**#/ns/policies")
    assert town.api.send("GET", "/v1/namespaces/ns/policies/mailer").status == 404
