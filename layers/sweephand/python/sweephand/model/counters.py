"""What is counted in a minute: what became of triggers, how late they were, and the slots of an allowance.

A minute's allowance is divided into as many slots as it has triggers. Slots are taken in order. A trigger
whose slot lies in the present minute or before may be delivered at once. So a minute's whole allowance may
be used in one second. A trigger whose slot lies in a later minute waits for its slot. So triggers that wait
leave evenly spaced.
"""

from collections import Counter
from typing import Final, Literal, NamedTuple, get_args

from sweephand.base.instants import MINUTE_MS, Instant

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


US_PER_MS: Final = 1_000

#: A process takes so large a part of a minute's allowance at once. That bounds the writes to one item to ten
#: a second. A process that then has nothing to deliver wastes at most this part.
_SLICES_PER_MINUTE: Final = 600
_SLICE_MAX: Final = 100


class Allowance(NamedTuple):
    """What is left of an allowance: the next free slot in µs since 1970, and the limit for which it holds.

    `epoch` goes up by one whenever somebody takes a slot with another limit. A slot that was taken in an
    earlier epoch may be somebody else's by now.
    """

    next_us: int
    per_minute: int
    epoch: int = 0


class Slots(NamedTuple):
    """Consecutive slots that were taken: the first of them in µs since 1970, and their epoch."""

    first_us: int
    epoch: int


def step_us_of(per_minute: int) -> int:
    """The distance of two slots. It is rounded up, so a minute has at most `per_minute` of them."""
    return -(-MINUTE_MS * US_PER_MS // per_minute)


def slice_of(per_minute: int) -> int:
    """How many slots a process takes at once."""
    return max(1, min(per_minute // _SLICES_PER_MINUTE, _SLICE_MAX))


def minute_us_of(now: Instant) -> int:
    """The beginning of the present minute, in µs."""
    return (now - now % MINUTE_MS) * US_PER_MS


def are_left(stored: Allowance | None, slots: Slots, per_minute: int, before_us: int | None) -> bool:
    """Whether the next slots are not taken, because they lie at `before_us` or later (AllowanceStore.take).

    With another limit than before they are taken all the same, so that this limit holds from now on.
    """
    return (
        before_us is not None
        and slots.first_us >= before_us
        and stored is not None
        and stored.per_minute == per_minute
    )


def next_slots(stored: Allowance | None, now: Instant, per_minute: int) -> Slots:
    """The slots that are taken next.

    What was not used of an allowance by the end of its minute is lost. With another limit than before, the
    slots beyond the present minute are free again, and a new epoch begins: the triggers that wait for them
    take others.
    """
    minute_us = minute_us_of(now)
    if stored is None:
        return Slots(minute_us, 0)
    next_us = max(stored.next_us, minute_us)
    if stored.per_minute == per_minute:
        return Slots(next_us, stored.epoch)
    return Slots(min(next_us, minute_us + MINUTE_MS * US_PER_MS), stored.epoch + 1)
