"""What a consumer's requests tell about a batch: the use of its limit, and the distance from its plan."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import accumulate
from typing import Final

from infra.bench.consumer import Arrival, Open
from infra.bench.punctuality import percentile

_MS_NS: Final = 1_000_000

#: Work waits as long as this many events for each permit are due and have not come. Below that, the end of
#: the work is near, and not all workers find some. tests/simulation/flow measures the same.
_WAITING_PER_PERMIT: Final = 2


@dataclass(frozen=True, slots=True)
class Plan:
    """A batch of so many events: its name, its limit (None: no policy), and when it is due, in epoch ms.

    Its consumer takes `answer_ms` for an answer.
    """

    name: str
    events: int
    window_ms: int
    limit: int | None
    due_at: int
    answer_ms: int = 100

    def planned_at(self) -> Sequence[int]:
        """When each event is due, in the order of their indexes. docs/guide.md has the rule."""
        return [self.due_at + index * self.window_ms // self.events for index in range(self.events)]


@dataclass(frozen=True, slots=True)
class Figures:
    """What became of a batch. Times are in ms.

    `p50_ms` and `p99_ms` are distances from plan. No event can come before it is due, so it comes later by so
    much. `took_ms` is from the first due time to the last event. `use` is None if no work waited.
    """

    lost: int
    twice: int
    early: int
    most_open: int
    use: float | None
    p50_ms: int
    p99_ms: int
    took_ms: int


def judge(plan: Plan, arrivals: Sequence[Arrival], opened: Sequence[Open]) -> Figures:
    """The figures of a batch. `opened` has the requests of `arrivals`, in the same order."""
    planned_at = plan.planned_at()
    first: dict[int, tuple[Arrival, Open]] = {}
    for arrival, was_open in zip(arrivals, opened, strict=True):
        first.setdefault(arrival.index, (arrival, was_open))
    late_ms = sorted(each.arrived_at - planned_at[index] for index, (each, _) in first.items())
    last_at = max((each.arrived_at for each, _ in first.values()), default=plan.due_at)
    begun_ns = [each.from_ns for _, each in first.values()]
    due_ns = [each * _MS_NS for each in planned_at]
    return Figures(
        lost=plan.events - len(first),
        twice=len(arrivals) - len(first),
        early=sum(each < 0 for each in late_ms),
        most_open=most_open(opened),
        use=None if plan.limit is None else use(plan.limit, due_ns, begun_ns, opened),
        p50_ms=percentile(late_ms, 50),
        p99_ms=percentile(late_ms, 99),
        took_ms=last_at - plan.due_at,
    )


def most_open(opened: Sequence[Open]) -> int:
    """The most requests that were open at one instant. What ends at an instant goes before what begins."""
    return max(accumulate(change for _, change in _changes(opened)), default=0)


def use(limit: int, due_ns: Iterable[int], begun_ns: Iterable[int], opened: Sequence[Open]) -> float | None:
    """The mean share of a limit that was in use while work waited; None if none did.

    Work waits while at least two events for each permit are due and have not come.

    `due_ns` is when each event was due, and `begun_ns` when each of those began that came, in epoch ns.
    """
    waits = sorted([(each, 1) for each in due_ns] + [(each, -1) for each in begun_ns])
    steps = merge(
        ((at, change, 0) for at, change in waits),
        ((at, 0, change) for at, change in _changes(opened)),
    )
    waiting = is_open = before_at = waited_ns = used_ns = 0
    for at, waits_more, opens_more in steps:
        if waiting >= _WAITING_PER_PERMIT * limit:
            waited_ns += at - before_at
            used_ns += (at - before_at) * is_open
        waiting += waits_more
        is_open += opens_more
        before_at = at
    return used_ns / waited_ns / limit if waited_ns else None


def _changes(opened: Sequence[Open]) -> Iterator[tuple[int, int]]:
    """When one more request is open (1) and one less (-1), in the order of time."""
    begins = [(each.from_ns, 1) for each in opened]
    ends = [(each.until_ns, -1) for each in opened if each.until_ns is not None]
    return iter(sorted(begins + ends))
