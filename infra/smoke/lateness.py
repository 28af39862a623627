"""Checks of how late triggers are that are due at :00, as most cron jobs are."""

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from infra.local.queue import Message, Queue
from infra.smoke.checks import Suite, expect
from infra.smoke.stage import Stage, now_ms

LATENESS = Suite()

_MINUTE_MS = 60_000
#: The time between the due times of two herds. The largest herd takes the default stack half a minute.
_APART_MS = 2 * _MINUTE_MS
_PER_CALL = 100
#: How much the clocks of SQS and Lambda may differ. By its own clock no function delivers early.
_CLOCKS_MS = 100
_PATIENCE_S = 180


@dataclass(frozen=True)
class Punctuality:
    """How a herd arrived: how many triggers are missing, came early or twice, and how late (ms)."""

    lost: int
    early: int
    twice: int
    p50_ms: int
    p99_ms: int
    max_ms: int


def judge(names: Iterable[str], messages: Sequence[Message]) -> Punctuality:
    """How late the jobs of these names were, each due once, by their messages and SQS's clock."""
    late = sorted(each.sent_at - each.due_at for each in messages) or [0]
    return Punctuality(
        lost=len(set(names) - {each.names["job"] for each in messages}),
        early=sum(each < -_CLOCKS_MS for each in late),
        twice=len(messages) - len({each.names["id"] for each in messages}),
        p50_ms=late[len(late) // 2],
        p99_ms=late[min(len(late) - 1, len(late) * 99 // 100)],
        max_ms=late[-1],
    )


@LATENESS.add(
    "Herds of jobs due at :00 all arrive by timer, tick and sweep, never early, and a single one on time."
)
def at_the_full_minute(stage: Stage) -> str:
    """Every herd is written first, far enough ahead to travel through timers, tick and sweep."""
    queues = {size: stage.queues.make(f"herd-{size}") for size in stage.pace.herd_sizes}
    herds = _write(stage, queues)
    notes, failed = [], False
    for size, due_at in herds.items():
        messages = _arrivals(queues[size], size, due_at)
        found = judge([f"job-{number}" for number in range(size)], messages)
        is_late = size == 1 and found.max_ms > stage.pace.on_time_ms
        failed |= bool(found.lost or found.early or is_late)
        notes.append(f"{size} jobs: {_told(found)}{_logged(stage, due_at)}")
    expect(not failed, "; ".join(notes))
    return "; ".join(notes)


def _write(stage: Stage, queues: Mapping[int, Queue]) -> Mapping[int, int]:
    """The due time of each herd by its size. All jobs are written when this returns."""
    # The last herd may be due minutes after the first, and writing it may take as long.
    first = (now_ms() + (stage.pace.lead_s + 10) * 1_000) // _MINUTE_MS * _MINUTE_MS + _MINUTE_MS
    apart_ms = _APART_MS if not stage.is_local else 0
    herds = {size: first + number * apart_ms for number, size in enumerate(stage.pace.herd_sizes)}
    for size, due_at in herds.items():
        names = [f"job-{number}" for number in range(size)]
        for start in range(0, size, _PER_CALL):
            jobs = [_job(name, due_at, queues[size]) for name in names[start : start + _PER_CALL]]
            path = f"/v1/namespaces/smoke-herd-{size}/jobs"
            results = stage.client.ask("POST", path, {"jobs": jobs})["results"]
            refused = [each for each in results if each["status"] not in (200, 201)]
            expect(not refused, f"{len(refused)} jobs of {size} were refused: {refused[:1]}")
    return herds


def _job(name: str, due_at: int, queue: Queue) -> dict[str, Any]:
    due = datetime.fromtimestamp(due_at / 1_000, UTC).isoformat().replace("+00:00", "Z")
    return {"name": name, "dueTime": due, "target": queue.target, "history": "failures"}


def _arrivals(queue: Queue, size: int, due_at: int) -> list[Message]:
    """The messages of one herd, and anything else that arrived meanwhile."""
    time.sleep(max(0, due_at - now_ms()) / 1_000)
    return queue.take(size, _PATIENCE_S) + queue.rest()


def _told(found: Punctuality) -> str:
    return (
        f"{found.lost} lost, {found.early} early, {found.twice} twice, "
        f"p50 {found.p50_ms} ms, p99 {found.p99_ms} ms, max {found.max_ms} ms"
    )


def _logged(stage: Stage, due_at: int) -> str:
    """The second at which tick ran before the due time, and how many messages each delivery received."""
    ticks = _lines(stage, "tick", "ticked", due_at - 4 * _MINUTE_MS, due_at + _MINUTE_MS)
    seconds = ", ".join(f":{at % _MINUTE_MS / 1_000:04.1f}" for at, _ in ticks)
    fills = fill_of(
        line for _, line in _lines(stage, "deliver", "delivered", due_at - 1_000, due_at + _MINUTE_MS)
    )
    batches = (
        f"{len(fills)} batches of {sum(fills) / len(fills):.1f} on average" if fills else "no batches logged"
    )
    return f", tick at {seconds or 'no logged second'}, {batches}"


def fill_of(lines: Iterable[Mapping[str, Any]]) -> list[int]:
    """How many messages each invocation of the delivery function handled: the sum of its outcomes."""
    fills = [
        sum(value for name, value in line.items() if name != "lateness_ms" and type(value) is int)
        for line in lines
    ]
    return [fill for fill in fills if fill]


def _lines(
    stage: Stage, function: str, message: str, since: int, until: int
) -> list[tuple[int, Mapping[str, Any]]]:
    """When a function logged the message, and the line.

    Log lines appear seconds late, so none is no failure.
    """
    pages = (
        stage.aws.client("logs")
        .get_paginator("filter_log_events")
        .paginate(
            logGroupName=f"/sweephand/{stage.stack}/{function}",
            filterPattern=f'"{message}"',
            startTime=since,
            endTime=until,
        )
    )
    events = [event for page in pages for event in page["events"] if event["message"].startswith("{")]
    lines = [(event["timestamp"], json.loads(event["message"])) for event in events]
    return [(at, line) for at, line in lines if line.get("message") == message]
