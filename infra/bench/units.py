"""What a trigger used, as cells of a report, against the bounds of the design."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from infra.bench.meter import Usage
from infra.bench.report import Cell, Figure
from infra.calculator.prices import INVOCATIONS, MILLION, READS, SQS_REQUESTS, WRITES


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one trigger may use at most; None where the design has no bound."""

    writes: float | None = None
    reads: float | None = None
    sqs: float | None = None


UNBOUNDED: Final = Bounds()


def cells(usage: Usage, count: int, bounds: Bounds = UNBOUNDED) -> Mapping[str, Cell]:
    """The cells of a report: what each of `count` triggers used, and dollars for a million of them.

    The dollars are without the functions' time.
    """

    def figure(used: float, most: float | None = None) -> Figure:
        # The design's bounds have two digits.
        return Figure(used / count, 3 if most is None else 2, most)

    dollars = (
        WRITES.of(usage.writes)
        + READS.of(usage.reads)
        + SQS_REQUESTS.of(usage.sqs)
        + INVOCATIONS.of(usage.invocations)
    )
    return {
        "WRU": figure(usage.writes, bounds.writes),
        "RRU": figure(usage.reads, bounds.reads),
        "SQS": figure(usage.sqs, bounds.sqs),
        "Lambda calls": figure(usage.invocations),
        "$ per million": Figure(dollars * MILLION / count),
    }
