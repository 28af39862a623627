"""The failures of a namespace, and why a job fired or did not, on answers of the documented shape."""

import json
from collections.abc import Callable
from typing import Any, Final

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, Route, expect
from tests.integration.console.conftest import NARROW, SCRIPT, WIDE, Console, Town

Open = Callable[..., Console]


def answering(page: Page, path: str, answer: Callable[[str], Any]) -> None:
    """Let the browser get this answer to calls of one path. `answer` gets the address of the call."""

    def fulfil(route: Route) -> None:
        route.fulfill(status=200, content_type="application/json", body=json.dumps(answer(route.request.url)))

    page.route(f"**/v1/namespaces/ns/{path}*", fulfil)


def listed(town: Town) -> list[dict[str, Any]]:
    """The failed runs of the town, as the list of a namespace's runs shows them."""
    runs = town.api.send("GET", "/v1/namespaces/ns/jobs/failing/runs").json["items"]
    return [{"job": "failing", **run} for run in runs]


EXPLAINED: Final[dict[str, Any]] = {
    "at": "2026-11-21T14:30:00.000Z",
    "verdict": "paused",
    "summary": f"It was paused then: {SCRIPT}",
    "dueAt": "2026-11-21T14:30:00.000Z",
    "nearest": {"before": "2026-11-21T14:20:00.000Z", "after": "2026-11-21T14:40:00.000Z"},
    "evidence": {
        "change": {"time": "2026-11-21T12:00:00.000Z", "who": "admin", "what": "paused", "reason": SCRIPT},
        "policy": "mailer",
    },
    "next": {"at": None, "step": "Somebody resumes the job."},
    "history": "kept",
}


def test_failed_runs_are_grouped_by_job_or_answer_and_redriven_together(
    open_console: Open, town: Town
) -> None:
    console = open_console()
    asked: list[str] = []

    def answer(url: str) -> Any:
        asked.append(url)
        return {"items": listed(town)}

    answering(console.page, "runs", answer)
    page = console.show("ns/failures")
    expect(page.get_by_role("heading", name="failing")).to_be_visible()
    assert "state=failed" in asked[0]
    assert "since=2026-11-20T15" in asked[0]
    page.get_by_label("Group by").select_option("answer")
    expect(page.get_by_role("heading", name="422")).to_be_visible()
    page.get_by_role("button", name="Redrive those of 422").click()
    page.get_by_role("dialog").get_by_role("button", name="Redrive 3").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert len([call for call in town.server.calls() if call.endswith("/redrive")]) == 3


def test_a_namespace_without_failures_says_so(open_console: Open) -> None:
    console = open_console()
    answering(console.page, "runs", lambda _: {"items": []})
    expect(
        console.show("ns/failures").get_by_text("No run that was due in the last 1 day is failed.")
    ).to_be_visible()


def test_a_reader_is_offered_no_redrive(open_console: Open, town: Town) -> None:
    console = open_console(key="sh_reader")
    answering(console.page, "runs", lambda _: {"items": listed(town)})
    page = console.show("ns/failures")
    expect(page.get_by_role("heading", name="failing")).to_be_visible()
    assert page.get_by_role("button", name="Redrive").count() == 0


def test_a_verdict_is_shown_with_its_evidence_as_text(open_console: Open) -> None:
    console = open_console(zone="UTC")
    asked: list[str] = []

    def answer(url: str) -> Any:
        asked.append(url)
        return EXPLAINED

    answering(console.page, "jobs/digest/explain", answer)
    page = console.show("ns/jobs/digest/why")
    expect(page.locator(".beat")).to_contain_text(f"It was paused then: {SCRIPT}")
    expect(page.get_by_text("Somebody resumes the job.")).to_be_visible()
    page.get_by_label("Look at an instant").fill("2026-11-21T13:00:01")
    page.get_by_role("button", name="Explain").click()
    expect(page.locator(".beat")).to_be_visible()
    assert "at=2026-11-21T13%3A00%3A01.000Z" in asked[-1]
    page.get_by_role("button", name="14:20").click()
    page.wait_for_url("**at=2026-11-21T14%3A20%3A00.000Z")


@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_these_screens_have_no_serious_barrier_either(open_console: Open, town: Town, size: Any) -> None:
    console = open_console(size=size)
    answering(console.page, "runs", lambda _: {"items": listed(town)})
    answering(console.page, "jobs/digest/explain", lambda _: EXPLAINED)
    for name, screen in (("failures", "ns/failures"), ("why", "ns/jobs/digest/why")):
        page = console.show(screen)
        page.wait_for_load_state("networkidle")
        console.shoot(f"{name}-light")
        found = Axe().run(page).response["violations"]
        assert [each["id"] for each in found if each["impact"] in ("serious", "critical")] == []
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
