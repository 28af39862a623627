"""Triggers per second of one sweeper, compared with bare boto3 that makes the same requests."""

import gc
import os
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple
from unittest.mock import patch

from infra.bench.clock import HandClock
from infra.bench.function import alone
from infra.bench.instant_dynamodb import ENVIRONMENT, InstantDynamoDB, answer_beneath_boto3
from infra.bench.jobs import named, put
from infra.bench.race import Race, race, replay, stages
from infra.bench.report import Cell, Report

from sweephand.base.concurrency import REQUESTS_AT_ONCE
from sweephand.base.instants import MINUTE_MS, SECOND_MS, Instant, rfc3339, to_datetime
from sweephand.delivery.checked_clients import sqs_client
from sweephand.model.calendar import CalendarKey
from sweephand.runtime import tables
from sweephand.runtime.api import services
from sweephand.runtime.wheel import wheel
from sweephand.storage import connect
from sweephand.web.calendar_sources import resolved

_ROUNDS: Final = 11

#: The least ratio to bare boto3, and the least number of triggers a second where each call takes 4 ms.
_RATIO_LEAST: Final = 0.7
_PER_S_LEAST: Final = 5_000

#: How long AWS takes for an answer. No time shows the CPU's share.
AWS_LATENCY_MS: Final = 4
_LATENCIES_MS: Final = (0, AWS_LATENCY_MS)

#: 2026-11-21T12:05:00Z, which is the beginning of the last bucket before the horizon of _NOW.
_BUCKET_AT: Final[Instant] = 1_795_262_700_000
_NOW: Final[Instant] = _BUCKET_AT - 2 * MINUTE_MS + 5 * SECOND_MS

#: The jobs are written so early that they go by the wheel.
_WRITTEN_AT: Final[Instant] = _BUCKET_AT - 10 * MINUTE_MS

#: An expression that is due at the bucket's beginning.
_CRON: Final = "*/5 * * * *"

#: Requests of a sweep that go out at the same time.
_TOGETHER: Final = {"batch_get_item": "reads", "batch_write_item": "writes", "send_message_batch": "writes"}


class Work(NamedTuple):
    """What is due: jobs of a schedule (None: one-offs), the triggers of each, and whether packs hold them.

    The jobs skip the `holidays` of that country, if there is one.
    """

    name: str
    schedules: tuple[str | None, ...]
    jobs: int
    triggers_each: int
    is_packed: bool
    holidays: str | None = None


#: The kinds of work that are measured.
WORKS: Final = (
    Work("recurring, in packs", ("@every 5m", _CRON), 4_000, 1, is_packed=True),
    Work("the same on a calendar", ("@every 5m", _CRON), 4_000, 1, is_packed=True, holidays="FR"),
    Work("each job every 5 s, in packs", ("@every 5s",), 400, 12, is_packed=True),
    Work("one-off, a timer each", (None,), 4_000, 1, is_packed=False),
)


def measure() -> Report:
    """Race the sweeper and bare boto3 with each kind of work."""
    return Report(
        title=f"One sweeper, {_ROUNDS} rounds each",
        rows=[_row(work, latency_ms) for latency_ms in _LATENCIES_MS for work in WORKS],
        notes=(
            f"Bare boto3 makes the same requests with the same clients, {REQUESTS_AT_ONCE} at once: of each",
            "chunk first all reads, then all writes and sends, then the commit. AWS answers beneath boto3,",
            "without a network. CPU time includes what stands in for AWS, on both sides.",
        ),
    )


def _row(work: Work, latency_ms: int) -> Mapping[str, Cell]:
    raced, requests = alone(sweep, work, latency_ms)
    return {
        "work": work.name,
        "AWS": f"{latency_ms} ms",
        **raced.cells(_RATIO_LEAST, _PER_S_LEAST if latency_ms else None),
        "requests of a sweep": ", ".join(f"{count} {method}" for method, count in sorted(requests.items())),
    }


def sweep(work: Work, latency_ms: int) -> tuple[Race, Mapping[str, int]]:
    """The sweeper and bare boto3 in turn, and the requests of a sweep. Once in a process.

    Each call takes `latency_ms`.
    """
    os.environ |= ENVIRONMENT | {"BUNDLE_SECONDS": "1"}
    aws = InstantDynamoDB()
    answer_beneath_boto3(aws)
    triggers = work.jobs * work.triggers_each
    clock = HandClock(_WRITTEN_AT)
    with patch.object(tables, "clock", lambda: clock):
        _fill(work)
        clock.wait_until(_NOW)

        def task() -> None:
            swept = wheel().sweeper.sweep(
                wheel().stores.leases.state().leases,
                owner="bench",
                first_shard=0,
                deadline=_NOW + 120 * SECOND_MS,
            )
            assert swept.triggers == triggers, swept

        asked = aws.record(task, repeats=True)
        gc.collect()
        gc.freeze()  # as runtime/start.py does, which every function uses
        aws.latency_ms = latency_ms
        staged = stages(asked, _TOGETHER)
        clients: Mapping[str, Any] = {"dynamodb": connect.dynamodb(), "sqs": sqs_client(None)}
        with ThreadPoolExecutor(REQUESTS_AT_ONCE) as threads:
            tasks = (task, lambda: replay(staged, clients, threads))
            raced = race(triggers, _ROUNDS, lambda: tasks)
    return raced, Counter(each.method for each in asked)


def _fill(work: Work) -> None:
    """Make the one shard, and write the jobs: in bulk where packs hold them, or else one by one.

    The first triggers are spread over the bucket or a period. Those of cron expressions are due at the
    bucket's beginning.
    """
    wheel().stores.leases.raise_shards(1)
    used = {} if work.holidays is None else {"calendar": {"name": _calendar(work.holidays)}}
    jobs = []
    for number in range(work.jobs):
        schedule = work.schedules[number % len(work.schedules)]
        spread_ms = 0 if schedule == _CRON else number * MINUTE_MS // (work.jobs * work.triggers_each)
        job: dict[str, Any] = {"dueTime": rfc3339(_BUCKET_AT + spread_ms), **used}
        jobs.append(job if schedule is None else {**job, "schedule": schedule})
    if work.is_packed:
        assert len(list(put(services().bulk_writer, list(named(jobs)), _WRITTEN_AT))) == work.jobs
        return
    for each in named(jobs):
        services().writer.put(each.key, each.definition, caller="bench", requested_at=_WRITTEN_AT)


def _calendar(country: str) -> str:
    """The name of a calendar that is written with the holidays of a country. No day of its week is closed."""
    key = CalendarKey("bench", country.lower())
    written = {"weekend": [], "holidays": [{"country": country}]}
    days = resolved(written, to_datetime(_WRITTEN_AT).date())
    services().calendars.put(key, written, days, who="bench", requested_at=_WRITTEN_AT)
    return key.name
