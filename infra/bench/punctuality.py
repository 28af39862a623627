"""What of the triggers that were owed came, how often, and how late."""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from infra.bench.consumer import Arrival


@dataclass(frozen=True, slots=True)
class Punctuality:
    """Of one group of triggers: lateness is that of the first delivery of each, in ms."""

    owed: int
    delivered: int
    lost: int
    early: int
    duplicates: int
    p50_ms: int
    p99_ms: int
    max_ms: int


def judge(owed: AbstractSet[tuple[str, int]], arrivals: Iterable[Arrival]) -> Punctuality:
    """`owed` names each trigger by its job and due time; what is not among them is not looked at."""
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
        p50_ms=_percentile(lateness, 50),
        p99_ms=_percentile(lateness, 99),
        max_ms=_percentile(lateness, 100),
    )


def series_owed(
    arrivals: Sequence[Arrival], period_ms: int, *, after: int, until: int
) -> AbstractSet[tuple[str, int]]:
    """What jobs of one period owed in a span; the number of a trigger tells when the series began."""
    begins = {each.job: each.due_at - (each.sequence - 1) * period_ms for each in arrivals}
    return {
        (job, due_at)
        for job, begin_at in begins.items()
        for due_at in range(begin_at, until + 1, period_ms)
        if due_at > after
    }


def _percentile(ordered: Sequence[int], percent: int) -> int:
    """The smallest value that so many per cent do not exceed; 0 of nothing."""
    return ordered[-(-len(ordered) * percent // 100) - 1] if ordered else 0
