"""The cost of one slow consumer among ten: how long the other nine wait, and the function's time."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import time_ns
from typing import Any, Final, NamedTuple

from infra.bench import consumer, prices
from infra.bench.consumer import SLOW_S
from infra.bench.function import BATCH_MAX, Function, alone, event
from infra.bench.report import Report

#: Batches with a slow consumer, and how many batches without one come before each.
_SLOW_BATCHES: Final = 6
_QUICK_BATCHES: Final = 25

#: The delivery function's memory (template.yaml).
_MEMORY_GB: Final = 0.25

#: How much later the other nine may be at the median, compared with no slow one: two runs differ by that.
_NOISE_MS: Final = 2.0


class _Batch(NamedTuple):
    """One call: when it began (epoch ns), how many ms it took, and all trigger ids but the first."""

    is_slow: bool
    began_ns: int
    took_ms: float
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Kind:
    """The calls of one kind: ms until each call's nine requests arrived, and ms of each call."""

    name: str
    waits_ms: Sequence[float]
    took_ms: Sequence[float]

    @property
    def gb_s(self) -> float:
        """The billed time of a call, at the median."""
        return statistics.median(self.took_ms) / 1_000 * _MEMORY_GB

    @property
    def dollars(self) -> float:
        """The price of the function's time for a million triggers in such batches."""
        return prices.GB_SECOND.of(self.gb_s) * 1_000_000 / BATCH_MAX


def measure() -> Report:
    """Call the function with batches of both kinds in turn.

    It takes a little over the slow consumer's time.
    """
    with consumer.elsewhere() as receiver:
        batches = alone(_calls, receiver.url)
        arrived_ns = dict(receiver.taken())
    kinds = [
        _kind("all ten quick", [each for each in batches if not each.is_slow], arrived_ns),
        _kind(f"one takes {SLOW_S} s", [each for each in batches if each.is_slow], arrived_ns),
    ]
    quick, slow = (statistics.median(kind.waits_ms) for kind in kinds)
    return Report(
        title=f"A slow consumer among ten, in {_SLOW_BATCHES} of {len(batches)} batches",
        columns=("batch", "nine wait, ms: median", "p90", "max", "billed ms", "GB-s", "$ per million"),
        rows=[_row(kind) for kind in kinds],
        figures={"kinds": [_figures(kind) for kind in kinds], "addedMs": round(slow - quick, 2)},
        is_within=slow - quick <= _NOISE_MS,
        notes=(
            f"From the function's call to a request's arrival; the slow one adds {slow - quick:.1f} ms.",
            f"Billed: the median call, at {_MEMORY_GB:g} GB. Dollars: a million triggers in such batches,",
            "time alone. History is kept, and boto3 does all of its work but the network's.",
        ),
    )


def _calls(url: str) -> Sequence[_Batch]:
    function = Function(url, "outcome", has_boto3=True)
    pattern = ([False] * _QUICK_BATCHES + [True]) * _SLOW_BATCHES
    for _ in range(_QUICK_BATCHES):
        function.handle(event(function.batch()))
    return [_called(function, is_slow=is_slow) for is_slow in pattern]


def _called(function: Function, *, is_slow: bool) -> _Batch:
    messages = function.batch(has_slow=is_slow)
    batch = event(messages)
    began_ns = time_ns()
    function.handle(batch)
    took_ms = (time_ns() - began_ns) / 1_000_000
    return _Batch(is_slow, began_ns, took_ms, tuple(each.trigger.id for each in messages[1:]))


def _kind(name: str, batches: Sequence[_Batch], arrived_ns: Mapping[str, int]) -> _Kind:
    waits = [(arrived_ns[one] - each.began_ns) / 1_000_000 for each in batches for one in each.others]
    return _Kind(name, sorted(waits), [each.took_ms for each in batches])


def _row(kind: _Kind) -> tuple[str, ...]:
    return (
        kind.name,
        f"{statistics.median(kind.waits_ms):.1f}",
        f"{_p90(kind.waits_ms):.1f}",
        f"{kind.waits_ms[-1]:.1f}",
        f"{statistics.median(kind.took_ms):.0f}",
        f"{kind.gb_s:.4f}",
        f"{kind.dollars:.2f}",
    )


def _p90(ordered: Sequence[float]) -> float:
    return ordered[-(-len(ordered) * 9 // 10) - 1]


def _figures(kind: _Kind) -> dict[str, Any]:
    return {
        "name": kind.name,
        "waitsMs": {
            "median": round(statistics.median(kind.waits_ms), 2),
            "p90": round(_p90(kind.waits_ms), 2),
            "max": round(kind.waits_ms[-1], 2),
        },
        "billedMs": round(statistics.median(kind.took_ms), 1),
        "gbS": round(kind.gb_s, 5),
        "dollarsPerMillion": round(kind.dollars, 3),
    }
