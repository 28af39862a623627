"""Why a job fired or did not, as the API tells it."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.integration.console.conftest import NARROW, SCRIPT, WIDE, Console, serious_barriers

Open = Callable[..., Console]


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
def test_this_screen_has_no_serious_barrier_either(open_console: Open, size: Any) -> None:
    console = open_console(size=size)
    page = console.show("ns/jobs/digest/why")
    page.wait_for_load_state("networkidle")
    console.shoot("why-light")
    assert [each["id"] for each in serious_barriers(page)] == []
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
