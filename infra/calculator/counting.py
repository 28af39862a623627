"""Counting what triggers use: true DynamoDB units, SQS messages and stored bytes, on DynamoDB Local."""

import random
import time
from collections.abc import Mapping
from typing import Any, Final

from infra import dynamodb_local
from infra.bench import flow_units
from infra.bench.meter import Usage, less
from infra.bench.wheelhouse import Wheelhouse
from infra.calculator.measured import BatchCount, Count, IdleMinute

from sweephand.base.instants import MINUTE_MS

#: Triggers a second, spread at random. Jobs that recur do so every minute. At higher rates the units of a
#: trigger stay the same: what is counted once for each minute no longer matters.
_RATES: Final = (0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 100.0)
_RATES_OF_OTHERS: Final = (1.0, 5.0, 20.0, 100.0)

#: Triggers that fall due together: at the beginning of each minute, and once.
_HERDS: Final = (1, 3, 10, 60, 1_000)
_ONE_OFFS: Final = 1_000

#: What is counted: the kind, the rate (None: together), and the number of jobs.
_CASES: Final = (
    *(("recurring", None, herd) for herd in _HERDS),
    *(("recurring", rate, round(60 * rate)) for rate in _RATES),
    *(
        (kind, rate, round(60 * rate))
        for kind in ("recurringWithHistory", "oneOffInBulk", "oneOffSingly")
        for rate in _RATES_OF_OTHERS
    ),
    *((kind, None, _ONE_OFFS) for kind in ("oneOffInBulk", "oneOffSingly")),
)

#: Jobs begin in this minute, so that their triggers come from the wheel.
_FIRST_MINUTE: Final = 7

#: Minutes that are counted, fewer at high rates. Counting stops after about this many triggers.
_MINUTES: Final = 20
_TRIGGERS: Final = 4_000

#: The sweeps of the first one-offs and of the last, and their deliveries, are over after this many minutes.
_ONE_OFF_MINUTES: Final = 3


def counts() -> Mapping[str, Any]:
    """A count of each kind at each rate, and what a minute costs in which nothing is due."""
    with dynamodb_local.running() as url:
        idle, cpu_ms = _idle(url)
        return {
            "counts": [_count(url, idle, *each) for each in _CASES],
            "idle": IdleMinute(idle.writes, idle.reads, idle.invocations, round(cpu_ms, 2)),
        }


def batches() -> Mapping[str, Any]:
    """A count for each batch of the bench of flow units: with a policy and without one."""
    return {
        "batches": [
            BatchCount(
                each.limit,
                each.rate,
                each.events,
                each.usage.writes / each.events,
                each.usage.reads / each.events,
                each.usage.sqs / each.events,
                each.usage.invocations / each.events,
            )
            for each in flow_units.count(flow_units.EVENTS)
        ]
    }


def _count(url: str, idle: Usage, kind: str, rate: float | None, jobs: int) -> Count:
    """What a trigger uses. Jobs that recur are in a steady state: what creating them costs is not counted.

    Of one-offs everything is counted from their creation on, but for the call of the API.
    """
    print(f"  {kind}, {rate or 'together'}, {jobs} jobs", flush=True)
    house = Wheelhouse(url, f"{kind}-{rate}-{jobs}", shards=1)
    house.tick()
    recurs = kind.startswith("recurring")
    first_at = _FIRST_MINUTE * MINUTE_MS - house.clock.now() % MINUTE_MS
    job = {} if kind == "recurringWithHistory" else {"history": "failures"}
    if recurs:
        job |= {"schedule": "@every 1m"}
    chance = random.Random(7)  # noqa: S311 - any spread will do, as long as it is the same
    offsets_ms = sorted(chance.randrange(MINUTE_MS) if rate else 0 for _ in range(jobs))
    written = [{**job, "dueTime": f"{first_at + each}ms"} for each in offsets_ms]
    write = house.create if kind == "oneOffSingly" else house.create_in_bulk
    minutes = _FIRST_MINUTE + _ONE_OFF_MINUTES
    if recurs:
        write(written)
        house.run(_FIRST_MINUTE + 1)
        minutes = min(_MINUTES, max(1, _TRIGGERS // jobs))
    house.meter.reset()
    delivered, sent, stored, swept_s = house.delivered, house.sent, house.stored_bytes(), house.swept_cpu_s
    if not recurs:
        write(written)
    house.run(minutes)
    triggers, usage, now = (
        house.delivered - delivered,
        less(house.meter.usage, idle, minutes),
        house.stored_bytes(),
    )
    return Count(
        kind=kind,
        rate=rate,
        triggers=triggers,
        per_minute=triggers // (minutes if recurs else 1),
        writes=round(usage.writes / triggers, 4),
        reads=round(usage.reads / triggers, 4),
        messages=round((house.sent.messages - sent.messages) / triggers, 4),
        sends=round((house.sent.requests - sent.requests) / triggers, 4),
        jobs_bytes=round((now.jobs - stored.jobs) / triggers, 1),
        timers_bytes=round((now.timers - stored.timers) / triggers, 1),
        sweep_cpu_ms=round((house.swept_cpu_s - swept_s) * 1_000 / triggers, 4),
    )


def _idle(url: str) -> tuple[Usage, float]:
    """One minute in which nothing is due, and the ms of CPU that tick takes for it."""
    house = Wheelhouse(url, "idle", shards=1)
    for _ in range(20):
        house.tick()
    house.meter.reset()
    house.tick()
    usage = house.meter.usage
    house.meter.reset()
    began = time.process_time()
    for _ in range(20):
        house.tick()
    return usage, (time.process_time() - began) * 1_000 / 20
