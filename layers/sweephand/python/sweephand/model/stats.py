"""What deliveries count for each namespace: what became of triggers, and how late first attempts began."""

from collections import Counter
from typing import Final, Literal, NamedTuple, get_args

#: What is counted of triggers. `running`: an asynchronous consumer accepted one. `faults`: Sweephand itself
#: failed to handle one, and tries again or gives up.
CountedOutcome = Literal["succeeded", "running", "retrying", "failed", "skipped", "faults"]
COUNTED_OUTCOMES: Final[tuple[CountedOutcome, ...]] = get_args(CountedOutcome)

#: The bounds of lateness up to 70 ms, in milliseconds. Each further decade has the same times ten. A bound is
#: at most 5/3 of the one before.
_DECADE: Final = (10, 15, 20, 30, 50, 70)


class Stats(NamedTuple):
    """Counts of one namespace.

    `lateness` has the number of first attempts by the bound of their lateness (lateness_bound_ms).
    """

    outcomes: Counter[CountedOutcome]
    lateness: Counter[int]

    @property
    def are_empty(self) -> bool:
        """Whether nothing was counted."""
        return not self.outcomes and not self.lateness

    def update(self, more: "Stats") -> None:
        """Add the counts of others to these."""
        self.outcomes.update(more.outcomes)
        self.lateness.update(more.lateness)

    def lateness_at_most(self, percent: int) -> int | None:
        """The bound, in milliseconds, within which so many percent of the first attempts began.

        It is that of the nearest rank, so it is exact up to the next lower bound. None without any attempts.
        """
        rank = -(-sum(self.lateness.values()) * percent // 100)
        for bound in sorted(self.lateness):
            rank -= self.lateness[bound]
            if rank <= 0:
                return bound
        return None


def no_stats() -> Stats:
    """Counts of nothing, to be added to."""
    return Stats(Counter(), Counter())


def lateness_bound_ms(lateness_ms: int) -> int:
    """The least bound that a lateness does not exceed. Both are in milliseconds."""
    scale = 1
    while lateness_ms > _DECADE[-1] * scale:
        scale *= 10
    return next(bound * scale for bound in _DECADE if lateness_ms <= bound * scale)
