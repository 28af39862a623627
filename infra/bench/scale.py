"""Measures lists and an audit of many jobs, and a hundred namespaces beside one that is noisy."""

import statistics
from collections.abc import Mapping
from typing import Final

from infra.bench.function import alone
from infra.bench.many_jobs import LATENCY_MS, Found, audited, listed
from infra.bench.noisy import NOISY, lateness
from infra.bench.report import Cell, Figure, Report

_LISTED: Final = 10_000
_AUDITED: Final = 14_000
_ROUNDS: Final = 3

#: The most seconds of a list and of an audit.
_AIM_S: Final = 1

#: The limit of the noisy namespace.
_PER_MINUTE: Final = 600


def measure() -> Report:
    """List and audit in processes of their own, and then measure lateness."""
    rows = [
        _row("a list by label", alone(listed, _LISTED, _ROUNDS, label="team:ops")),
        _row("a list by a part of the name", alone(listed, _LISTED, _ROUNDS, contains="777")),
        _row("an audit", alone(audited, _AUDITED, _ROUNDS)),
        lateness("99 namespaces alone", 0),
        lateness(f"beside {NOISY:,} at once, {_PER_MINUTE} a minute", NOISY, _PER_MINUTE),
        lateness(f"beside {NOISY:,} at once", NOISY),
    ]
    return Report(
        title=f"Lists of {_LISTED:,} jobs, an audit of {_AUDITED:,}, and a noisy namespace",
        rows=rows,
        notes=(
            f"DynamoDB answers beneath boto3 after {LATENCY_MS} ms. Medians of {_ROUNDS} by the handler.",
            "RRU: by the sizes of the items that each request looks at.",
            "Lateness: `sweephand dev` in memory; 1,980 one-offs of 99 namespaces over 30 s.",
        ),
    )


def _row(what: str, found: Found) -> Mapping[str, Cell]:
    return {
        "what": what,
        "found": found.found,
        "calls": found.calls,
        "requests": sum(found.requests.values()),
        "RRU": Figure(found.rru, 0),
        f"s at {LATENCY_MS} ms": Figure(statistics.median(found.seconds), 2, _AIM_S),
        "CPU s": Figure(found.cpu_s, 2),
    }
