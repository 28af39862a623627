"""What holds of every screen: anybody can use it, at any width, and many jobs show, too."""

from collections import Counter
from collections.abc import Callable
from typing import Final

import pytest
from playwright.sync_api import Route, ViewportSize, expect
from tests.integration.console.conftest import NARROW, SCREENSHOTS, WIDE, Console, Town, serious_barriers

from sweephand.model.attempt import Answer, Attempt

Open = Callable[..., Console]

#: Each screen, by the name of its screenshots.
SCREENS: Final = {
    "namespaces": "",
    "overview": "ns/overview",
    "jobs": "ns/jobs",
    "job": "ns/jobs/nightly-backup",
    "job-failing": "ns/jobs/failing",
    "job-batches": "ns/jobs/mail-out",
    "new": "ns/new",
    "edit": "ns/jobs/nightly-backup/edit",
    "why": "ns/jobs/failing/why?at=2026-11-21T13:00:00Z",
    "failures": "ns/failures",
    "policies": "ns/policies",
    "policy": "ns/policies/tenants",
    "calendars": "ns/calendars",
    "calendar": "ns/calendars/fr",
    "calendar-edit": "ns/calendars/fr/edit",
    "calendar-new": "ns/new-calendar",
    "windows": "ns/windows",
    "window-new": "ns/new-window",
    "window-edit": "ns/windows/maintenance/edit",
    "secrets": "ns/secrets",
    "keys": "ns/keys",
    "settings": "ns/settings",
    "run": "ns/jobs/failing/runs/1795266000000-0",
}

#: Waits for the first paint of the page that has an element in it. The page's clock is not the browser's, so
#: the page's `performance` has no entries.
FIRST_PAINT: Final = """() => new Promise((seen) => {
    new PerformanceObserver((list) => {
        for (const { name } of list.getEntries()) if (name === "first-contentful-paint") seen(name);
    }).observe({ type: "paint", buffered: true });
    setTimeout(() => seen("nothing"), 10_000);
})"""


def mailing(attempt: Attempt) -> Answer:
    """A consumer of batches. Some have a failed run, some overrun, and others succeed."""
    kind = attempt.trigger.sequence % 3
    if kind == 0 and attempt.trigger.index == 7:
        return Answer(succeeded=False, is_final=True, code=422)
    return Answer(succeeded=kind != 1 or attempt.number > 1, code=503)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("half", [0, 1])
@pytest.mark.parametrize(("scheme", "size"), [("light", WIDE), ("light", NARROW), ("dark", WIDE)])
def test_no_screen_has_a_serious_barrier_or_is_wider_than_its_window(
    open_console: Open, town: Town, scheme: str, size: ViewportSize, half: int
) -> None:
    """axe-core finds what a screen reader, a keyboard or weak eyes would fail at.

    The colours do not depend on the width of the window.
    """
    town.put_policies(50)
    town.world.consumers.answering = mailing
    town.put_mail_out(hours=5, retry={"initialDelay": "45m"})
    town.furnish()
    found: dict[tuple[str, str], str] = {}
    console = open_console(size=size, scheme=scheme)
    for name, screen in [*SCREENS.items()][half::2]:
        page = console.show(screen)
        page.wait_for_load_state("networkidle")
        console.shoot(f"{name}-{scheme}")
        found |= {(name, each["id"]): each["nodes"][0]["html"] for each in serious_barriers(page)}
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, name
    assert found == {}, f"the screenshots are in {SCREENSHOTS}"


def test_no_screen_asks_twice_for_the_same(open_console: Open, town: Town) -> None:
    """Each request costs money, and two answers to one question can contradict each other."""
    town.put_mail_out(hours=2)
    town.furnish()
    console = open_console()
    asked: list[str] = []
    console.page.on("request", lambda request: asked.append(f"{request.method} {request.url}"))
    twice: dict[str, list[str]] = {}
    for name, screen in SCREENS.items():
        asked.clear()
        console.show(screen).wait_for_load_state("networkidle")
        calls = Counter(each for each in asked if "/v1/" in each)
        assert calls[f"GET {town.server.url}/v1/me"] == 1
        if again := [each for each, times in calls.items() if times > 1]:
            twice[name] = again
    assert twice == {}


def test_the_sign_in_has_no_serious_barrier(open_console: Open) -> None:
    console = open_console(key=None)
    expect(console.page.get_by_label("API key")).to_be_visible()
    console.shoot("sign-in")
    assert [each["id"] for each in serious_barriers(console.page)] == []


def test_the_keyboard_alone_pauses_a_job(open_console: Open, town: Town) -> None:
    page = open_console().show("ns/jobs")
    expect(page.get_by_role("link", name="nightly-backup")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to the screen")).to_be_focused()
    page.keyboard.press("Enter")
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "nightly-backup":
            break
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="nightly-backup")).to_be_visible()
    expect(page.get_by_role("main")).to_be_focused()
    for _ in range(6):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "Pause":
            break
    page.keyboard.press("Enter")
    expect(page.get_by_label("Reason")).to_be_focused()
    page.keyboard.type("by hand")
    page.keyboard.press("Enter")
    expect(page.locator(".note")).to_contain_text("by hand")
    assert town.world.stored("nightly-backup").paused_at is not None


@pytest.mark.parametrize(("screen", "title"), [("overview", "Overview"), ("jobs", "Jobs")])
def test_a_screen_is_painted_before_the_api_has_answered_any_call(
    open_console: Open, town: Town, screen: str, title: str
) -> None:
    page = open_console().page
    held: list[Route] = []

    def hold_the_first(route: Route) -> None:
        if held:
            route.continue_()
        else:
            held.append(route)

    page.route("**/v1/**", hold_the_first)
    with page.expect_request("**/v1/me"):
        page.goto(f"{town.server.url}/console#/ns/{screen}")
    expect(page.get_by_role("heading", name=title)).to_be_visible()
    expect(page.get_by_role("link", name="Failures")).to_be_visible()
    expect(page.get_by_role("link", name="Keys")).to_have_count(0)
    assert page.evaluate(FIRST_PAINT) == "first-contentful-paint"
    assert [call for call in town.server.calls() if "/v1/" in call] == []
    assert held[0].request.url == f"{town.server.url}/v1/me"
    held[0].continue_()
    expect(page.get_by_role("link", name="Keys")).to_be_visible()
    expect(page.locator(".loading")).to_have_count(0)
