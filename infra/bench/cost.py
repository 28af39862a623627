"""What a trigger costs in DynamoDB units and SQS requests, against the bounds of the design (protocol.md)."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from infra import dynamodb_local
from infra.bench.meter import Usage, less
from infra.bench.prices import requests_per_million
from infra.bench.report import Report, against, is_within
from infra.bench.wheelhouse import SHARDS, Wheelhouse

#: Ticks until the directly armed triggers are delivered, so that every further trigger comes from the wheel.
_WARM_UP_MINUTES: Final = 6

#: Ticks until the last one-off is delivered. It is due seven minutes after its creation.
_ONE_OFF_MINUTES: Final = 9


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one trigger may use at most; None where the design has no bound."""

    writes: float | None = None
    reads: float | None = None
    sqs: float | None = None


@dataclass(frozen=True, slots=True)
class Scenario:
    """What was measured. `count` is the number by which the usage is divided."""

    name: str
    count: int
    usage: Usage
    bounds: Bounds = Bounds()

    @property
    def writes(self) -> float:
        """WRU for each."""
        return self.usage.writes / self.count

    @property
    def reads(self) -> float:
        """RRU for each."""
        return self.usage.reads / self.count

    @property
    def sqs(self) -> float:
        """SQS requests for each."""
        return self.usage.sqs / self.count


_RECURRING: Final = Bounds(0.2, 2.3, 0.35)
_ONE_OFF: Final = Bounds(2.1, 3.3, 0.35)


def measure(triggers: int) -> Report:
    """Run every scenario over about that many triggers, on a DynamoDB Local of its own."""
    with dynamodb_local.running() as url:
        idle = _idle(url)
        found = list(_Bench(url, triggers, _tick_alone(idle)).scenarios())
    rows = [_row(each) for each in found] + [_idle_row(idle)]
    return Report(
        title=f"Cost of a trigger, over {triggers} triggers each, on DynamoDB Local",
        columns=("scenario", "triggers", "WRU", "RRU", "SQS", "Lambda calls", "$ per million"),
        rows=rows,
        figures={"scenarios": [_figures(each) for each in [*found, idle]], "shards": SHARDS},
        is_within=all(_is_within(each) for each in [*found, idle]),
        notes=(
            "`of` is the design's bound. What tick does every minute is in the last row and in no other.",
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

    def scenarios(self) -> Iterator[Scenario]:
        """Each scenario in a stack of its own."""
        every_minute = {"schedule": "@every 1m", "history": "failures"}
        recurring = self._recurring("recurring, 50 per shard and sweep", [every_minute] * 50 * SHARDS)
        yield replace(recurring, bounds=_RECURRING)
        fewest = self._recurring("recurring, 30 per shard and sweep", [every_minute] * 30 * SHARDS)
        yield replace(fewest, bounds=_RECURRING)
        every_5_s = {"schedule": "@every 5s", "history": "failures"}
        yield self._recurring("recurring, each job every 5 s", [every_5_s] * 25 * SHARDS)
        apart = [{**every_minute, "dueTime": f"{number}s"} for number in range(1, 61)]
        yield self._recurring("recurring, one trigger a second", apart)
        yield self._one_offs()
        kept = self._recurring("recurring, history kept", [{"schedule": "@every 1m"}] * 50 * SHARDS)
        yield kept
        yield _difference(kept, recurring)

    def _recurring(self, name: str, jobs: Sequence[Mapping[str, Any]]) -> Scenario:
        """Jobs written at one moment. Sweeping and delivering are counted, and creating is not."""
        house = Wheelhouse(self.url, name.replace(" ", "-").replace(",", ""))
        house.create(jobs)
        house.run(_WARM_UP_MINUTES)
        per_minute = self._counted(house, 1, name).count
        return self._counted(house, -(-self.triggers // per_minute), name)

    def _counted(self, house: Wheelhouse, minutes: int, name: str) -> Scenario:
        house.meter.reset()
        before = house.delivered
        house.run(minutes)
        return Scenario(name, house.delivered - before, less(house.meter.usage, self.tick, minutes))

    def _one_offs(self) -> Scenario:
        """Jobs due once, spread evenly over two minutes. Everything from their creation on is counted."""
        house = Wheelhouse(self.url, "one-offs")
        house.tick()
        house.meter.reset()
        due_times = (f"{360_000 + 120_000 * number // self.triggers}ms" for number in range(self.triggers))
        house.create_in_bulk({"dueTime": due, "history": "failures"} for due in due_times)
        house.run(_ONE_OFF_MINUTES)
        assert house.delivered == self.triggers, f"{house.delivered} of {self.triggers} were delivered"
        usage = less(house.meter.usage, self.tick, _ONE_OFF_MINUTES)
        return Scenario("one-off, created in bulk", self.triggers, usage, _ONE_OFF)


def _difference(kept: Scenario, other: Scenario) -> Scenario:
    """The cost of history: the difference between the two scenarios, scaled to the one with history."""
    share = kept.count / other.count
    usage = less(kept.usage, other.usage, share)
    return Scenario("history kept: what it adds", kept.count, usage, Bounds(writes=1.05))


def _idle(url: str) -> Scenario:
    """One minute in which nothing is due. Its cost is per shard and not per trigger."""
    house = Wheelhouse(url, "idle")
    house.tick()
    house.meter.reset()
    house.tick()
    return Scenario("a minute with nothing due", SHARDS, house.meter.usage, Bounds(1, 2))


def _tick_alone(idle: Scenario) -> Usage:
    """The part of an idle minute that is tick's own: everything but the one read of each shard."""
    look = Usage(reads=1, by_call=defaultdict(float, {"timers Query": 1}))
    return less(idle.usage, look, SHARDS)


def _row(scenario: Scenario) -> tuple[str, ...]:
    usage, bounds, count = scenario.usage, scenario.bounds, scenario.count
    return (
        scenario.name,
        str(count),
        against(scenario.writes, bounds.writes),
        against(scenario.reads, bounds.reads),
        against(scenario.sqs, bounds.sqs),
        f"{usage.invocations / count:.3f}",
        f"{requests_per_million(usage, count):.2f}",
    )


def _idle_row(idle: Scenario) -> tuple[str, ...]:
    usage = idle.usage
    return (
        f"{idle.name}, {SHARDS} shards: in all",
        "0",
        against(usage.writes, idle.bounds.writes and idle.bounds.writes * SHARDS),
        against(usage.reads, idle.bounds.reads and idle.bounds.reads * SHARDS),
        str(usage.sqs),
        against(usage.invocations, 1, 0),
        "",
    )


def _is_within(scenario: Scenario) -> bool:
    bounds = scenario.bounds
    pairs = (
        (scenario.writes, bounds.writes),
        (scenario.reads, bounds.reads),
        (scenario.sqs, bounds.sqs),
    )
    return all(is_within(figure, bound) for figure, bound in pairs)


def _figures(scenario: Scenario) -> dict[str, Any]:
    per_trigger = {
        "writes": scenario.writes,
        "reads": scenario.reads,
        "sqs": scenario.sqs,
        "invocations": scenario.usage.invocations / scenario.count,
    }
    return {
        "name": scenario.name,
        "count": scenario.count,
        "each": {name: round(value, 4) for name, value in per_trigger.items()},
        "atMost": asdict(scenario.bounds),
        "unitsByCall": {
            call: round(units / scenario.count, 4) for call, units in scenario.usage.by_call.items()
        },
    }
