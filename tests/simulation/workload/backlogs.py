"""Slow stores, and seeds whose only trouble is slowness: ticks go missing, and much is due."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from tests.simulation.traces.chronicle import Chronicle
from tests.simulation.workload.clients import Step
from tests.simulation.workload.crowds import CROWD
from tests.simulation.workload.scenario import Scenario
from tests.simulation.world.faults import Role, is_backlogged, stream
from tests.simulation.world.gate import Gate, Slowness
from tests.simulation.world.processes import Scheduler

from sweephand.base.instants import MINUTE_MS, SECOND_MS, Instant

#: The ports of a sweep. A request takes the first time if all of them are slow, and the second if the queue
#: alone is.
_PORTS: Final = ("timers", "leases", "jobs", "runs", "queue")
_ALL_MS: Final = (300, 1_000, 2_500)
_QUEUE_MS: Final = 5_000

#: How long a store is slow in an ordinary seed, at most, and how long a request then takes.
_LASTS_MS_MAX: Final = 6 * MINUTE_MS
_SLOW_MS: Final = (200, 800, 3_000)

#: The functions that tick and sweep.
_WHEEL: Final[frozenset[Role]] = frozenset({"tick", "sweep"})

#: How long after the beginning ticks go missing. All jobs are written by then.
_MISSING_AFTER_MS: Final = 2 * MINUTE_MS


@dataclass(frozen=True, slots=True)
class Backlog:
    """A time of `missing_ms` without ticks. After it, each request of the wheel is slow until the calm."""

    shards: int
    minutes: int
    jobs: int
    sweepers_max: int
    missing_ms: int
    slow_ms: int
    slow_ports: tuple[str, ...]

    @classmethod
    def of(cls, seed: int) -> "Backlog | None":
        """Return the backlog of a seed, or None."""
        if not is_backlogged(seed):
            return None
        random = stream(seed, "backlog")
        is_of_queue = random.random() < 1 / 3
        return cls(
            shards=random.randint(2, 4),
            minutes=random.randint(18, 22),
            jobs=random.randint(6, 10),
            sweepers_max=random.choice((1, 4)),
            missing_ms=random.randint(4, 8) * MINUTE_MS,
            slow_ms=_QUEUE_MS if is_of_queue else random.choice(_ALL_MS),
            slow_ports=("queue",) if is_of_queue else _PORTS,
        )

    def scenario(self, usual: Scenario) -> Scenario:
        """Return the scenario of a seed with a backlog."""
        return replace(usual, shards=self.shards, minutes=self.minutes, jobs=self.jobs, deliveries_at_once=10)

    def steps(self, begins_at: Instant) -> list[Step]:
        """Return what clients ask for: they write each job once."""
        return [
            Step(number, begins_at + number * 2 * SECOND_MS, CROWD, f"job-{number}")
            for number in range(self.jobs)
        ]


def slow_spell(seed: int, begins_at: Instant, ends_at: Instant) -> tuple[Instant, Slowness]:
    """Return when stores are slow in an ordinary seed, and how slow."""
    random = stream(seed, "slow stores")
    at = random.randrange(begins_at, ends_at)
    ports = random.choice((_PORTS, _PORTS, (random.choice(_PORTS),)))
    return at, Slowness(at + random.randrange(_LASTS_MS_MAX), random.choice(_SLOW_MS), frozenset(ports))


class Slowdowns:
    """Makes stores slow, and lets ticks go missing in a seed with a backlog."""

    def __init__(self, scheduler: Scheduler, chronicle: Chronicle, gate: Gate) -> None:
        self._scheduler = scheduler
        self._chronicle = chronicle
        self._gate = gate

    def plan(self, slow_at: Instant, slow: Slowness) -> None:
        """Plan a time of slow stores."""
        self._scheduler.call_at(slow_at, partial(self._slow_down, slow))

    def plan_backlog(self, backlog: Backlog, calm_at: Instant, miss: Callable[[Instant], None]) -> None:
        """Plan the backlog: a time without ticks, and then slow stores.

        `miss` is called with the end of the time without ticks, and stores are slow from then on.
        """
        since = self._scheduler.now + _MISSING_AFTER_MS
        until = since + backlog.missing_ms
        self._scheduler.call_at(since, partial(self._miss_ticks, until, miss))
        self.plan(until, Slowness(calm_at, backlog.slow_ms, frozenset(backlog.slow_ports), _WHEEL))

    def _miss_ticks(self, until: Instant, miss: Callable[[Instant], None]) -> None:
        self._chronicle.mishap(f"no ticks of {until - self._scheduler.now} ms", "EventBridge")
        miss(until)

    def _slow_down(self, slow: Slowness) -> None:
        if self._chronicle.calm_at is None:
            self._chronicle.mishap(f"slowness of {slow.request_ms} ms", ", ".join(sorted(slow.ports)))
            self._gate.slow = slow
