"""Triggers per second of one sweeper, compared with bare boto3 that makes the same requests."""

import gc
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final
from unittest.mock import patch

from infra.bench.clock import HandClock
from infra.bench.environment import ENVIRONMENT, answer_beneath_boto3
from infra.bench.function import alone
from infra.bench.instant_dynamodb import InstantDynamoDB
from infra.bench.jobs import stored_job
from infra.bench.race import Race, race, replay, stages
from infra.bench.report import Cell, Report

from sweephand.base.concurrency import REQUESTS_AT_ONCE
from sweephand.base.instants import MINUTE_MS, SECOND_MS, Instant
from sweephand.delivery.sqs_clients import sqs_client
from sweephand.model.timer import OccurrenceTimer, StoredTimer, TimerPack, pack_key
from sweephand.runtime import tables
from sweephand.runtime.aws_ports import app
from sweephand.storage import connect
from sweephand.wheel.packing import PACK_TIMERS_MAX

_ROUNDS: Final = 11

#: The least ratio to bare boto3, and the least number of triggers a second where each call takes 4 ms.
_RATIO_LEAST: Final = 0.7
_PER_S_LEAST: Final = 5_000

#: How long AWS takes for an answer: no time, so that the CPU's share is seen, and as long as on AWS.
_LATENCIES_MS: Final = (0, 4)

#: 2026-11-21T12:00:05Z, and the beginning of the last bucket before that instant's horizon.
_NOW: Final[Instant] = 1_795_262_405_000
_BUCKET_AT: Final[Instant] = 1_795_262_400_000 + 2 * MINUTE_MS

#: Requests of a sweep that go out at the same time.
_TOGETHER: Final = {"batch_get_item": "reads", "batch_write_item": "writes", "send_message_batch": "writes"}


@dataclass(frozen=True, slots=True)
class _Work:
    """What is due: jobs of a schedule (None: one-offs), the triggers of each, and whether packs hold them."""

    name: str
    schedules: tuple[str | None, ...]
    jobs: int
    triggers_each: int
    is_packed: bool


_WORKS: Final = (
    _Work("recurring, in packs", ("@every 5m", "*/5 * * * *"), 4_000, 1, is_packed=True),
    _Work("each job every 5 s, in packs", ("@every 5s",), 400, 12, is_packed=True),
    _Work("one-off, a timer each", (None,), 4_000, 1, is_packed=False),
)


def measure() -> Report:
    """Race the sweeper and bare boto3 in turn. Each kind of work has a process of its own."""
    races = [
        (work.name, latency_ms, *alone(_race, work, latency_ms))
        for latency_ms in _LATENCIES_MS
        for work in _WORKS
    ]
    return Report(
        title=f"One sweeper, {_ROUNDS} rounds each",
        rows=[_row(*each) for each in races],
        notes=(
            f"Bare boto3 makes the same requests with the same clients, {REQUESTS_AT_ONCE} at once: of each",
            "chunk first all reads, then all writes and sends, then the commit. AWS answers beneath boto3,",
            "without a network. CPU time includes what stands in for AWS, on both sides.",
        ),
        figures={
            "works": [
                {
                    "work": name,
                    "latencyMs": latency_ms,
                    "perS": raced.ours.per_s,
                    "perCpuS": 1e6 / raced.ours.cpu_us,
                }
                for name, latency_ms, raced, _ in races
            ]
        },
    )


def _row(name: str, latency_ms: int, raced: Race, requests: Mapping[str, int]) -> Mapping[str, Cell]:
    return {
        "work": name,
        "AWS": f"{latency_ms} ms",
        **raced.cells(_RATIO_LEAST, _PER_S_LEAST if latency_ms else None),
        "requests of a sweep": ", ".join(f"{count} {method}" for method, count in sorted(requests.items())),
    }


def _race(work: _Work, latency_ms: int) -> tuple[Race, Mapping[str, int]]:
    os.environ |= ENVIRONMENT | {"BUNDLE_SECONDS": "1", "PACK_TIMERS": "true"}
    aws = InstantDynamoDB()
    answer_beneath_boto3(aws)
    triggers = work.jobs * work.triggers_each
    with patch.object(tables, "clock", lambda: HandClock(_NOW)):
        ports = app().ports
        _fill(work, ports)

        def sweep() -> None:
            swept = app().sweeper.sweep(
                ports.leases.state().leases, owner="bench", first_shard=0, deadline=_NOW + 120 * SECOND_MS
            )
            assert swept.triggers == triggers, swept

        asked = aws.record(sweep, repeats=True)
        gc.collect()
        gc.freeze()  # as runtime/start.py does, which every function uses
        aws.latency_ms = latency_ms
        staged = stages(asked, _TOGETHER)
        clients: Mapping[str, Any] = {"dynamodb": connect.dynamodb(), "sqs": sqs_client(None)}
        with ThreadPoolExecutor(REQUESTS_AT_ONCE) as threads:
            tasks = (sweep, lambda: replay(staged, clients, threads))
            raced = race(triggers, _ROUNDS, lambda: tasks)
    return raced, Counter(each.method for each in asked)


def _fill(work: _Work, ports: Any) -> None:
    """Store the jobs, their timers, and the lease of the one shard."""
    ports.leases.raise_shards(1)
    timers = []
    for number in range(work.jobs):
        schedule = work.schedules[number % len(work.schedules)]
        # The jobs are due at instants that are spread over a minute.
        spread_ms = number * MINUTE_MS // work.jobs
        job = stored_job(
            f"refresh-{number:06d}",
            _BUCKET_AT - 10 * MINUTE_MS + spread_ms,
            schedule=schedule,
            due_at=_BUCKET_AT + spread_ms if schedule is None else None,
            maxAttempts=5,
        )
        assert ports.jobs.put(job, None), "every write is granted"
        first = job.series.next_after(_BUCKET_AT - 1)
        assert first is not None, "each job is due in the bucket"
        timers.append(OccurrenceTimer(0, job.key, job.uid, job.rev, job.series, first, job.cut))
    ports.timers.put(list(_packs(timers)) if work.is_packed else timers)


def _packs(timers: Sequence[OccurrenceTimer]) -> Iterable[StoredTimer]:
    for start in range(0, len(timers), PACK_TIMERS_MAX):
        some = sorted(timers[start : start + PACK_TIMERS_MAX], key=lambda timer: timer.sort_key)
        yield TimerPack(0, pack_key(_BUCKET_AT, f"{start:024d}"), tuple(some))
