"""How soon the console of a stack with 10,000 jobs is painted, and how soon it shows what it asks for."""

import os
from collections.abc import Mapping
from statistics import median
from typing import Final

from infra.bench.report import Cell, Figure, Report
from infra.chromium import INSTALL, found, running
from infra.local import dev
from infra.local.client import write_jobs
from playwright.sync_api import Browser

_JOBS: Final = 10_000
_NAMESPACE: Final = "bench"
_OPENED: Final = 9

#: The aim for the first paint, in ms.
_PAINTED_MS: Final = 200

_SCREENS: Final = {"jobs": "jobs", "overview": "overview", "a job": "jobs/job-00042"}

#: The time of the first paint with an element, and of now, in ms since the page was asked for.
_TIMES: Final = (
    "() => [performance.getEntriesByName('first-contentful-paint')[0].startTime, performance.now()]"
)


def measure() -> Report:
    """Open screens of `sweephand dev` in Chromium, each in a browser context that has no file of it yet."""
    program = found()
    if program is None:
        return Report("The console", [{"screen": "not measured"}], (f"Chromium is not installed: {INSTALL}",))
    with dev.running() as stack, running(program) as browser:
        target = {"type": "http", "url": "https://consumer.example/hook"}
        jobs = [
            {"name": f"job-{number:05}", "schedule": "0 0 1 1 *", "target": target} for number in range(_JOBS)
        ]
        write_jobs(stack.client, _NAMESPACE, jobs)
        key = stack.client.api_key or ""
        rows = [_row(browser, stack.client.api_url, key, name, screen) for name, screen in _SCREENS.items()]
    return Report(
        title=f"The console over {_JOBS} jobs of `sweephand dev`, median of {_OPENED} openings",
        rows=rows,
        notes=(
            "Painted: the first paint with an element in it. Shown: all that the screen asks for.",
            f"{os.cpu_count()} cores, load {os.getloadavg()[2]:.0f} over the last fifteen minutes.",
        ),
    )


def _row(browser: Browser, url: str, key: str, name: str, screen: str) -> Mapping[str, Cell]:
    times = [_opened(browser, url, key, screen) for _ in range(_OPENED)]
    painted, shown, calls = (median(each) for each in zip(*times, strict=True))
    return {
        "screen": name,
        "painted ms": Figure(painted, 0, _PAINTED_MS),
        "shown ms": Figure(shown, 0),
        "calls": Figure(calls, 0),
    }


def _opened(browser: Browser, url: str, key: str, screen: str) -> tuple[float, float, int]:
    """When the screen was painted and when it was complete, in ms, and how many calls it made."""
    with browser.new_context() as context:
        page = context.new_page()
        calls: list[str] = []
        page.on("request", lambda request: calls.append(request.url) if "/v1/" in request.url else None)
        page.add_init_script(f"sessionStorage.setItem('sweephand-key', '{key}')")
        page.goto(f"{url}/console#/{_NAMESPACE}/{screen}")
        page.wait_for_selector("main h1")
        page.wait_for_selector(".loading", state="detached")
        painted, shown = page.evaluate(_TIMES)
        return painted, shown, len(calls)
