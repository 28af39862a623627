"""What a trigger costs in DynamoDB units and SQS requests, against the bounds of the design (protocol.md)."""

import random
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from infra import dynamodb_local
from infra.bench.meter import UNBOUNDED, Bounds, Usage, cells, less
from infra.bench.report import Cell, Report
from infra.bench.wheelhouse import Wheelhouse

from sweephand.base.instants import MINUTE_MS

#: Jobs begin in this minute, so that their triggers come from the wheel.
_FIRST_MINUTE: Final = 7

#: The sweeps of the first one-offs and of the last, and their deliveries, are over after this many minutes.
_ONE_OFF_MINUTES: Final = 3

_IDLE_TICKS: Final = 20

_RECURRING: Final = Bounds(0.2, 2.3, 0.35)
_ONE_OFF: Final = Bounds(2.1, 3.3, 0.35)


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


@dataclass(frozen=True, slots=True)
class Counted:
    """What the triggers of a case used in some minutes. The cost of idle minutes is left out."""

    triggers: int
    minutes: int
    usage: Usage
    messages: int = 0
    sends: int = 0
    jobs_bytes: int = 0
    timers_bytes: int = 0
    sweep_cpu_s: float = 0

    def row(self, name: str, bounds: Bounds = UNBOUNDED) -> Mapping[str, Cell]:
        """The row of the report."""
        return {"scenario": name, "triggers": self.triggers, **cells(self.usage, self.triggers, bounds)}


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
    idle, _ = count_idle(url)
    plain = count(url, idle, Case("recurring", None, 50), triggers)
    yield plain.row("recurring, 50 in a sweep", _RECURRING)
    fewer = count(url, idle, Case("recurring", None, 30), triggers)
    yield fewer.row("recurring, 30 in a sweep", _RECURRING)
    yield count(url, idle, Case("recurring", 1.0, 60), triggers).row("recurring, one trigger a second")
    once = Case("oneOffInBulk", triggers / 60, triggers)
    yield count(url, idle, once, triggers).row("one-off, created in bulk", _ONE_OFF)
    kept = count(url, idle, Case("recurringWithHistory", None, 50), triggers)
    yield kept.row("recurring, history kept")
    added = less(kept.usage, plain.usage, kept.triggers / plain.triggers)
    yield Counted(kept.triggers, 0, added).row("history kept: what it adds", Bounds(writes=1.05))
    yield Counted(1, 1, idle).row("a minute with nothing due", Bounds(1, 2))


def count(url: str, idle: Usage, case: Case, triggers: int) -> Counted:
    """What a trigger uses, counted over about that many. `idle` is the usage of a minute with nothing due.

    Jobs that recur are in a steady state: what creating them costs is not counted. Of one-offs everything is
    counted from their creation on, but for the call of the API.
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
    house.meter.reset()
    delivered, sent, stored, swept_s = house.delivered, house.sent, house.stored_bytes(), house.swept_cpu_s
    if not case.recurs:
        write(written)
    house.run(minutes)
    now, came = house.stored_bytes(), house.delivered - delivered
    assert case.recurs or came == case.jobs, f"{came} of {case.jobs} were delivered"
    return Counted(
        triggers=came,
        minutes=minutes,
        usage=less(house.meter.usage, idle, minutes),
        messages=house.sent.messages - sent.messages,
        sends=house.sent.requests - sent.requests,
        jobs_bytes=now.jobs - stored.jobs,
        timers_bytes=now.timers - stored.timers,
        sweep_cpu_s=house.swept_cpu_s - swept_s,
    )


def count_idle(url: str) -> tuple[Usage, float]:
    """The usage of a minute in which nothing is due, and the seconds of CPU that tick takes for it."""
    house = Wheelhouse(url, "idle", shards=1)
    for _ in range(_IDLE_TICKS):
        house.tick()
    house.meter.reset()
    house.tick()
    usage = house.meter.usage
    house.meter.reset()
    began = time.process_time()
    for _ in range(_IDLE_TICKS):
        house.tick()
    return usage, (time.process_time() - began) / _IDLE_TICKS
