"""Which owed triggers came, how often, and how late."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from infra.bench.consumer import Arrival
from infra.bench.report import Cell, Figure

_Key = TypeVar("_Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Punctuality:
    """The punctuality of one group of triggers. Lateness is that of each trigger's first delivery, in ms."""

    owed: int
    delivered: int
    early: int
    twice: int
    p50_ms: int
    p99_ms: int
    max_ms: int

    @property
    def lost(self) -> int:
        """How many triggers did not come."""
        return self.owed - self.delivered

    def cells(self, p99_most_ms: int) -> Mapping[str, Cell]:
        """The cells of a report. None may be lost or early, and the p99 has an aim."""
        return {
            "owed": self.owed,
            "delivered": self.delivered,
            "lost": Figure(self.lost, 0, 0),
            "early": Figure(self.early, 0, 0),
            "twice": self.twice,
            "p50 ms": self.p50_ms,
            "p99 ms": Figure(self.p99_ms, 0, p99_most_ms),
            "max ms": self.max_ms,
        }


def judge(
    due_at: Mapping[_Key, int], arrivals: Iterable[tuple[_Key, int]], *, clocks_ms: int = 0
) -> Punctuality:
    """The punctuality of the triggers in `due_at`. `arrivals` names each by its key, and says when it came.

    Others are ignored. The clock of the arrivals may be behind by `clocks_ms`.
    """
    first: dict[_Key, int] = {}
    early = twice = 0
    for key, arrived_at in arrivals:
        if key in due_at:
            early += arrived_at + clocks_ms < due_at[key]
            twice += key in first
            first.setdefault(key, arrived_at)
    late_ms = sorted(arrived_at - due_at[key] for key, arrived_at in first.items())
    p50_ms, p99_ms, max_ms = (_percentile(late_ms, percent) for percent in (50, 99, 100))
    return Punctuality(len(due_at), len(first), early, twice, p50_ms, p99_ms, max_ms)


def judge_series(arrivals: Sequence[Arrival], period_ms: int, *, after: int, until: int) -> Punctuality:
    """The punctuality of jobs of one period in a range of time.

    A trigger's number shows when its series began.
    """
    begins = {each.job: each.due_at - (each.sequence - 1) * period_ms for each in arrivals}
    owed = {
        (name, due_at): due_at
        for name, begin_at in begins.items()
        for due_at in range(begin_at, until + 1, period_ms)
        if due_at > after
    }
    return judge(owed, [((each.job, each.due_at), each.arrived_at) for each in arrivals])


def _percentile(ordered: Sequence[int], percent: int) -> int:
    """The smallest value that so many per cent of the values do not exceed; 0 without values."""
    return ordered[-(-len(ordered) * percent // 100) - 1] if ordered else 0
