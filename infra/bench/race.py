"""A race in one process: a function of Sweephand, and bare code that makes the same requests, in turn."""

import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from infra.bench.instant_dynamodb import Asked
from infra.bench.report import Cell, Figure

Task = Callable[[], object]


class Spent(NamedTuple):
    """Seconds, and seconds of this process's CPU."""

    wall_s: float
    cpu_s: float


@dataclass(frozen=True, slots=True)
class Side:
    """What one side spent in each round, in which it did `count` pieces of work."""

    count: int
    rounds: Sequence[Spent]

    @property
    def per_s(self) -> float:
        """Pieces a second, at the median."""
        return self.count / statistics.median(each.wall_s for each in self.rounds)

    @property
    def cpu_us(self) -> float:
        """CPU µs of a piece, at the median."""
        return statistics.median(each.cpu_s for each in self.rounds) * 1e6 / self.count


@dataclass(frozen=True, slots=True)
class Race:
    """Both sides of a race."""

    ours: Side
    bare: Side

    def cells(self, ratio_least: float | None, per_s_least: float | None = None) -> Mapping[str, Cell]:
        """The cells of a report. The ratio is the median over the rounds of ours to bare pieces a second."""
        pairs = zip(self.ours.rounds, self.bare.rounds, strict=True)
        ratios = sorted(bare.wall_s / ours.wall_s for ours, bare in pairs)
        quarter = len(ratios) // 4
        return {
            "a second": Figure(self.ours.per_s, 0, least=per_s_least),
            "bare": Figure(self.bare.per_s, 0),
            "ratio": Figure(statistics.median(ratios), least=ratio_least),
            "quartiles": f"{ratios[quarter]:.2f}-{ratios[-1 - quarter]:.2f}",
            "CPU us": Figure(self.ours.cpu_us, 0),
            "CPU ratio": Figure(self.bare.cpu_us / self.ours.cpu_us),
        }


def race(count: int, rounds: int, prepare: Callable[[], tuple[Task, Task]]) -> Race:
    """Run our task and the bare one so many times, in alternating order.

    `prepare` returns both for one round. A round before the first warms both up.
    """
    ours: list[Spent] = []
    bare: list[Spent] = []
    for number in range(rounds + 1):
        sides = list(zip(prepare(), (ours, bare), strict=True))
        for task, spent in sides if number % 2 else reversed(sides):
            spent.append(_timed(task))
    return Race(Side(count, ours[1:]), Side(count, bare[1:]))


def _timed(task: Task) -> Spent:
    began, cpu_began = time.perf_counter(), time.process_time()
    task()
    return Spent(time.perf_counter() - began, time.process_time() - cpu_began)


def stages(asked: Iterable[Asked], together: Mapping[str, str]) -> list[list[Asked]]:
    """The requests in the order in which they depend on each other.

    Requests in a row whose methods have the same value in `together` make one stage.
    """
    groups = groupby(enumerate(asked), key=lambda each: together.get(each[1].method, str(each[0])))
    return [[request for _, request in group] for _, group in groups]


def replay(
    stages: Iterable[Sequence[Asked]], clients: Mapping[str, Any], threads: ThreadPoolExecutor
) -> None:
    """Make the requests again. Those of one stage go out at the same time."""

    def call(asked: Asked) -> None:
        getattr(clients[asked.service], asked.method)(**asked.parameters)

    for stage in stages:
        if len(stage) == 1:
            call(stage[0])
        else:
            list(threads.map(call, stage))
