"""docs/shootout.md: the text of page.md, with tables and a plot of the results."""

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from infra.local.places import ROOT
from infra.shootout.results import Record, Result, summary

PAGE: Final = ROOT / "docs" / "shootout.md"
_TEXT: Final = Path(__file__).with_name("page.md")

_PUNCTUAL: Final = ("owed", "lost", "early", "twice", "p50 ms", "p99 ms", "max ms")

#: The peer that the others are compared with, and the figures by which they may be ahead of it.
_OURS: Final = "sweephand-file"
_COMPARED: Final = (
    ("oneoffs", "p50 ms", "p50 of one-offs"),
    ("oneoffs", "p99 ms", "p99 of one-offs"),
    ("instant-1000", "max ms", "last of 1,000 at one instant"),
    ("instant-10000", "max ms", "last of 10,000 at one instant"),
    ("recurring", "p99 ms", "p99 of recurring jobs"),
    ("oneoffs", "created/s", "created per second"),
    ("instant-10000", "stored MB", "memory with 10,000 stored"),
)
_MORE_IS_BETTER: Final = frozenset({"created/s"})


def write(record: Record) -> None:
    """Write the page anew."""
    PAGE.write_text(rendered(record), encoding="utf-8")


def rendered(record: Record) -> str:
    """The text of the page."""
    found = summary(record.results)
    scenarios = sorted({scenario for _, scenario in found}, key=_order)
    tables = {
        name: _scenario(found, [each for each in scenarios if each.partition("-")[0] == name])
        for name in ("oneoffs", "instant", "recurring", "kill", "freeze", "outage", "clock", "eventbridge")
    }
    texts = {
        **tables,
        "peers": _peers(record),
        "plot": _plot(found, "oneoffs", "p99 ms", "p99 of one-offs in ms"),
        "capacity": _capacity(found),
        "ahead": _ahead(found),
        "machine": "{cores} cores, {system}, load {load} over fifteen minutes, {date}".format_map(
            record.machine
        )
        if record.machine
        else "not measured yet",
    }
    return _TEXT.read_text(encoding="utf-8").format_map(texts)


def _order(scenario: str) -> tuple[str, int]:
    name, _, count = scenario.partition("-")
    return name, int(count or 0)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def _peers(record: Record) -> str:
    return _table(
        ("name", "versions", "setting", "delivers by"),
        [
            [f"`{name}`", _versions(each["versions"]), each["setting"], each["delivers"]]
            for name, each in record.peers.items()
        ],
    )


def _versions(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def _scenario(found: Mapping[tuple[str, str], Result], scenarios: Sequence[str]) -> str:
    """A table of these scenarios, with a list of those who have no figures in them."""
    results = [each for name in scenarios for each in found.values() if each.scenario == name]
    several = len(scenarios) > 1
    told = [each for each in results if each.figures]
    missing = [
        f"- `{each.peer}`{_which(each) if several else ''}: {each.why}."
        for each in results
        if not each.figures
    ]
    rows = [
        [*([f"{int(each.scenario.partition('-')[2]):,}"] if several else []), f"`{each.peer}`"]
        + [_cell(each, name) for name in _PUNCTUAL]
        for each in told
    ]
    head = [*(["at once"] if several else []), "scheduler", *_PUNCTUAL]
    tables = [_table(head, rows)] if rows else ["Not measured yet."]
    return "\n\n".join(tables + (["\n".join(missing)] if missing else []))


def _which(result: Result) -> str:
    return f", {int(result.scenario.partition('-')[2]):,}"


def _cell(result: Result, name: str) -> str:
    return f"{result.figures[name]:,.0f}" if name in result.figures else ""


def _capacity(found: Mapping[tuple[str, str], Result]) -> str:
    """How many one-offs a scheduler takes in a second, and its memory."""
    rows = []
    for peer in dict.fromkeys(peer for peer, _ in found):
        results = [
            each for (name, scenario), each in found.items() if name == peer and scenario != "recurring"
        ]
        cells = [
            next((_cell(each, name) for each in reversed(results) if name in each.figures), "")
            for name in ("created/s", "idle MB", "stored MB")
        ]
        if any(cells):
            rows.append([f"`{peer}`", *cells])
    return _table(("scheduler", "created a second", "idle MB", "stored MB"), rows)


def _plot(found: Mapping[tuple[str, str], Result], scenario: str, figure: str, title: str) -> str:
    """A bar for each scheduler, the shortest first. A bar that is ten times as long as the median is cut."""
    pairs = sorted(
        (each.figures[figure], each.peer)
        for each in found.values()
        if each.scenario == scenario and figure in each.figures
    )
    if not pairs:
        return "Not measured yet."
    highest = min(pairs[-1][0], 10 * pairs[len(pairs) // 2][0]) or 1
    names = ", ".join(f'"{peer}"' for _, peer in pairs)
    bars = ", ".join(f"{min(value, highest):.0f}" for value, _ in pairs)
    return (
        f'```mermaid\nxychart-beta horizontal\n    title "{title}"\n    x-axis [{names}]\n'
        f'    y-axis "ms" 0 --> {highest:.0f}\n    bar [{bars}]\n```'
    )


def _ahead(found: Mapping[tuple[str, str], Result]) -> str:
    """For each figure, who is better than Sweephand with a file in this run."""
    lines = []
    for scenario, figure, words in _COMPARED:
        ours = found.get((_OURS, scenario))
        if ours is None or figure not in ours.figures:
            continue
        own = ours.figures[figure]
        sign = -1 if figure in _MORE_IS_BETTER else 1
        ahead = sorted(
            (each.figures[figure], each.peer)
            for each in found.values()
            if each.scenario == scenario and sign * each.figures.get(figure, sign * math.inf) < sign * own
        )
        shown = ", ".join(f"`{peer}` {value:,.0f}" for value, peer in ahead) or "nobody"
        lines.append([words, f"{own:,.0f}", shown])
    return _table(("figure", f"`{_OURS}`", "ahead of it"), lines)
