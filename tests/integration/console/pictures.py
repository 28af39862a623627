"""The command that takes the pictures of README: `python -m tests.integration.console.pictures`.

It writes docs/images. The world and its clock are always the same, so only a change of the console changes a
picture.
"""

from typing import Any, Final

from playwright.sync_api import Page, ViewportSize
from tests.fakes.chromium import chromium
from tests.fakes.http_events import Client as Api
from tests.fakes.http_server import serving
from tests.fakes.world import World
from tests.integration.console.conftest import SCREENSHOTS

from sweephand.base.instants import HOUR_MS, MINUTE_MS, SECOND_MS
from sweephand.model.attempt import Answer, Attempt
from sweephand.model.timer import Heartbeat

IMAGES: Final = SCREENSHOTS.parents[1] / "docs" / "images"
SIZE: Final[ViewportSize] = {"width": 1040, "height": 660}

_HOOKS: Final = "https://example.com/hooks"

#: The jobs of the pictures.
JOBS: Final[dict[str, dict[str, Any]]] = {
    "nightly-backup": {
        "schedule": "0 30 2 * * *",
        "timezone": "Europe/Paris",
        "description": "Backup of the orders database",
        "labels": {"team": "ops"},
        "data": {"task": "db-backup"},
    },
    "invoice-reminders": {
        "schedule": "0 0 9 * * MON-FRI",
        "timezone": "America/New_York",
        "labels": {"team": "billing"},
        "policy": "mailer",
    },
    "mail-digest": {"schedule": "0 0 7 * * *", "timezone": "Asia/Tokyo", "labels": {"team": "growth"}},
    "partner-sync": {
        "schedule": "@every 5m",
        "description": "Pull the price lists of our partners",
        "labels": {"team": "growth"},
        "retry": {"maxAttempts": 1},
    },
    "status-poll": {
        "schedule": "0 */2 8-18 * * *",
        "timezone": "Europe/Paris",
        "labels": {"team": "ops"},
    },
    "order-4711-followup": {"dueTime": "2026-12-01T08:00:00Z", "labels": {"team": "billing"}},
}

#: The pictures: the screen of each, its colours, and the heading that is scrolled to, if any.
PICTURES: Final = {
    "overview": ("ns/overview", "light", None),
    "jobs": ("ns/jobs", "light", None),
    "job": ("ns/jobs/partner-sync", "dark", "Runs"),
    "editor": ("ns/jobs/nightly-backup/edit", "light", None),
}


def _answered(attempt: Attempt) -> Answer:
    if attempt.trigger.key.name == "partner-sync" and attempt.trigger.sequence % 11 in (2, 3, 4):
        return Answer(succeeded=False, code=503, text="The price list is being written.")
    return Answer(succeeded=True, code=204)


def town() -> Api:
    """A stack that has run for some hours, with a few jobs and policies."""
    world = World()
    world.flow_functions_max = 5
    world.counts_deliveries = True
    world.limits_namespaces = True
    world.consumers.answering = _answered
    api = Api(world)
    for name, limits in (
        ("mailer", {"maxConcurrent": 20}),
        ("partner", {"rate": {"limit": 100, "per": "1m"}}),
    ):
        assert api.send("PUT", f"/v1/namespaces/ns/policies/{name}", limits).status == 201
    for name, job in JOBS.items():
        target = {"type": "http", "url": f"{_HOOKS}/{name}"}
        assert api.put(name, {"target": target, **job}).status == 201, name
    api.send("POST", "/v1/namespaces/ns/jobs/mail-digest/pause", {"reason": "The provider is down"})
    world.run_until(world.clock.time + 4 * HOUR_MS + MINUTE_MS + 35 * SECOND_MS)
    world.leases.beat(Heartbeat(world.clock.time - 35 * SECOND_MS))
    return api


def take(page: Page, name: str, screen: str, heading: str | None, url: str) -> None:
    """Write the picture of a screen."""
    page.goto(f"{url}/console#/{screen}")
    page.wait_for_selector("main h1")
    page.wait_for_selector(".loading", state="detached")
    page.wait_for_load_state("networkidle")
    if heading is not None:
        top = page.get_by_role("heading", name=heading, exact=True).bounding_box()
        assert top is not None
        page.evaluate("y => scrollTo(0, y)", top["y"] - 80)
    page.screenshot(path=IMAGES / f"console-{name}.png")


def main() -> None:
    """Take all pictures."""
    api = town()
    with serving(api) as server, chromium() as browser:
        for name, (screen, scheme, heading) in PICTURES.items():
            context = browser.new_context(
                viewport=SIZE,
                timezone_id="Europe/Paris",
                color_scheme="dark" if scheme == "dark" else "light",
                locale="en-GB",
            )
            page = context.new_page()
            page.clock.set_fixed_time(api.world.clock.time / SECOND_MS)
            page.add_init_script('sessionStorage.setItem("sweephand-key", "sh_admin")')
            take(page, name, screen, heading, server.url)
            context.close()


if __name__ == "__main__":
    main()
