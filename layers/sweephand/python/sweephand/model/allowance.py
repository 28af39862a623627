"""How many triggers a minute may be delivered, and in which slot of that allowance each one lies.

A minute's allowance is divided into as many slots as it has triggers. Slots are taken in order. A trigger
whose slot lies in the present minute or before may be delivered at once. So a minute's whole allowance may
be used in one second. A trigger whose slot lies in a later minute waits for its slot. So triggers that wait
leave evenly spaced.
"""

from typing import Final, NamedTuple

from sweephand.base.instants import MINUTE_MS, Instant

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
