"""What a trigger costs in DynamoDB units and SQS requests, against the bounds of the design (protocol.md)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from infra import dynamodb_local
from infra.bench.meter import Usage, less
from infra.bench.report import Cell, Report
from infra.bench.units import UNBOUNDED, Bounds, cells
from infra.bench.wheelhouse import SHARDS, Wheelhouse

#: Ticks until the directly armed triggers are delivered, so that every further trigger comes from the wheel.
_WARM_UP_MINUTES: Final = 6

#: Ticks until the last one-off is delivered. It is due seven minutes after its creation.
_ONE_OFF_MINUTES: Final = 9

_RECURRING: Final = Bounds(0.2, 2.3, 0.35)
_ONE_OFF: Final = Bounds(2.1, 3.3, 0.35)


@dataclass(frozen=True, slots=True)
class _Scenario:
    """What was measured. `count` is the number by which the usage is divided."""

    name: str
    count: int
    usage: Usage
    bounds: Bounds = UNBOUNDED

    def row(self) -> Mapping[str, Cell]:
        """The row of the report."""
        return {"scenario": self.name, "triggers": self.count, **cells(self.usage, self.count, self.bounds)}


def measure(triggers: int) -> Report:
    """Run every scenario over about that many triggers, on a DynamoDB Local of its own."""
    with dynamodb_local.running() as url:
        idle = _idle(url)
        # What tick itself does in a minute: everything but the one read of each shard.
        tick = less(idle.usage, Usage(reads=1), SHARDS)
        scenarios = list(_Bench(url, triggers, tick).scenarios())
    return Report(
        title=f"Cost of a trigger, over {triggers} triggers each, on DynamoDB Local",
        rows=[each.row() for each in (*scenarios, idle)],
        notes=(
            "`of` is the design's bound. What tick does every minute is in the last row and in no other.",
            f"That row is for each of {SHARDS} shards.",
            "Dollars: units, SQS requests and Lambda calls at list price, without the functions' time.",
            "A strong read that finds nothing counts as 1 RRU, which DynamoDB Local reports as 0.",
        ),
    )


@dataclass(frozen=True, slots=True)
class _Bench:
    """The scenarios, each over about that many triggers. `tick` is the cost of an idle minute."""

    url: str
    triggers: int
    tick: Usage

    def scenarios(self) -> Iterator[_Scenario]:
        """Each scenario in a stack of its own."""
        every_minute = {"schedule": "@every 1m", "history": "failures"}
        recurring = self._recurring(
            "recurring, 50 per shard and sweep", [every_minute] * 50 * SHARDS, _RECURRING
        )
        yield recurring
        yield self._recurring("recurring, 30 per shard and sweep", [every_minute] * 30 * SHARDS, _RECURRING)
        every_5_s = {"schedule": "@every 5s", "history": "failures"}
        yield self._recurring("recurring, each job every 5 s", [every_5_s] * 25 * SHARDS)
        apart = [{**every_minute, "dueTime": f"{number}s"} for number in range(1, 61)]
        yield self._recurring("recurring, one trigger a second", apart)
        yield self._one_offs()
        kept = self._recurring("recurring, history kept", [{"schedule": "@every 1m"}] * 50 * SHARDS)
        yield kept
        added = less(kept.usage, recurring.usage, kept.count / recurring.count)
        yield _Scenario("history kept: what it adds", kept.count, added, Bounds(writes=1.05))

    def _recurring(
        self,
        name: str,
        jobs: Sequence[Mapping[str, Any]],
        bounds: Bounds = UNBOUNDED,
    ) -> _Scenario:
        """Jobs written at one moment. Sweeping and delivering are counted, and creating is not."""
        house = Wheelhouse(self.url, name.replace(" ", "-").replace(",", ""))
        house.create(jobs)
        house.run(_WARM_UP_MINUTES)
        before = house.delivered
        house.run(1)
        minutes = -(-self.triggers // (house.delivered - before))
        house.meter.reset()
        before = house.delivered
        house.run(minutes)
        usage = less(house.meter.usage, self.tick, minutes)
        return _Scenario(name, house.delivered - before, usage, bounds)

    def _one_offs(self) -> _Scenario:
        """Jobs due once, spread evenly over two minutes. Everything from their creation on is counted."""
        house = Wheelhouse(self.url, "one-offs")
        house.tick()
        house.meter.reset()
        due_times = (f"{360_000 + 120_000 * number // self.triggers}ms" for number in range(self.triggers))
        house.create_in_bulk({"dueTime": due, "history": "failures"} for due in due_times)
        house.run(_ONE_OFF_MINUTES)
        assert house.delivered == self.triggers, f"{house.delivered} of {self.triggers} were delivered"
        usage = less(house.meter.usage, self.tick, _ONE_OFF_MINUTES)
        return _Scenario("one-off, created in bulk", self.triggers, usage, _ONE_OFF)


def _idle(url: str) -> _Scenario:
    """One minute in which nothing is due. Its cost is per shard and not per trigger."""
    house = Wheelhouse(url, "idle")
    house.tick()
    house.meter.reset()
    house.tick()
    return _Scenario("a minute with nothing due", SHARDS, house.meter.usage, Bounds(1, 2))
