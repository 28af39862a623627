"""The cost of sweeping a thousand due timers, against the number of timers that are stored."""

import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from infra import dynamodb_local
from infra.bench.report import Cell, Figure, Report
from infra.bench.wheelhouse import SHARDS, Wheelhouse

from sweephand.base.instants import MINUTE_MS, rfc3339
from sweephand.base.timing import DIRECT_WINDOW_MS

#: How many timers are stored. Writing 100,000 takes ten minutes or more.
SIZES: Final = (10_000, 100_000)

#: How many of them are due in each minute, unless the caller says otherwise.
DUE: Final = 1_000

#: The minutes that are measured. The first tick sweeps three minutes at once, and is not.
_MINUTES: Final = 7

#: How much more than with the fewest timers a sweep may cost, in units and in time.
_UNITS_MOST: Final = 1.10
_TIME_MOST: Final = 1.25


@dataclass(slots=True)
class _Stock:
    """A stack with so many timers, and write units, read units and seconds of each minute's sweep."""

    size: int
    house: Wheelhouse
    sweeps: list[tuple[float, float, float]] = field(default_factory=list)

    def sweep(self) -> None:
        """Tick at the start of the next minute."""
        self.house.clock.wait_until(self.house.next_minute())
        before, began = self.house.used(), time.perf_counter()
        self.house.tick()
        seconds, used = time.perf_counter() - began, self.house.used().plus(before, -1)
        self.sweeps.append((used.writes, used.reads, seconds))
        assert used.sqs, "a sweep that found nothing would look cheap"

    def medians(self) -> tuple[float, float, float]:
        """The medians over the measured minutes."""
        writes, reads, seconds = map(statistics.median, zip(*self.sweeps[1:], strict=True))
        return writes, reads, seconds


def measure(sizes: Sequence[int], due: int) -> Report:
    """Sweep the same number of due timers in each stack, in turn, on a DynamoDB Local of its own."""
    with dynamodb_local.running() as url:
        stocks = [_stock(url, size, due) for size in sorted(sizes)]
        for _ in range(1 + _MINUTES):
            for stock in stocks:
                stock.sweep()
    return Report(
        title=f"A sweep of {due:,} timers, of those that are stored, {_MINUTES} minutes each",
        rows=[_row(each, stocks[0]) for each in stocks],
        notes=(
            f"One tick each minute. {due:,} one-offs are due in it, in {SHARDS} shards.",
            "Medians. The time is that of tick with DynamoDB Local on the same machine.",
        ),
    )


def _row(stock: _Stock, fewest: _Stock) -> Mapping[str, Cell]:
    writes, reads, seconds = stock.medians()
    fewest_writes, fewest_reads, fewest_seconds = fewest.medians()
    return {
        "stored": f"{stock.size:,}",
        "WRU": Figure(writes, 1),
        "RRU": Figure(reads, 1),
        "units to the fewest": Figure((writes + reads) / (fewest_writes + fewest_reads), most=_UNITS_MOST),
        "ms": Figure(seconds * 1_000, 0),
        "ms to the fewest": Figure(seconds / fewest_seconds, most=_TIME_MOST),
    }


def _stock(url: str, size: int, due: int) -> _Stock:
    house = Wheelhouse(url, f"stored{size}")
    house.tick()  # makes the shards
    # So far ahead, each job goes by the wheel.
    begin = house.next_minute() + 2 * DIRECT_WINDOW_MS
    # Written one by one, no two timers share an item.
    house.create({"dueTime": rfc3339(begin + at * MINUTE_MS // due)} for at in range(size))
    house.clock.wait_until(begin - MINUTE_MS)
    return _Stock(size, house)
