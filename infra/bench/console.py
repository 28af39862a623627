"""How fast the console shows a namespace with many jobs, on a deployed local stack and in Chromium."""

import os
from collections.abc import Mapping, Sequence
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

#: A namespace of the same stack with so few jobs that they are no work. Its screens are visited in turn with
#: those of the other, so both share what else the machine does.
_SMALL: Final = "few"
_FEW: Final = 10

#: The aim of the design for the first paint. The other figures are held against it, too.
_AIM_S: Final = 1.0

#: Each visit has a browser without any file of the console.
_VISITS: Final = 3

_WAIT_MS: Final = 60_000

#: What is painted in so much time after the first rows can be the largest element.
_AFTER_MS: Final = 1_000


class Screen(NamedTuple):
    """A screen of a namespace, and what it shows first of the jobs: that comes with an answer of the API."""

    path: str
    first: str


SCREENS: Final[Mapping[str, Screen]] = {
    "Overview": Screen("overview", ".heat li"),
    "Jobs": Screen("jobs", "td.name"),
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


class Shown(NamedTuple):
    """Seconds from the beginning of a visit to the first paint, the first rows and the largest paint."""

    paint_s: float
    rows_s: float
    largest_s: float


class Visits(NamedTuple):
    """What was seen of a screen in the namespace with many jobs, and in the one with few."""

    many: list[Shown]
    few: list[Shown]


def measure(place: Place, jobs: int = JOBS) -> Report | str:
    """Start a stack of its own, store jobs in it, visit each screen some times, and end it."""
    why = browser.missing()
    if why is not None:
        return why
    described = stack.up(place, say=lambda text: print(f"  {text}", flush=True))
    try:
        with Client.of(described) as client:
            fill(client, _NAMESPACE, jobs)
            fill(client, _SMALL, _FEW)
        with browser.chromium() as chromium:
            shown = {name: _visits(chromium, described, screen) for name, screen in SCREENS.items()}
    finally:
        stack.down(place)
    return report(jobs, shown)


def _visits(chromium: Browser, described: Mapping[str, Any], screen: Screen) -> Visits:
    """Visits to the namespace with many jobs and to the other one, in turn."""
    visits = Visits([], [])
    for _ in range(_VISITS):
        visits.few.append(visit(chromium, described, _SMALL, screen))
        visits.many.append(visit(chromium, described, _NAMESPACE, screen))
    return visits


def fill(client: Client, namespace: str, jobs: int) -> None:
    """Store so many jobs in a namespace. Every tenth falls due tomorrow, so there is a forecast."""
    target = {"type": "http", "url": "https://example.com/hook"}
    written = [
        {"name": f"job-{number:05}", "dueTime": "20h" if number % 10 == 0 else "9000h", "target": target}
        for number in range(jobs)
    ]
    write_jobs(client, namespace, written)


def visit(chromium: Browser, described: Mapping[str, Any], namespace: str, screen: Screen) -> Shown:
    """What a new browser sees that opens a screen of a namespace, signed in.

    It stays until the screen's calls are answered. The functions would otherwise still answer them while the
    next visit begins.
    """
    context = chromium.new_context()
    try:
        page = context.new_page()
        page.set_default_timeout(_WAIT_MS)
        before = _BEFORE.replace("KEY", repr(described["apiKey"])).replace("FIRST", repr(screen.first))
        page.add_init_script(before)
        page.goto(f"{described['apiUrl']}/console#/{namespace}/{screen.path}")
        # The page's policy forbids what wait_for_function() does.
        page.wait_for_selector(screen.first, state="attached")
        shown = _read(page)
        page.wait_for_load_state("networkidle")
        return shown
    finally:
        context.close()


def _read(page: Page) -> Shown:
    page.wait_for_timeout(_AFTER_MS)
    seen = page.evaluate(_READ)
    # Rows that are in the page before anything is painted show with the first paint.
    rows_ms = max(seen["rows"], seen["paint"])
    return Shown(seen["paint"] / 1_000, rows_ms / 1_000, seen["largest"] / 1_000)


def report(jobs: int, shown: Mapping[str, Visits]) -> Report:
    """The medians of all visits, held against the aim, and how they compare with a namespace of few jobs."""
    medians = {name: (_median(visits.many), _median(visits.few)) for name, visits in shown.items()}
    rows = [
        [
            name,
            *(against(value, _AIM_S) for value in many),
            *(f"{value:.2f}" for value in few),
            f"{many.paint_s / few.paint_s:.2f}",
        ]
        for name, (many, few) in medians.items()
    ]
    figures = {name: {**_figures(many), "few": _figures(few)} for name, (many, few) in medians.items()}
    few_jobs = f"with {_FEW}"
    return Report(
        f"The console with {jobs:,} jobs",
        [
            "s, median of the visits",
            *("first paint", "first rows", "largest paint"),
            *(f"first paint {few_jobs}", f"first rows {few_jobs}", f"largest paint {few_jobs}"),
            "ratio of first paints",
        ],
        rows,
        figures,
        all(is_within(value, _AIM_S) for many, _ in medians.values() for value in many),
        [f"{_VISITS} visits by a new browser each, at a load of {os.getloadavg()[0]:.0f}."],
    )


def _median(visits: Sequence[Shown]) -> Shown:
    return Shown(*(median(values) for values in zip(*visits, strict=True)))


def _figures(shown: Shown) -> dict[str, float]:
    return {"paintS": shown.paint_s, "rowsS": shown.rows_s, "largestS": shown.largest_s}
