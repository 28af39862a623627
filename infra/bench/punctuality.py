"""Which owed triggers came, how often, and how late."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from infra.bench.consumer import Arrival
from infra.bench.report import Cell, Figure


@dataclass(frozen=True, slots=True)
class Punctuality:
    """The punctuality of one group of triggers. Lateness is that of each trigger's first delivery, in ms."""

    owed: int
    delivered: int
    lost: int
    early: int
    duplicates: int
    p50_ms: int
    p99_ms: int
    max_ms: int

    def cells(self, p99_most_ms: int) -> Mapping[str, Cell]:
        """The cells of a report. None may be lost or early, and the p99 has an aim."""
        return {
            "owed": self.owed,
            "delivered": self.delivered,
            "lost": Figure(self.lost, 0, 0),
            "early": Figure(self.early, 0, 0),
            "twice": self.duplicates,
            "p50 ms": self.p50_ms,
            "p99 ms": Figure(self.p99_ms, 0, p99_most_ms),
            "max ms": self.max_ms,
        }


def judge(owed: AbstractSet[tuple[str, int]], arrivals: Iterable[Arrival]) -> Punctuality:
    """The punctuality of the triggers in `owed`, which names each by its job and due time.

    Others are ignored.
    """
    first: dict[tuple[str, int], Arrival] = {}
    early = duplicates = 0
    for each in arrivals:
        named = (each.job, each.due_at)
        if named not in owed:
            continue
        early += each.arrived_at < each.due_at
        duplicates += named in first
        first.setdefault(named, each)
    lateness = sorted(each.arrived_at - each.due_at for each in first.values())
    return Punctuality(
        owed=len(owed),
        delivered=len(first),
        lost=len(owed) - len(first),
        early=early,
        duplicates=duplicates,
        p50_ms=percentile(lateness, 50),
        p99_ms=percentile(lateness, 99),
        max_ms=percentile(lateness, 100),
    )


def series_owed(
    arrivals: Sequence[Arrival], period_ms: int, *, after: int, until: int
) -> AbstractSet[tuple[str, int]]:
    """What jobs of one period owed in a range of time. A trigger's number shows when its series began."""
    begins = {each.job: each.due_at - (each.sequence - 1) * period_ms for each in arrivals}
    return {
        (job, due_at)
        for job, begin_at in begins.items()
        for due_at in range(begin_at, until + 1, period_ms)
        if due_at > after
    }


def percentile(ordered: Sequence[int], percent: int) -> int:
    """The smallest value that so many per cent of the values do not exceed; 0 without values."""
    return ordered[-(-len(ordered) * percent // 100) - 1] if ordered else 0
