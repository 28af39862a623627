"""How late the jobs of 99 namespaces are in `sweephand dev`, alone and beside a noisy namespace."""

import time
from collections.abc import Mapping
from typing import Final

from infra.bench.consumer import Consumer
from infra.bench.punctuality import judge
from infra.bench.report import Cell, Figure
from infra.local.client import write_jobs
from infra.local.dev import running

from sweephand.base.instants import SECOND_MS, rfc3339

#: The namespaces that are measured, and the jobs of each. They are due in turn over so many seconds.
_QUIET: Final = 99
_JOBS_EACH: Final = 20
_SPREAD_S: Final = 30

#: Jobs of the noisy namespace are all due at once, so many seconds after the first quiet one.
NOISY: Final = 3_000
_NOISY_AT_S: Final = 5

#: The first job is due so long after the bench begins to write jobs. What is late is waited for so long.
_LEAD_S: Final = 45
_PATIENCE_S: Final = 30


def lateness(what: str, noisy: int, per_minute: int | None = None) -> Mapping[str, Cell]:
    """The lateness of the quiet jobs. The noisy namespace may have a limit of triggers a minute."""
    with Consumer() as consumer, running() as dev:
        target = {"type": "http", "url": consumer.url}
        if per_minute is not None:
            dev.client.ask("PUT", "/v1/namespaces/noisy", {"limits": {"triggersPerMinute": per_minute}})
        start_at = round(time.time() + _LEAD_S) * SECOND_MS
        jobs = _QUIET * _JOBS_EACH
        due_at = {
            f"quiet-{number}": start_at + number * _SPREAD_S * SECOND_MS // jobs for number in range(jobs)
        }
        for tenant in range(_QUIET):
            mine = list(due_at.items())[tenant::_QUIET]
            some = [{"name": name, "dueTime": rfc3339(at), "target": target} for name, at in mine]
            write_jobs(dev.client, f"tenant-{tenant}", some)
        at = rfc3339(start_at + _NOISY_AT_S * SECOND_MS)
        loud = [{"name": f"loud-{number}", "dueTime": at, "target": target} for number in range(noisy)]
        write_jobs(dev.client, "noisy", loud)
        assert time.time() * SECOND_MS < start_at, "the jobs were not written in time"
        time.sleep(start_at / SECOND_MS + _SPREAD_S - time.time())
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            found = judge(due_at, [(each.job, each.arrived_at) for each in consumer.arrivals()])
            if not found.lost or time.monotonic() > deadline:
                break
            time.sleep(1)
    return {
        "what": what,
        "found": found.delivered,
        "lost": Figure(found.lost, 0, 0),
        "early": Figure(found.early, 0, 0),
        "p50 ms": found.p50_ms,
        "p99 ms": found.p99_ms,
        "max ms": found.max_ms,
    }
