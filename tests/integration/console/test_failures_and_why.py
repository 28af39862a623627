"""The failures of a namespace, and why a job fired or did not, as the API tells them."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.integration.console.conftest import NARROW, SCRIPT, WIDE, Console, Town, serious_barriers

from sweephand.base.instants import DAY_MS

Open = Callable[..., Console]


def test_failed_runs_are_grouped_by_job_or_answer_and_redriven_together(
    open_console: Open, town: Town
) -> None:
    page = open_console().show("ns/failures")
    expect(page.get_by_role("heading", name="failing")).to_be_visible()
    page.get_by_label("Group by").select_option("answer")
    expect(page.get_by_role("heading", name="422")).to_be_visible()
    page.get_by_role("button", name="Redrive those of 422").click()
    page.get_by_role("dialog").get_by_role("button", name="Redrive 3").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert len([call for call in town.server.calls() if call.endswith("/redrive")]) == 3


def test_runs_that_were_due_before_the_chosen_time_are_not_shown(open_console: Open, town: Town) -> None:
    town.api.send("PATCH", "/v1/namespaces/ns/jobs/failing", {"schedule": "@yearly"})
    town.world.clock.time += 2 * DAY_MS
    page = open_console().show("ns/failures")
    expect(page.get_by_text("No run that was due in the last 1 day is failed.")).to_be_visible()
    page.get_by_label("Due in the last").select_option("7 days")
    expect(page.get_by_role("heading", name="failing")).to_be_visible()


def test_a_reader_is_offered_no_redrive(open_console: Open) -> None:
    page = open_console(key="sh_reader").show("ns/failures")
    expect(page.get_by_role("heading", name="failing")).to_be_visible()
    assert page.get_by_role("button", name="Redrive").count() == 0


def test_a_verdict_is_shown_with_its_evidence_as_text(open_console: Open) -> None:
    page = open_console(zone="UTC").show("ns/jobs/digest/why")
    expect(page.locator(".beat")).to_contain_text("paused")
    expect(page.get_by_text(SCRIPT).first).to_be_visible()
    expect(page.get_by_text("resume").first).to_be_visible()


def test_another_instant_has_another_verdict(open_console: Open) -> None:
    page = open_console(zone="UTC").show("ns/jobs/failing/why")
    expect(page.locator(".beat")).to_contain_text("422")
    page.get_by_label("Look at an instant").fill("2026-11-21T13:30:01")
    page.get_by_role("button", name="Explain").click()
    page.wait_for_url("**at=2026-11-21T13%3A30%3A01.000Z")
    expect(page.locator(".beat")).to_contain_text("not-scheduled")
    page.get_by_role("button", name="13:00").click()
    page.wait_for_url("**at=2026-11-21T13%3A00%3A00.000Z")
    expect(page.locator(".beat")).to_contain_text("failed")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_these_screens_have_no_serious_barrier_either(open_console: Open, size: Any) -> None:
    console = open_console(size=size)
    for name, screen in (("failures", "ns/failures"), ("why", "ns/jobs/digest/why")):
        page = console.show(screen)
        page.wait_for_load_state("networkidle")
        console.shoot(f"{name}-light")
        assert [each["id"] for each in serious_barriers(page)] == []
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
