"""The cost of sweeping a thousand due timers, against the number of timers that are stored."""

import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from infra import dynamodb_local
from infra.bench.report import OVER, Report
from infra.bench.wheelhouse import SHARDS, Wheelhouse

from sweephand.base.instants import MINUTE_MS, Instant
from sweephand.model.definition import Definition, Payload
from sweephand.model.job import Job, JobKey, Revision
from sweephand.model.timer import OccurrenceTimer
from sweephand.schedules import Occurrence, Series

#: How many timers are stored. DynamoDB Local takes about half a minute for each 100,000.
SIZES: Final = (10_000, 100_000)

#: How many of them are due in each minute.
_DUE: Final = 1_000

#: The minutes that are measured. The first tick sweeps three minutes at once, and is not.
_MINUTES: Final = 7

#: How much more than with the fewest timers a sweep may cost, in units and in time.
_UNITS_MAX: Final = 1.10
_TIME_MAX: Final = 1.25

_BATCH: Final = 1_000


@dataclass(slots=True)
class _Stock:
    """A stack with so many timers, and for each minute the units, the seconds and the seconds of CPU."""

    size: int
    house: Wheelhouse
    units: list[tuple[float, float]] = field(default_factory=list)
    wall_s: list[float] = field(default_factory=list)
    cpu_s: list[float] = field(default_factory=list)

    def sweep(self) -> None:
        """Tick at the start of the next minute."""
        self.house.pass_minute()
        self.house.meter.reset()
        began, cpu_began = time.perf_counter(), time.process_time()
        self.house.tick()
        self.wall_s.append(time.perf_counter() - began)
        self.cpu_s.append(time.process_time() - cpu_began)
        usage = self.house.meter.usage
        self.units.append((usage.writes, usage.reads))
        assert usage.sqs, "a sweep that found nothing would look cheap"


def measure(sizes: Sequence[int]) -> Report:
    """Sweep the same number of due timers in each stack, in turn, on a DynamoDB Local of its own."""
    with dynamodb_local.running() as url:
        stocks = [_stock(url, size) for size in sorted(sizes)]
        for _ in range(1 + _MINUTES):
            for stock in stocks:
                stock.sweep()
    for stock in stocks:
        del stock.units[0], stock.wall_s[0], stock.cpu_s[0]
    fewest = stocks[0]
    return Report(
        title=f"A sweep of {_DUE} timers, of those that are stored, {_MINUTES} minutes each",
        columns=("stored", "WRU", "RRU", "to the fewest", "ms", "to the fewest", "CPU ms"),
        rows=[_row(each, fewest) for each in stocks],
        figures={"stacks": [_figures(each, fewest) for each in stocks], "shards": SHARDS},
        is_within=all(
            _units_ratio(each, fewest) <= _UNITS_MAX and _time_ratio(each, fewest) <= _TIME_MAX
            for each in stocks
        ),
        notes=(
            f"One tick each minute. {_DUE} one-offs are due in it, all in one of {SHARDS} shards.",
            f"Aims: at most {_UNITS_MAX} times the units and {_TIME_MAX} times the time of the fewest.",
            "Medians. The time is that of tick with DynamoDB Local on the same machine.",
        ),
    )


def _stock(url: str, size: int) -> _Stock:
    house = Wheelhouse(url, f"stored{size}")
    house.tick()  # makes the shards
    begin = house.clock.now() - house.clock.now() % MINUTE_MS + MINUTE_MS
    jobs: list[Job] = []
    timers: list[OccurrenceTimer] = []
    for job, timer in _due(size, begin):
        jobs.append(job)
        timers.append(timer)
        if len(jobs) == _BATCH:
            house.store(jobs, timers)
            jobs, timers = [], []
    house.store(jobs, timers)
    return _Stock(size, house)


def _due(size: int, begin: Instant) -> Iterator[tuple[Job, OccurrenceTimer]]:
    for number in range(size):
        minute, place = divmod(number, _DUE)
        due_at = begin + minute * MINUTE_MS + place * MINUTE_MS // _DUE
        name, token = f"job-{number:07d}", f"{number * 7919:016d}"
        job = Job(
            key=JobKey("bench", name),
            uid=token,
            version=token,
            current=Revision(f"1-{token}", since=begin - 10 * MINUTE_MS),
            cut=begin - 10 * MINUTE_MS,
            earlier=(),
            shard=0,
            definition=Definition(
                {"target": {"type": "http", "url": "https://hooks.example.com/tenants/4711/jobs"}},
                Payload.of('{"tenant":4711,"task":"refresh"}'),
            ),
            series=Series(None, "UTC", start_at=begin - 10 * MINUTE_MS, due_at=due_at),
            created_at=begin - 10 * MINUTE_MS,
            updated_at=begin - 10 * MINUTE_MS,
            owner="bench",
        )
        yield job, OccurrenceTimer(0, job.key, job.uid, job.rev, job.series, Occurrence(due_at, 1), job.cut)


def _units(stock: _Stock) -> tuple[float, float]:
    writes, reads = zip(*stock.units, strict=True)
    return statistics.median(writes), statistics.median(reads)


def _units_ratio(stock: _Stock, fewest: _Stock) -> float:
    return sum(_units(stock)) / sum(_units(fewest))


def _time_ratio(stock: _Stock, fewest: _Stock) -> float:
    return statistics.median(stock.wall_s) / statistics.median(fewest.wall_s)


def _row(stock: _Stock, fewest: _Stock) -> tuple[str, ...]:
    writes, reads = _units(stock)
    units, seconds = _units_ratio(stock, fewest), _time_ratio(stock, fewest)
    return (
        f"{stock.size:,}",
        f"{writes:.1f}",
        f"{reads:.1f}",
        f"{units:.3f}{OVER if units > _UNITS_MAX else ''}",
        f"{statistics.median(stock.wall_s) * 1_000:.0f}",
        f"{seconds:.2f}{OVER if seconds > _TIME_MAX else ''}",
        f"{statistics.median(stock.cpu_s) * 1_000:.0f}",
    )


def _figures(stock: _Stock, fewest: _Stock) -> Mapping[str, Any]:
    writes, reads = _units(stock)
    return {
        "stored": stock.size,
        "writes": writes,
        "reads": reads,
        "unitsRatio": _units_ratio(stock, fewest),
        "timeRatio": _time_ratio(stock, fewest),
        "wallS": stock.wall_s,
        "cpuS": stock.cpu_s,
    }
