"""The console in Chromium, on the API of a world in memory behind a server on loopback.

No test may break the content security policy of the page, and no script of the page may fail.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, Route, ViewportSize
from tests.contract.builders import admin_change
from tests.fakes.chromium import PATIENCE_MS
from tests.fakes.http_events import ONE_REQUEST, TARGET
from tests.fakes.http_events import Client as Api
from tests.fakes.http_server import Server, serving
from tests.fakes.policies import nobody_serves
from tests.fakes.world import World

from sweephand.base.instants import HOUR_MS, MINUTE_MS, SECOND_MS
from sweephand.model.api_key import Key
from sweephand.model.attempt import Answer, Attempt
from sweephand.model.timer import Heartbeat

#: Where the screenshots are. A person looks at them before a change of the console lands.
SCREENSHOTS: Final = Path(__file__).parents[3] / "build" / "console"

WIDE: Final[ViewportSize] = {"width": 1280, "height": 860}
NARROW: Final[ViewportSize] = {"width": 390, "height": 844}

#: A name and a text that would be a script if the console did not show them as text.
SCRIPT: Final = "<img src=x onerror='document.title=`taken`'><script>document.title='taken'</script>"

#: Signs in before the first page of a tab. A later page finds what the tab has kept.
_SIGNED_IN: Final = """
    if (!sessionStorage.getItem("begun")) sessionStorage.setItem("sweephand-key", "KEY");
    sessionStorage.setItem("begun", "true");
"""

#: What a browser logs of an answer that is a refusal. The console shows it in words.
_REFUSAL: Final = "Failed to load resource"


@dataclass
class Town:
    """A world with jobs, behind its server."""

    world: World
    api: Api
    server: Server

    def put(self, name: str, **job: Any) -> None:
        """Write a job of the namespace `ns`."""
        answer = self.api.put(name, {"target": TARGET, **job})
        assert answer.status in (200, 201), answer.text

    def put_mail_out(self, hours: int, **job: Any) -> None:
        """Write the job `mail-out` with a batch in each hour. Let so many hours go by, and five minutes."""
        hourly = {
            "schedule": "@every 1h",
            "timezone": "Europe/Paris",
            "batch": {"count": 40, "window": "20m"},
        }
        self.put("mail-out", **{**hourly, **job})
        self.let_pass(hours * HOUR_MS + 5 * MINUTE_MS)

    def let_pass(self, time_ms: int, *, ticking: bool = True) -> None:
        """Let so much time go by. Meanwhile the API answers no screen that is open already."""
        with ONE_REQUEST:
            self.world.run_until(self.world.clock.time + time_ms, ticking=ticking)

    def furnish(self) -> None:
        """Write something for each screen, so that none is empty. Triggers of two teams wait."""
        for path, body in (
            ("calendars/fr", {"holidays": [{"country": "FR"}]}),
            ("windows/maintenance", {"schedule": "0 1 * * *", "duration": "2h", "labels": {"team": "ops"}}),
            ("secrets/api-token", {"value": "Bearer 3f9c1d"}),
            ("policies/tenants", {"maxConcurrent": 1, "by": "label:team"}),
        ):
            assert self.api.send("PUT", f"/v1/namespaces/ns/{path}", body).status == 201
        with nobody_serves(self.world):
            for team in ("ops", "growth"):
                self.put(f"waits-{team}", schedule="@every 10s", labels={"team": team}, policy="tenants")
                self.let_pass(20 * SECOND_MS)
        self.world.leases.beat(Heartbeat(self.world.clock.now()))

    def put_policies(self, count: int) -> None:
        """Write so many policies besides `mailer`. By name they come after it."""
        for number in range(count):
            url = f"/v1/namespaces/ns/policies/partner-{number:02}"
            assert self.api.send("PUT", url, {"maxConcurrent": 1}).status == 201


@dataclass
class Console:
    """A page of the console, signed in by one key, from `opened_at` on by its own clock."""

    page: Page
    url: str
    opened_at: int
    complaints: list[str] = field(default_factory=list)
    loads: int = 0

    def show(self, screen: str) -> Page:
        """Load a screen, such as `ns/jobs`, and wait until it has what it shows.

        Another query makes another document, so nothing of the screen before is taken for this one.
        """
        self.loads += 1
        self.page.goto(f"{self.url}/console?{self.loads}#/{screen}")
        self.page.wait_for_selector("main h1")
        self.page.wait_for_selector(".loading", state="detached")
        return self.page

    def take_clock(self) -> None:
        """Let the clock of the page run, so that a test can move it. Called before the first screen."""
        self.page.clock.install(time=self.opened_at / SECOND_MS)

    def shoot(self, name: str) -> None:
        """Keep a screenshot of the whole screen, at the width that it has."""
        size = self.page.viewport_size
        assert size is not None
        self.page.screenshot(path=SCREENSHOTS / f"{name}-{size['width']}.png", full_page=True)


def hold_the_first(page: Page, pattern: str) -> list[Route]:
    """Let the first request of a pattern wait for its answer. The list gets all of them."""
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)
        if len(held) > 1:
            route.continue_()

    page.route(pattern, hold)
    return held


def serious_barriers(page: Page) -> list[Any]:
    """What a screen reader, a keyboard or weak eyes would fail at, as axe-core reports it.

    axe-core describes violations alone. To describe what is right takes it as long again.
    """
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [each for each in found if each["impact"] in ("serious", "critical")]


@pytest.fixture
def town() -> Iterator[Town]:
    """A stack that ticks, with three jobs: one is paused, one has failed runs, and one is of another zone."""
    world = World()
    world.flow_functions_max = 5
    world.limits_namespaces = True
    world.counts_deliveries = True
    api = Api(world)

    def refusing(attempt: Attempt) -> Answer:
        if attempt.trigger.key.name != "failing":
            return Answer(succeeded=True, code=204)
        return Answer(succeeded=False, is_final=True, code=422, text=SCRIPT)

    world.consumers.answering = refusing
    with serving(api) as server:
        town = Town(world, api, server)
        town.put("failing", schedule="@every 1h", description=SCRIPT, labels={"team": "ops"})
        about = {"description": "Nightly backup of the orders database", "labels": {"team": "ops"}}
        when = {"schedule": "0 30 2 * * *", "timezone": "Europe/Paris"}
        town.put("nightly-backup", **when, **about, data={"task": "db-backup"})
        town.put("digest", schedule="@every 10m", labels={"team": "growth"})
        api.keys.put(Key("k0", "0" * 64, "ns", "read", 0, description="for the dashboard"), admin_change())
        api.send("PUT", "/v1/namespaces/ns/policies/mailer", {"maxConcurrent": 5})
        api.send("POST", "/v1/namespaces/ns/jobs/digest/pause", {"reason": SCRIPT})
        world.run_until(world.clock.time + 3 * HOUR_MS + 5_000)
        world.leases.beat(Heartbeat(world.clock.now()))
        yield town


@pytest.fixture
def open_console(browser: Browser, town: Town) -> Iterator[Callable[..., Console]]:
    """Opens the console in a tab of its own. After the test no complaint of the browser may be left.

    With a key, the tab is empty until the test shows a screen. So a test may answer the first calls itself.
    Without a key, the tab shows the sign-in.
    """
    opened: list[Console] = []

    def open_one(
        key: str | None = "sh_admin",
        zone: str = "Europe/Paris",
        size: ViewportSize = WIDE,
        scheme: Any = "light",
    ) -> Console:
        context = browser.new_context(viewport=size, timezone_id=zone, color_scheme=scheme, locale="en-GB")
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        console = Console(page, town.server.url, town.world.clock.time)
        opened.append(console)

        def heard(message: ConsoleMessage) -> None:
            if message.type in ("error", "warning") and _REFUSAL not in message.text:
                console.complaints.append(message.text)

        def failed(error: Error) -> None:
            console.complaints.append(str(error))

        page.on("console", heard)
        page.on("pageerror", failed)
        page.clock.set_fixed_time(console.opened_at / SECOND_MS)
        if key is None:
            page.goto(f"{town.server.url}/console")
        else:
            page.add_init_script(_SIGNED_IN.replace("KEY", key))
        return console

    yield open_one
    for console in opened:
        console.page.context.close()
    assert [each for console in opened for each in console.complaints] == []
