"""Checks of how late triggers are that are due at :00, as most cron jobs are."""

import time
from collections.abc import Mapping
from datetime import UTC, datetime

from infra.bench.punctuality import judge
from infra.local.client import write_jobs
from infra.smoke.checks import Suite, expect
from infra.smoke.queue import Queue
from infra.smoke.stage import Stage, now_ms

LATENESS = Suite()

_MINUTE_MS = 60_000
#: The time between the due times of two herds. The largest herd takes the default stack half a minute.
_APART_MS = 2 * _MINUTE_MS
#: How much the clocks of SQS and Lambda may differ. By its own clock no function delivers early.
_CLOCKS_MS = 100
_PATIENCE_S = 180


@LATENESS.add(
    "Herds of jobs due at :00 all arrive by timer, tick and sweep, never early, and a single one on time."
)
def at_the_full_minute(stage: Stage) -> str:
    """Every herd is written first, far enough ahead to travel through timers, tick and sweep."""
    queues = {size: stage.queues.make(f"herd-{size}") for size in stage.pace.herd_sizes}
    herds = _write(stage, queues)
    notes, failed = [], False
    for size, due_at in herds.items():
        time.sleep(max(0, due_at - now_ms()) / 1_000)
        messages = queues[size].take(size, _PATIENCE_S) + queues[size].rest()
        jobs = {f"job-{number}": due_at for number in range(size)}
        found = judge(jobs, ((each.names["job"], each.sent_at) for each in messages), clocks_ms=_CLOCKS_MS)
        is_late = size == 1 and found.max_ms > stage.pace.on_time_ms
        failed |= bool(found.lost or found.early or is_late)
        notes.append(
            f"{size} jobs: {found.lost} lost, {found.early} early, {found.twice} twice, "
            f"p50 {found.p50_ms} ms, p99 {found.p99_ms} ms, max {found.max_ms} ms"
        )
    expect(not failed, "; ".join(notes))
    return "; ".join(notes)


def _write(stage: Stage, queues: Mapping[int, Queue]) -> Mapping[int, int]:
    """The due time of each herd by its size. All jobs are written when this returns."""
    # The last herd may be due minutes after the first, and writing it may take as long.
    first = (now_ms() + (stage.pace.lead_s + 10) * 1_000) // _MINUTE_MS * _MINUTE_MS + _MINUTE_MS
    apart_ms = _APART_MS if not stage.is_local else 0
    herds = {size: first + number * apart_ms for number, size in enumerate(stage.pace.herd_sizes)}
    for size, due_at in herds.items():
        due = datetime.fromtimestamp(due_at / 1_000, UTC).isoformat().replace("+00:00", "Z")
        job = {"dueTime": due, "target": queues[size].target, "history": "failures"}
        jobs = [{"name": f"job-{number}", **job} for number in range(size)]
        write_jobs(stage.client, f"smoke-herd-{size}", jobs)
    return herds
