"""Tests in simulated time: how soon the first one is over, what a later one takes, and weeks of a busy job.

A process measures itself, so that its imports and its collector are those of a test.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Final

from infra.bench.report import Cell, Figure, Report
from infra.local.dev import own_environment
from infra.local.places import ROOT

#: The aims: the first test and the weeks in seconds, a later test in milliseconds.
_FIRST_S: Final = 2
_LATER_MS: Final = 50
_WEEKS_S: Final = 20

_STARTS: Final = 5

_CHILD: Final = "infra.bench.simulated_tests"


def measure() -> Report:
    """Measure the CPU of each kind of test."""
    firsts = [_run("first")[0] for _ in range(_STARTS)]
    later_ms = _run("later")
    weeks_s, runs = _run("weeks")
    rows = [
        _row("first test of a process, s", Figure(median(firsts), 2, _FIRST_S), 21),
        _row("later test, ms", Figure(median(later_ms), 0, _LATER_MS), 21),
        _row("three weeks of a job each minute, s", Figure(weeks_s, 1, _WEEKS_S), int(runs)),
    ]
    notes = (
        "First and later tests: three weeks of a nightly job that fails twice.",
        f"The first is the median of {_STARTS}, and the later one that of {len(later_ms)}.",
        f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.0f} over the last minute.",
    )
    return Report("Tests in simulated time", rows, notes)


def _row(what: str, cpu: Figure, runs: int) -> Mapping[str, Cell]:
    return {"what": what, "CPU": cpu, "runs": runs}


def _run(part: str) -> Sequence[float]:
    """The figures that a process prints."""
    command = [sys.executable, "-m", _CHILD, part]
    ended = subprocess.run(command, cwd=ROOT, env=own_environment(), check=True, stdout=subprocess.PIPE)
    figures: list[float] = json.loads(ended.stdout)
    return figures
