"""How fast the console shows a namespace with many jobs, on a deployed local stack and in Chromium."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Final, NamedTuple

from infra.bench import browser
from infra.bench.bulk import write_jobs
from infra.bench.report import Report, against, is_within
from infra.local import stack
from infra.local.client import Client
from infra.local.places import Place
from playwright.sync_api import Browser, Page

JOBS: Final = 10_000

_NAMESPACE: Final = "many"

#: The aim of the design for the first paint. The other figures are held against it, too.
_AIM_S: Final = 1.0

#: Each visit has a browser without any file of the console.
_VISITS: Final = 3

_WAIT_MS: Final = 60_000

#: What is painted in so much time after the first rows can be the largest element.
_AFTER_MS: Final = 1_000


class Screen(NamedTuple):
    """A screen, and what it shows first of the jobs: that appears with an answer of the API."""

    path: str
    first: str


SCREENS: Final[Mapping[str, Screen]] = {
    "Overview": Screen(f"{_NAMESPACE}/overview", ".heat li"),
    "Jobs": Screen(f"{_NAMESPACE}/jobs", "td.name"),
}

#: Signs in before the page begins, and notes when the first rows are there and what was painted last.
_BEFORE: Final = """
    sessionStorage.setItem("sweephand-key", KEY);
    window.seen = { rows: null, largest: null };
    new MutationObserver(() => {
        if (window.seen.rows === null && document.querySelector(FIRST)) window.seen.rows = performance.now();
    }).observe(document, { childList: true, subtree: true });
    new PerformanceObserver((list) => {
        for (const each of list.getEntries()) window.seen.largest = each.startTime;
    }).observe({ type: "largest-contentful-paint", buffered: true });
"""

_READ: Final = """() => ({
    paint: performance.getEntriesByName("first-contentful-paint")[0].startTime, ...window.seen,
})"""


@dataclass(frozen=True, slots=True)
class Shown:
    """Seconds from the beginning of a visit to the first paint, the first rows and the largest paint."""

    paint_s: float
    rows_s: float
    largest_s: float


def measure(place: Place, jobs: int = JOBS) -> Report | str:
    """Start a stack of its own, store jobs in it, visit each screen some times, and end it."""
    why = browser.missing()
    if why is not None:
        return why
    described = stack.up(place, say=lambda text: print(f"  {text}", flush=True))
    try:
        with Client.of(described) as client:
            fill(client, jobs)
        with browser.chromium() as chromium:
            shown = {
                name: [visit(chromium, described, screen) for _ in range(_VISITS)]
                for name, screen in SCREENS.items()
            }
    finally:
        stack.down(place)
    return report(jobs, shown)


def fill(client: Client, jobs: int) -> None:
    """Store so many jobs. Every tenth falls due tomorrow, so that there is a forecast, and none before."""
    target = {"type": "http", "url": "https://example.com/hook"}
    written = [
        {"name": f"job-{number:05}", "dueTime": "20h" if number % 10 == 0 else "9000h", "target": target}
        for number in range(jobs)
    ]
    write_jobs(client, _NAMESPACE, written)


def visit(chromium: Browser, described: Mapping[str, Any], screen: Screen) -> Shown:
    """What a new browser sees that opens a screen, signed in."""
    context = chromium.new_context()
    try:
        page = context.new_page()
        page.set_default_timeout(_WAIT_MS)
        before = _BEFORE.replace("KEY", repr(described["apiKey"])).replace("FIRST", repr(screen.first))
        page.add_init_script(before)
        page.goto(f"{described['apiUrl']}/console#/{screen.path}")
        # The page's policy forbids what wait_for_function() does.
        page.wait_for_selector(screen.first, state="attached")
        return _read(page)
    finally:
        context.close()


def _read(page: Page) -> Shown:
    page.wait_for_timeout(_AFTER_MS)
    seen = page.evaluate(_READ)
    # Rows that are in the page before anything is painted show with the first paint.
    rows_ms = max(seen["rows"], seen["paint"])
    return Shown(seen["paint"] / 1_000, rows_ms / 1_000, seen["largest"] / 1_000)


def report(jobs: int, shown: Mapping[str, Sequence[Shown]]) -> Report:
    """The medians of all visits, held against the aim."""
    medians = {
        name: Shown(
            median(each.paint_s for each in visits),
            median(each.rows_s for each in visits),
            median(each.largest_s for each in visits),
        )
        for name, visits in shown.items()
    }
    rows = [
        [name, *(against(value, _AIM_S) for value in (each.paint_s, each.rows_s, each.largest_s))]
        for name, each in medians.items()
    ]
    values = [value for each in medians.values() for value in (each.paint_s, each.rows_s, each.largest_s)]
    figures = {
        name: {"paintS": each.paint_s, "rowsS": each.rows_s, "largestS": each.largest_s}
        for name, each in medians.items()
    }
    return Report(
        f"The console with {jobs:,} jobs",
        ["s, median of the visits", "first paint", "first rows", "largest paint"],
        rows,
        figures,
        all(is_within(value, _AIM_S) for value in values),
        [f"{_VISITS} visits by a new browser each, at a load of {os.getloadavg()[0]:.0f}."],
    )
