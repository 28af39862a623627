"""What a trigger costs in DynamoDB units and SQS requests, against the bounds of the design (protocol.md)."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from typing import Final, NamedTuple

from infra import dynamodb_local
from infra.bench.meter import cells
from infra.bench.report import Cell, Report
from infra.bench.wheelhouse import Wheelhouse

from sweephand.base.instants import MINUTE_MS
from sweephand_engine.costs.measured import Count, Usage

#: Jobs begin in this minute, so that their triggers come from the wheel.
_FIRST_MINUTE: Final = 7

#: The sweeps of the first one-offs and of the last, and their deliveries, are over after this many minutes.
_ONE_OFF_MINUTES: Final = 3

_IDLE_TICKS: Final = 20

_RECURRING: Final = {"WRU": 0.2, "RRU": 2.3, "SQS": 0.35}
_ONE_OFF: Final = {"WRU": 2.1, "RRU": 3.3, "SQS": 0.35}


class Case(NamedTuple):
    """Jobs of a kind, whose triggers come `rate` a second at random, or together if it is None.

    `kind` is `recurring`, `recurringWithHistory`, `oneOffInBulk` or `oneOffSingly`. Recurring jobs are due
    every minute.
    """

    kind: str
    rate: float | None
    jobs: int

    @property
    def recurs(self) -> bool:
        """Whether the jobs recur."""
        return self.kind.startswith("recurring")


def measure(triggers: int) -> Report:
    """Count each scenario over about that many triggers, on a DynamoDB Local of its own."""
    with dynamodb_local.running() as url:
        rows = list(_rows(url, triggers))
    return Report(
        title=f"Cost of a trigger, over {triggers} triggers each, on DynamoDB Local",
        rows=rows,
        notes=(
            "`of` is the design's bound. What tick does every minute is in the last row and in no other.",
            "There is one shard. Dollars: units, SQS requests and Lambda calls at list price, without time.",
            "A strong read that finds nothing counts as 1 RRU, which DynamoDB Local reports as 0.",
        ),
    )


def _rows(url: str, triggers: int) -> Iterator[Mapping[str, Cell]]:
    idle = count_idle(url)
    scenarios: tuple[tuple[str, Case, Mapping[str, float]], ...] = (
        ("recurring, 50 in a sweep", Case("recurring", None, 50), _RECURRING),
        ("recurring, 30 in a sweep", Case("recurring", None, 30), _RECURRING),
        ("recurring, one trigger a second", Case("recurring", 1.0, 60), {}),
        ("one-off, created in bulk", Case("oneOffInBulk", triggers / 60, triggers), _ONE_OFF),
        ("recurring, history kept", Case("recurringWithHistory", None, 50), {}),
    )
    counts = []
    for name, case, bounds in scenarios:
        each = count(url, idle, case, triggers)
        counts.append(each)
        yield {"scenario": name, "triggers": each.triggers, **cells(each, bounds)}
    plain, *_, kept = counts
    added = kept.plus(plain, -1)
    name = "history kept: what it adds"
    yield {"scenario": name, "triggers": kept.triggers, **cells(added, {"WRU": 1.05})}
    name = "a minute with nothing due"
    yield {"scenario": name, "triggers": 1, **cells(idle, {"WRU": 1, "RRU": 2})}


def count(url: str, idle: Usage, case: Case, triggers: int) -> Count:
    """What a trigger uses, counted over about that many. `idle` is the usage of a minute with nothing due.

    Jobs that recur are in a steady state: what creating them costs is not counted. Of one-offs everything is
    counted from their creation on, but for the call of the API. The CPU time is that of all ticks.
    """
    print(f"  {case.kind}, {case.rate or 'together'}, {case.jobs} jobs", flush=True)
    house = Wheelhouse(url, f"{case.kind}-{case.rate}-{case.jobs}", shards=1)
    house.tick()
    first_at = _FIRST_MINUTE * MINUTE_MS - house.clock.now() % MINUTE_MS
    job = {} if case.kind == "recurringWithHistory" else {"history": "failures"}
    if case.recurs:
        job |= {"schedule": "@every 1m"}
    chance = random.Random(7)  # noqa: S311 - any spread will do, as long as it is the same
    offsets_ms = sorted(chance.randrange(MINUTE_MS) if case.rate else 0 for _ in range(case.jobs))
    written = [{**job, "dueTime": f"{first_at + each}ms"} for each in offsets_ms]
    write = house.create if case.kind == "oneOffSingly" else house.create_in_bulk
    minutes = _FIRST_MINUTE + _ONE_OFF_MINUTES
    if case.recurs:
        write(written)
        house.run(_FIRST_MINUTE + 1)
        minutes = max(1, triggers // case.jobs)
    delivered, before = house.delivered, house.used()
    if not case.recurs:
        write(written)
    house.run(minutes)
    came = house.delivered - delivered
    assert case.recurs or came == case.jobs, f"{came} of {case.jobs} were delivered"
    used = house.used().plus(before, -1).plus(replace(idle, sweep_cpu_ms=0), -minutes)
    return Count(
        kind=case.kind,
        rate=case.rate,
        triggers=came,
        per_minute=came // minutes if case.recurs else came,
        **asdict(used.per(came)),
    )


def count_idle(url: str) -> Usage:
    """The usage of a minute in which nothing is due."""
    house = Wheelhouse(url, "idle", shards=1)
    for _ in range(_IDLE_TICKS):
        house.tick()
    before = house.used()
    for _ in range(_IDLE_TICKS):
        house.tick()
    return house.used().plus(before, -1).per(_IDLE_TICKS)
