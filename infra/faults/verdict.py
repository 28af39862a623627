"""What came of what was owed, and whether each delivery that came twice has a fault that explains it."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from infra.bench.consumer import Arrival
from infra.bench.punctuality import Punctuality, judge
from infra.bench.report import Cell, Figure
from infra.faults.load import FAILURES, Key, Promise

#: A deletion that was answered stops requests after a second. This machine's cores may hold one up as long.
_CANCELLED_MS: Final = 2_000


@dataclass(frozen=True, slots=True)
class Verdict:
    """One kind of jobs. `unexplained` are deliveries that came twice without a fault, `lost` did not come."""

    punctuality: Punctuality
    unexplained: int
    lost: Sequence[Key]

    @property
    def is_good(self) -> bool:
        """Whether nothing was lost, early, or twice without a fault."""
        return not self.lost and not self.punctuality.early and not self.unexplained

    def cells(self) -> Mapping[str, Cell]:
        """The cells of a report."""
        found = self.punctuality
        return {
            "owed": found.owed,
            "delivered": found.delivered,
            "lost": Figure(found.lost, 0, 0),
            "early": Figure(found.early, 0, 0),
            "twice": found.twice,
            "without a fault": Figure(self.unexplained, 0, 0),
            "p50 ms": found.p50_ms,
            "p99 ms": found.p99_ms,
            "max ms": found.max_ms,
        }


def judged(
    owed: Mapping[Key, Promise], arrivals: Iterable[Arrival], faults_at: Sequence[int], *, is_retried: bool
) -> Verdict:
    """The verdict on the triggers in `owed`, by the requests that came, oldest first.

    `faults_at` are the times of the faults in their order. Whatever the stack sent twice, something failed
    after it may have sent it first. If they are retried, the attempts that the consumer failed do not count
    as deliveries.
    """
    came: dict[Key, list[int]] = defaultdict(list)
    early = 0
    for each in arrivals:
        key = Key(each.job, each.due_at, each.index)
        if key in owed:
            early += each.arrived_at < owed[key].due_at
            if not is_retried or each.attempt > FAILURES:
                came[key].append(each.arrived_at)
    due_at = {key: promise.due_at for key, promise in owed.items()}
    found = judge(due_at, [(key, at) for key, times in came.items() for at in times])
    unexplained = sum(
        not _has_between(faults_at, owed[key].armed_from, at)
        for key, times in came.items()
        for at in times[1:]
    )
    return Verdict(replace(found, early=early), unexplained, [key for key in owed if key not in came])


def came_after_deletion(deleted_at: Mapping[str, int], arrivals: Iterable[Arrival]) -> int:
    """How many requests of jobs came over a second after their deletion was answered."""
    return sum(
        each.arrived_at > deleted_at[each.job] + _CANCELLED_MS for each in arrivals if each.job in deleted_at
    )


def by_kind(faults: Iterable[tuple[str, str]]) -> Sequence[Mapping[str, Cell]]:
    """A row for each kind of faults, with how many calls it met."""
    counted = Counter(faults)
    return [
        {"service": service, "fault": fault, "calls": n} for (service, fault), n in sorted(counted.items())
    ]


def _has_between(ordered: Sequence[int], begin: int, end: int) -> bool:
    at = bisect_left(ordered, begin)
    return at < len(ordered) and ordered[at] <= end
