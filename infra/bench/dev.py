"""`sweephand dev`: how soon it delivers first, how punctual it is, and what `kill -9` loses.

The consumer runs in the measuring process.
"""

import os
import resource
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, Final

import urllib3
from infra.bench.consumer import Arrival, Consumer
from infra.bench.punctuality import judge
from infra.bench.report import Cell, Figure, Report
from infra.dist import pack
from infra.local.client import Client, write_jobs
from infra.local.dev import running
from infra.local.installed import Installed

from sweephand.base.instants import SECOND_MS, rfc3339

#: The aims, in ms and in seconds.
_FIRST_S: Final = 3
_INSTALLED_S: Final = 30
_AT_ONCE_MS: Final = {"memory": 800, "file": 1_500}
_SPREAD_MS: Final = 20

_STARTS: Final = 5
_AT_ONCE: Final = 1_000
_SPREAD: Final = 2_000
_SPREAD_S: Final = 30
_KILLS: Final = 50

#: The first job is due so long after the bench begins to write jobs.
_LEAD_S: Final = 15

#: What is late is waited for so long.
_PATIENCE_S: Final = 30

#: How long a process writes jobs before it is killed, and in how many threads.
_LOAD_S: Final = 0.5
_WRITERS: Final = 4


def measure() -> Report:
    """Measure each part, in memory and with a file."""
    at_once = [0] * _AT_ONCE
    spread = [number * _SPREAD_S * SECOND_MS // _SPREAD for number in range(_SPREAD)]
    rows: list[Mapping[str, Cell]] = []
    with tempfile.TemporaryDirectory() as folder:
        rows.append(_first_of_wheel(Path(folder)))
        for kind, store in (("memory", None), ("file", Path(folder, "store"))):
            starts = [_first_s(store) for _ in range(_STARTS)]
            first_s, cpu_s = (median(each) for each in zip(*starts, strict=True))
            first = {"s": Figure(first_s, 2, _FIRST_S), "CPU s": Figure(cpu_s, 2)}
            rows.append({"what": f"first delivery after the start, {kind}", **first})
            most_ms = _AT_ONCE_MS[kind]
            rows.append(_punctual(f"{_AT_ONCE} at one instant, {kind}", store, at_once, max_ms=most_ms))
            rows.append(_punctual(f"{_SPREAD} in {_SPREAD_S} s, {kind}", store, spread, p99_ms=_SPREAD_MS))
        rows.append(_killed(Path(folder, "killed")))
    notes = (
        f"The start is the median of {_STARTS}. CPU: of the whole process, from its start to its end.",
        f"{os.cpu_count()} cores, load {os.getloadavg()[2]:.0f} over the last fifteen minutes.",
    )
    return Report("`sweephand dev`", rows, notes)


def _first_of_wheel(folder: Path) -> Mapping[str, Cell]:
    """How long it takes from the wheel in an empty environment to the first delivery."""
    pack(folder)
    (wheel,) = folder.glob("*.whl")
    took: list[tuple[float, float]] = []
    for number in range(_STARTS):
        installed = Installed(folder / f"environment-{number}")
        began, before_s = time.monotonic(), _cpu_s()
        installed.install(f"{wheel}[dev]")
        _first_s(None, installed.sweephand)
        took.append((time.monotonic() - began, _cpu_s() - before_s))
    s, cpu_s = (median(each) for each in zip(*took, strict=True))
    what = f"from `pip install` to the first delivery, {installed.size() / 1e6:.0f} MB"
    return {"what": what, "s": Figure(s, 1, _INSTALLED_S), "CPU s": Figure(cpu_s, 1)}


def _first_s(store: Path | None, installed: Path | None = None) -> tuple[float, float]:
    """The seconds from the start to the first delivery, and the CPU seconds of the process."""
    before_s = _cpu_s()
    with Consumer() as consumer, running(store, installed=installed) as dev:
        target = {"type": "http", "url": consumer.url}
        dev.client.ask("PUT", "/v1/namespaces/bench/jobs/first", {"dueTime": "0s", "target": target})
        [arrival] = _wait_for(consumer, 1)
    return arrival.arrived_at / SECOND_MS - dev.began_at, _cpu_s() - before_s


def _cpu_s() -> float:
    """The CPU seconds of all processes that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _punctual(
    what: str,
    store: Path | None,
    after_ms: Sequence[int],
    *,
    max_ms: int | None = None,
    p99_ms: int | None = None,
) -> Mapping[str, Cell]:
    """How late jobs are that are due so long after one instant."""
    before_s = _cpu_s()
    with Consumer() as consumer, running(store) as dev:
        target = {"type": "http", "url": consumer.url}
        start_at = round(time.time() + _LEAD_S) * SECOND_MS
        due_at = {f"{start_at}-{number}": start_at + ms for number, ms in enumerate(after_ms)}
        jobs = [{"name": name, "dueTime": rfc3339(at), "target": target} for name, at in due_at.items()]
        write_jobs(dev.client, "bench", jobs)
        assert time.time() * SECOND_MS < start_at, "the jobs were not written in time"
        arrivals = _wait_for(consumer, len(jobs))
    found = judge(due_at, [(each.job, each.arrived_at) for each in arrivals])
    return {
        "what": what,
        "CPU s": Figure(_cpu_s() - before_s, 2),
        "owed": found.owed,
        "lost": Figure(found.lost, 0, 0),
        "early": Figure(found.early, 0, 0),
        "p50 ms": found.p50_ms,
        "p99 ms": Figure(found.p99_ms, 0, p99_ms),
        "max ms": Figure(found.max_ms, 0, max_ms),
    }


def _wait_for(consumer: Consumer, count: int) -> Sequence[Arrival]:
    deadline = time.monotonic() + _LEAD_S + _SPREAD_S + _PATIENCE_S
    while len(consumer.requests()) < count and time.monotonic() < deadline:
        time.sleep(0.01)
    return consumer.arrivals()


def _killed(store: Path) -> Mapping[str, Cell]:
    """Kill the process while threads write jobs, again and again, and count what it forgets."""
    written: set[str] = set()
    for kill in range(_KILLS):
        with running(store) as dev:
            writers = [Writer(dev.client, f"k{kill}-{number}") for number in range(_WRITERS)]
            time.sleep(_LOAD_S)
            dev.process.kill()
            for each in writers:
                each.join()
                written |= each.acknowledged
    with running(store) as dev:
        lost = written - set(names_of(dev.client))
    what = f"jobs acknowledged before {_KILLS} times `kill -9`"
    return {"what": what, "owed": len(written), "lost": Figure(len(lost), 0, 0)}


class Writer(threading.Thread):
    """Writes jobs one after the other until the process no longer answers.

    `acknowledged` are the names of those that were answered with 201.
    """

    def __init__(self, client: Client, prefix: str) -> None:
        super().__init__()
        self.acknowledged: set[str] = set()
        self._client = client
        self._prefix = prefix
        self.start()

    def run(self) -> None:
        """Write the jobs."""
        job: dict[str, Any] = {"dueTime": "1h", "target": {"type": "http", "url": "http://127.0.0.1:9/"}}
        while True:
            name = f"{self._prefix}-{len(self.acknowledged)}"
            try:
                answer = self._client.call("PUT", f"/v1/namespaces/bench/jobs/{name}", job)
            except urllib3.exceptions.HTTPError:
                return
            if answer.status == 201:  # noqa: PLR2004 - created
                self.acknowledged.add(name)


def names_of(client: Client) -> Iterator[str]:
    """The names of all jobs that writers have written."""
    after: str | None = ""
    while after is not None:
        page = client.ask("GET", f"/v1/namespaces/bench/jobs?limit=200{after}")
        yield from (each["name"] for each in page["items"])
        after = f"&cursor={page['nextCursor']}" if "nextCursor" in page else None
