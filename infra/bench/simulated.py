"""Simulated time: how soon the first test is over, what a later one takes, weeks of a busy job, a rehearsal.

A process measures itself, so that its imports and its collector are those of a test.
"""

import datetime as dt
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from statistics import median
from time import process_time
from typing import Final

from infra.bench.report import Cell, Figure, Report
from infra.local.dev import own_environment
from infra.local.places import ROOT

from sweephand_client.http import exact_json
from sweephand_client.tasks.jobs_file import read_jobs_file
from sweephand_engine.rehearsal.rehearse import read_options, rehearse_file

#: The aims: the first test and the weeks in seconds, a later test in milliseconds.
_FIRST_S: Final = 2
_LATER_MS: Final = 50
_WEEKS_S: Final = 20
#: The seconds of a rehearsal of thirty jobs over four weeks.
_REHEARSAL_S: Final = 15

_STARTS: Final = 5

_CHILD: Final = "infra.bench.simulated_tests"


def measure() -> Report:
    """Measure the CPU of each kind of test."""
    firsts = [_run("first")[0] for _ in range(_STARTS)]
    later_ms = _run("later")
    weeks_s, runs = _run("weeks")
    rehearsal_s, triggers = _rehearsal()
    rows = [
        _row("first test of a process, s", Figure(median(firsts), 2, _FIRST_S), 21),
        _row("later test, ms", Figure(median(later_ms), 0, _LATER_MS), 21),
        _row("three weeks of a job each minute, s", Figure(weeks_s, 1, _WEEKS_S), int(runs)),
        _row(
            "a rehearsal of 30 jobs over four weeks, s", Figure(rehearsal_s, 1, _REHEARSAL_S), int(triggers)
        ),
    ]
    notes = (
        "First and later tests: three weeks of a nightly job that fails twice.",
        f"The first is the median of {_STARTS}, and the later one that of {len(later_ms)}.",
        f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.0f} over the last minute.",
    )
    return Report("Tests in simulated time", rows, notes)


def _rehearsal() -> tuple[float, int]:
    """The CPU seconds of a rehearsal of thirty jobs over four weeks, and the number of its triggers.

    One job fires each minute, nine each hour, and twenty each night. The consumers are out for two hours.
    """
    schedules = ["* * * * *", *["0 * * * *"] * 9, *["30 2 * * *"] * 20]
    target = {"type": "http", "url": "https://consumer.test/"}
    jobs = [{"name": f"job-{at}", "schedule": each, "target": target} for at, each in enumerate(schedules)]
    text = exact_json.write({"jobs": jobs})
    options = read_options(
        weeks=4,
        since="2026-10-12T12:00:00Z",
        now=dt.datetime.now(dt.UTC),
        consumers=["p50=0.2s,p99=3s,fail=1%"],
        outage="2h",
        seed=0,
    )
    before = process_time()
    found = rehearse_file(read_jobs_file(text), text, "default", None, options)
    return process_time() - before, len(found.play.dues)


def _row(what: str, cpu: Figure, runs: int) -> Mapping[str, Cell]:
    return {"what": what, "CPU": cpu, "runs": runs}


def _run(part: str) -> Sequence[float]:
    """The figures that a process prints."""
    command = [sys.executable, "-m", _CHILD, part]
    ended = subprocess.run(command, cwd=ROOT, env=own_environment(), check=True, stdout=subprocess.PIPE)
    figures: list[float] = json.loads(ended.stdout)
    return figures
