"""Triggers per second of one sweeper, compared with bare boto3 that makes the same requests."""

import gc
import os
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final
from unittest.mock import patch

from infra.bench.clock import HandClock
from infra.bench.environment import ENVIRONMENT
from infra.bench.function import alone
from infra.bench.recorded_aws import Asked, RecordedAws
from infra.bench.report import OVER, Report

from sweephand.base.concurrency import REQUESTS_AT_ONCE
from sweephand.base.instants import MINUTE_MS, SECOND_MS, Instant
from sweephand.delivery.sqs_clients import sqs_client
from sweephand.model.definition import Definition, Payload
from sweephand.model.job import Job, JobKey, Revision
from sweephand.model.timer import OccurrenceTimer, StoredTimer, TimerPack, pack_key
from sweephand.runtime import tables
from sweephand.runtime.aws_ports import app
from sweephand.schedules import Series
from sweephand.storage import connect
from sweephand.wheel.packing import PACK_TIMERS_MAX

_ROUNDS: Final = 11

#: The least ratio to bare boto3, and the least number of triggers a second where each call takes 4 ms.
_RATIO_MIN: Final = 0.7
_PER_S_MIN: Final = 5_000

#: How long AWS takes for an answer: no time, so that the CPU's share is seen, and as long as on AWS.
_LATENCIES_MS: Final = (0, 4)

#: 2026-11-21T12:00:05Z, and the beginning of the last bucket before that instant's horizon.
_NOW: Final[Instant] = 1_795_262_405_000
_BUCKET_AT: Final[Instant] = 1_795_262_400_000 + 2 * MINUTE_MS

_URL: Final = "https://hooks.example.com/tenants/4711/jobs"
_DATA: Final = '{"tenant":4711,"task":"refresh"}'


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


@dataclass(frozen=True, slots=True)
class _Time:
    """What one sweep took: seconds, and seconds of CPU."""

    wall_s: float
    cpu_s: float


@dataclass(frozen=True, slots=True)
class _Race:
    """The rounds of one kind of work: the sweeper's times and bare boto3's, and the requests of a sweep."""

    work: _Work
    latency_ms: int
    rounds: Sequence[tuple[_Time, _Time]]
    requests: Mapping[str, int]

    @property
    def triggers(self) -> int:
        """The triggers of a sweep."""
        return self.work.jobs * self.work.triggers_each

    @property
    def ratios(self) -> list[float]:
        """The ratio of sweeper to boto3 in each round, in ascending order."""
        return sorted(bare.wall_s / ours.wall_s for ours, bare in self.rounds)

    @property
    def ratio(self) -> float:
        """The median of the ratios."""
        return statistics.median(self.ratios)

    @property
    def cpu_ratio(self) -> float:
        """The same for CPU time."""
        return statistics.median(bare.cpu_s / ours.cpu_s for ours, bare in self.rounds)

    @property
    def per_s(self) -> float:
        """Triggers a second, at the median."""
        return self.triggers / statistics.median(ours.wall_s for ours, _ in self.rounds)

    @property
    def bare_per_s(self) -> float:
        """The same of bare boto3."""
        return self.triggers / statistics.median(bare.wall_s for _, bare in self.rounds)

    @property
    def per_cpu_s(self) -> float:
        """Triggers per second of CPU, at the median."""
        return self.triggers / statistics.median(ours.cpu_s for ours, _ in self.rounds)

    @property
    def is_within(self) -> bool:
        """Whether both aims are met."""
        return round(self.ratio, 2) >= _RATIO_MIN and (not self.latency_ms or self.per_s >= _PER_S_MIN)


def measure() -> Report:
    """Race the sweeper and bare boto3 in turn. Each kind of work has a process of its own."""
    races = [alone(_race, work, latency_ms) for latency_ms in _LATENCIES_MS for work in _WORKS]
    return Report(
        title=f"One sweeper, {_ROUNDS} rounds each",
        columns=(
            "work",
            "AWS",
            "triggers a second",
            "bare boto3",
            "ratio",
            "quartiles",
            "per CPU second",
            "CPU ratio",
            "requests of a sweep",
        ),
        rows=[_row(race) for race in races],
        figures={"works": [_figures(race) for race in races]},
        is_within=all(race.is_within for race in races),
        notes=(
            f"Aims: a ratio of {_RATIO_MIN}, and {_PER_S_MIN} triggers a second where each call takes 4 ms.",
            f"Bare boto3 makes the same requests with the same clients, {REQUESTS_AT_ONCE} at once: of each",
            "chunk first all reads, then all writes and sends, then the commit. AWS answers beneath boto3,",
            "without a network. CPU time includes what stands in for AWS, on both sides.",
        ),
    )


def _race(work: _Work, latency_ms: int) -> _Race:
    os.environ |= ENVIRONMENT | {"BUNDLE_SECONDS": "1"}
    aws = RecordedAws()
    aws.attach()
    with patch.object(tables, "clock", lambda: HandClock(_NOW)):
        ports = app().ports
        _fill(work, ports)

        def sweep() -> None:
            swept = app().sweeper.sweep(
                ports.leases.state().leases, owner="bench", first_shard=0, deadline=_NOW + 120 * SECOND_MS
            )
            assert swept.triggers == work.jobs * work.triggers_each, swept

        asked = aws.record(sweep)
        gc.collect()
        gc.freeze()  # as runtime/start.py does, which every function uses
        aws.latency_ms = latency_ms
        stages = _stages(asked)
        clients: dict[str, Any] = {"dynamodb": connect.dynamodb(), "sqs": sqs_client(None)}
        with ThreadPoolExecutor(REQUESTS_AT_ONCE) as threads:

            def replay() -> None:
                for stage in stages:
                    _replay(stage, clients, threads)

            for task in (sweep, replay):
                task()
            rounds = [_round(sweep, replay, is_reversed=bool(number % 2)) for number in range(_ROUNDS)]
    counts: dict[str, int] = {}
    for _, method, _ in asked:
        counts[method] = counts.get(method, 0) + 1
    return _Race(work, latency_ms, rounds, counts)


def _fill(work: _Work, ports: Any) -> None:
    """Store the jobs, their timers, and the lease of the one shard."""
    ports.leases.raise_shards(1)
    timers = []
    for number in range(work.jobs):
        job = _job(work, number)
        assert ports.jobs.put(job, None), "every write is granted"
        first = job.series.next_after(_BUCKET_AT - 1)
        assert first is not None, "each job is due in the bucket"
        timers.append(OccurrenceTimer(0, job.key, job.uid, job.rev, job.series, first, job.cut))
    ports.timers.put(list(_packs(timers)) if work.is_packed else timers)


def _job(work: _Work, number: int) -> Job:
    schedule = work.schedules[number % len(work.schedules)]
    # The jobs are due at instants that are spread over a minute.
    spread_ms = number * MINUTE_MS // work.jobs
    start_at = _BUCKET_AT - 10 * MINUTE_MS + spread_ms
    written: Mapping[str, Any] = {
        "schedule": schedule,
        "target": {"type": "http", "url": _URL},
        "maxAttempts": 5,
    }
    due_at = _BUCKET_AT + spread_ms if schedule is None else None
    return Job(
        key=JobKey("bench", f"refresh-{number:06d}"),
        uid=f"{number * 7919:016d}",
        version=f"{number * 104729:016d}",
        current=Revision(f"1-{number * 104729:016d}", since=start_at - 1),
        cut=start_at,
        earlier=(),
        shard=0,
        definition=Definition({name: each for name, each in written.items() if each}, Payload.of(_DATA)),
        series=Series(schedule, "UTC", start_at=start_at, due_at=due_at),
        created_at=start_at,
        updated_at=start_at,
        owner="bench",
    )


def _packs(timers: Sequence[OccurrenceTimer]) -> Iterable[StoredTimer]:
    for start in range(0, len(timers), PACK_TIMERS_MAX):
        some = sorted(timers[start : start + PACK_TIMERS_MAX], key=lambda timer: timer.sort_key)
        yield TimerPack(0, pack_key(_BUCKET_AT, f"{start:024d}"), tuple(some))


def _stages(asked: Sequence[Asked]) -> list[list[Asked]]:
    """The requests in the order in which they depend on each other. Those of one stage go out at once."""
    together = {"batch_get_item": "reads", "batch_write_item": "writes", "send_message_batch": "writes"}
    groups = groupby(enumerate(asked), key=lambda each: together.get(each[1][1], str(each[0])))
    return [[request for _, request in group] for _, group in groups]


def _replay(stage: Sequence[Asked], clients: Mapping[str, Any], threads: ThreadPoolExecutor) -> None:
    def call(asked: Asked) -> None:
        service, method, parameters = asked
        getattr(clients[service], method)(**parameters)

    if len(stage) == 1:
        call(stage[0])
    else:
        list(threads.map(call, stage))


def _round(
    sweep: Callable[[], None], replay: Callable[[], None], *, is_reversed: bool
) -> tuple[_Time, _Time]:
    if is_reversed:
        bare = _timed(replay)
        return _timed(sweep), bare
    return _timed(sweep), _timed(replay)


def _timed(task: Callable[[], None]) -> _Time:
    began, cpu_began = time.perf_counter(), time.process_time()
    task()
    return _Time(time.perf_counter() - began, time.process_time() - cpu_began)


def _row(race: _Race) -> tuple[str, ...]:
    ratios = race.ratios
    is_slow = race.latency_ms and race.per_s < _PER_S_MIN
    return (
        race.work.name,
        f"{race.latency_ms} ms",
        f"{race.per_s:.0f}{OVER if is_slow else ''}",
        f"{race.bare_per_s:.0f}",
        f"{race.ratio:.2f}{OVER if round(race.ratio, 2) < _RATIO_MIN else ''}",
        f"{ratios[len(ratios) // 4]:.2f} to {ratios[-1 - len(ratios) // 4]:.2f}",
        f"{race.per_cpu_s:.0f}",
        f"{race.cpu_ratio:.2f}",
        ", ".join(f"{count} {method}" for method, count in sorted(race.requests.items())),
    )


def _figures(race: _Race) -> Mapping[str, Any]:
    return {
        "work": race.work.name,
        "latencyMs": race.latency_ms,
        "triggers": race.triggers,
        "ratio": race.ratio,
        "cpuRatio": race.cpu_ratio,
        "perS": race.per_s,
        "boto3PerS": race.bare_per_s,
        "perCpuS": race.per_cpu_s,
        "requests": race.requests,
    }
