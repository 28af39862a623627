"""Counting what triggers use: true DynamoDB units, SQS messages and stored bytes, on DynamoDB Local."""

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from infra import dynamodb_local
from infra.bench.meter import Usage, less
from infra.bench.wheelhouse import Wheelhouse
from infra.bill.measured import Count, IdleMinute

from sweephand.base.instants import MINUTE_MS

Kind = Literal["recurring", "recurringWithHistory", "oneOffInBulk", "oneOffSingly"]

#: Triggers a second, spread at random. Jobs that recur do so every minute. At higher rates the units of a
#: trigger stay the same: what is counted once for each minute no longer matters.
RATES: Final = (0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 100.0)

#: Triggers that fall due together at the beginning of each minute.
HERDS: Final = (1, 3, 10, 60, 1_000)

#: One-offs that fall due together.
HERD_OF_ONE_OFFS: Final = 1_000

#: The rates at which the other kinds are counted.
_RATES_OF_OTHERS: Final = (1.0, 5.0, 20.0, 100.0)

#: Jobs begin in this minute, so that their triggers come from the wheel.
_FIRST_MINUTE: Final = 7

#: Minutes that are counted, fewer at high rates. Counting stops after about this many triggers.
_MINUTES: Final = 20
_TRIGGERS: Final = 4_000

#: The sweeps of the first one-offs and of the last, and their deliveries, are over after this many minutes.
_ONE_OFF_MINUTES: Final = 3


def count() -> tuple[list[Count], IdleMinute]:
    """A count of each kind at each rate, and what a minute costs in which nothing is due."""
    with dynamodb_local.running() as url:
        usage, cpu_ms = _idle(url)
        idle = IdleMinute(usage.writes, usage.reads, usage.invocations, round(cpu_ms, 2))
        return list(_counts(url, usage)), idle


def _counts(url: str, idle: Usage) -> Iterator[Count]:
    chance = random.Random(7)  # noqa: S311 - any spread will do, as long as it is the same
    for herd in HERDS:
        yield _recurring(url, idle, "recurring", None, [0] * herd)
    for rate in _RATES_OF_OTHERS:
        yield _recurring(url, idle, "recurringWithHistory", rate, _spread(chance, rate))
        yield _one_offs(url, idle, "oneOffInBulk", rate, _spread(chance, rate))
        yield _one_offs(url, idle, "oneOffSingly", rate, _spread(chance, rate))
    yield _one_offs(url, idle, "oneOffInBulk", None, [0] * HERD_OF_ONE_OFFS)
    yield _one_offs(url, idle, "oneOffSingly", None, [0] * HERD_OF_ONE_OFFS)
    for rate in RATES:
        yield _recurring(url, idle, "recurring", rate, _spread(chance, rate))


def _spread(chance: random.Random, rate: float) -> list[int]:
    """The ms of a minute at which as many triggers are due as make up the rate."""
    return sorted(chance.randrange(MINUTE_MS) for _ in range(round(60 * rate)))


def _house(url: str, kind: Kind, rate: float | None, jobs: int) -> Wheelhouse:
    print(f"  {kind}, {rate or 'together'}, {jobs} jobs", flush=True)
    house = Wheelhouse(url, f"{kind}-{rate}-{jobs}", shards=1)
    house.tick()
    return house


def _first_due(house: Wheelhouse, offset_ms: int) -> dict[str, str]:
    minute = house.clock.now() - house.clock.now() % MINUTE_MS + _FIRST_MINUTE * MINUTE_MS
    return {"dueTime": f"{minute + offset_ms - house.clock.now()}ms"}


def _recurring(url: str, idle: Usage, kind: Kind, rate: float | None, offsets_ms: Sequence[int]) -> Count:
    """Jobs that recur each minute, in a steady state: what creating them costs is not counted."""
    history = {} if kind == "recurringWithHistory" else {"history": "failures"}
    house = _house(url, kind, rate, len(offsets_ms))
    house.create_in_bulk(
        {"schedule": "@every 1m", **history, **_first_due(house, each)} for each in offsets_ms
    )
    house.run(_FIRST_MINUTE + 1)
    minutes = min(_MINUTES, max(1, _TRIGGERS // len(offsets_ms)))
    return _counted(house, idle, kind, rate, minutes=minutes)


def _one_offs(url: str, idle: Usage, kind: Kind, rate: float | None, offsets_ms: Sequence[int]) -> Count:
    """Jobs that fire once. Everything from their creation on is counted, but for the call of the API."""
    house = _house(url, kind, rate, len(offsets_ms))
    jobs: list[Mapping[str, Any]] = [
        {"history": "failures", **_first_due(house, each)} for each in offsets_ms
    ]
    write = house.create_in_bulk if kind == "oneOffInBulk" else house.create
    return _counted(
        house, idle, kind, rate, minutes=_FIRST_MINUTE + _ONE_OFF_MINUTES, begin=lambda: write(jobs)
    )


def _counted(
    house: Wheelhouse,
    idle: Usage,
    kind: Kind,
    rate: float | None,
    *,
    minutes: int,
    begin: Callable[[], None] = lambda: None,
) -> Count:
    house.meter.reset()
    delivered, sent, stored = house.delivered, house.sent, house.stored_bytes()
    begin()
    sweep_cpu_s = house.swept_cpu_s
    house.run(minutes)
    triggers = house.delivered - delivered
    usage = less(house.meter.usage, idle, minutes)
    now = house.stored_bytes()
    return Count(
        kind=kind,
        rate=rate,
        triggers=triggers,
        per_minute=triggers // (minutes if kind.startswith("recurring") else 1),
        writes=round(usage.writes / triggers, 4),
        reads=round(usage.reads / triggers, 4),
        messages=round((house.sent.messages - sent.messages) / triggers, 4),
        sends=round((house.sent.requests - sent.requests) / triggers, 4),
        jobs_bytes=round((now.jobs - stored.jobs) / triggers, 1),
        timers_bytes=round((now.timers - stored.timers) / triggers, 1),
        sweep_cpu_ms=round((house.swept_cpu_s - sweep_cpu_s) * 1_000 / triggers, 4),
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
