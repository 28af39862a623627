"""Why a job fired or did not, as the API tells it."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.integration.console.conftest import NARROW, SCRIPT, WIDE, Console, Town, serious_barriers

Open = Callable[..., Console]


def test_a_verdict_is_shown_with_its_evidence_as_text(open_console: Open) -> None:
    page = open_console(zone="UTC").show("ns/jobs/digest/why")
    expect(page.locator(".beat")).to_contain_text("paused")
    expect(page.get_by_text(SCRIPT).first).to_be_visible()
    expect(page.get_by_text("resume").first).to_be_visible()


def test_a_job_that_was_paused_after_its_last_due_time_says_so_without_an_instant(
    open_console: Open, town: Town
) -> None:
    town.world.pause("failing")
    console = open_console()
    page = console.show("ns/jobs/failing/why")
    expect(page.locator(".beat")).to_contain_text("422")
    expect(page.locator(".note")).to_contain_text("Paused Sat 21 Nov 15:00:05")
    assert console.show("ns/jobs/failing/why?at=2026-11-21T14:00:00Z").locator(".note").count() == 0
    assert console.show("ns/jobs/digest/why").locator(".note").count() == 0


def test_another_instant_has_another_verdict(open_console: Open) -> None:
    page = open_console(zone="UTC").show("ns/jobs/failing/why")
    expect(page.locator(".beat")).to_contain_text("422")
    page.get_by_label("Look at another instant").fill("2026-11-21T13:30:01")
    page.get_by_role("button", name="Explain").click()
    page.wait_for_url("**at=2026-11-21T13%3A30%3A01.000Z")
    expect(page.locator(".beat")).to_contain_text("not-scheduled")
    page.get_by_role("button", name="13:00").click()
    page.wait_for_url("**at=2026-11-21T13%3A00%3A00.000Z")
    expect(page.locator(".beat")).to_contain_text("failed")
    expect(page.locator("main > :last-child").get_by_role("button", name="Explain")).to_be_visible()


@pytest.mark.parametrize(
    ("wall", "at"),
    [
        ("2026-11-21T02:30", "2026-11-21T01:30:00.000Z"),
        ("2026-07-01T02:30", "2026-07-01T00:30:00.000Z"),
        # The clock is set forward, and back: the time is skipped, and comes twice.
        ("2027-03-28T02:30", "2027-03-28T01:30:00.000Z"),
        ("2026-10-25T02:30", "2026-10-25T00:30:00.000Z"),
    ],
)
def test_an_instant_is_asked_for_in_the_zone_of_the_job(open_console: Open, wall: str, at: str) -> None:
    page = open_console(zone="America/New_York").show("ns/jobs/nightly-backup/why")
    page.get_by_label("Look at another instant, in Europe/Paris").fill(wall)
    page.get_by_role("button", name="Explain").click()
    page.wait_for_url(f"**at={at.replace(':', '%3A')}")


def test_all_times_of_an_explanation_are_in_one_zone(open_console: Open, town: Town) -> None:
    town.world.pause("nightly-backup")
    page = open_console(zone="America/New_York").show("ns/jobs/nightly-backup/why?at=2026-11-22T01:30:00Z")
    expect(page.locator(".beat")).to_contain_text("paused at Sat 21 Nov 16:00:05")
    times = page.locator("main time")
    shown = times.all_inner_texts()
    assert len(shown) > 3
    page.get_by_label("Times in").select_option("America/New_York (yours)")
    expect(page.locator(".beat")).to_contain_text("paused at Sat 21 Nov 10:00:05")
    assert all(one != other for one, other in zip(shown, times.all_inner_texts(), strict=True))
    assert "Z" not in "".join(times.all_inner_texts())


def test_what_a_verdict_calls_for_is_done_beside_it(open_console: Open, town: Town) -> None:
    console = open_console()
    verdict = console.show("ns/jobs/failing/why").locator(".beat")
    verdict.get_by_role("button", name="Redrive").click()
    console.page.get_by_role("dialog").get_by_role("button", name="Redrive").click()
    expect(console.page.get_by_role("status")).to_have_text("Attempt 2 is on its way.")
    verdict = console.show("ns/jobs/digest/why").locator(".beat")
    verdict.get_by_role("button", name="Run now").click()
    console.page.get_by_role("dialog").get_by_role("button", name="Run now").click()
    expect(console.page.get_by_role("status")).to_contain_text("is on its way.")
    verdict.get_by_role("button", name="Resume").click()
    console.page.get_by_role("dialog").get_by_role("button", name="Resume").click()
    expect(verdict.get_by_role("button", name="Resume")).to_have_count(0)
    assert town.world.stored("digest").paused_at is None


@pytest.mark.parametrize(
    ("at", "link", "place"),
    [
        ("2026-11-21T16:00:00Z", "Open the policy", "/policies/mailer"),
        ("2026-11-21T15:30:30Z", "Edit the job", "/jobs/new/edit"),
    ],
)
def test_a_verdict_links_to_what_decides(
    open_console: Open, town: Town, at: str, link: str, place: str
) -> None:
    town.put("new", schedule="@every 1h", policy="mailer")
    page = open_console().show(f"ns/jobs/new/why?at={at}")
    assert str(page.locator(".beat").get_by_role("link", name=link).get_attribute("href")).endswith(place)


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
