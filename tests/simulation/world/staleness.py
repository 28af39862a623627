"""Reads that may be stale: in some seeds they show an item as it was before its latest writes.

AWS, "DynamoDB read consistency": an eventually consistent read may not reflect the results of a recently
completed write. No bound on its age is documented. So the seeds go far beyond the second that is usual.
"""

from collections.abc import Hashable
from typing import Final, TypeVar
from zlib import crc32

from tests.simulation.world.faults import mixed, stream
from tests.simulation.world.processes import Scheduler

from sweephand.base.instants import Instant

Value = TypeVar("Value")

#: In so many seeds there are such reads.
_SEEDS: Final = 1 / 3

#: How old what a read shows may be, as often as the list has it.
_AGES_MS: Final = (0, 0, 500, 3_000, 30_000, 240_000)


class Staleness:
    """What the items of a seed were before each write, and which of that a read shows."""

    def __init__(self, scheduler: Scheduler, seed: int) -> None:
        self._scheduler = scheduler
        self._seed = seed
        self._before: dict[Hashable, list[tuple[Instant, object]]] = {}
        self._is_on = stream(seed, "stale reads").random() < _SEEDS
        self.stale = 0

    def changed(self, key: Hashable, before: object) -> None:
        """Remember what an item was before a write, None if it was not there."""
        if self._is_on:
            self._before.setdefault(key, []).append((self._scheduler.now, before))

    def as_read(self, key: Hashable, present: Value | None) -> Value | None:
        """The item as a read shows it that may be stale."""
        history = self._before.get(key)
        if not history:
            return present
        now = self._scheduler.now
        chance = mixed(self._seed, now, crc32(repr(key).encode()))
        as_of = now - _AGES_MS[chance % len(_AGES_MS)]
        for at, before in history:
            if at > as_of:
                self.stale += 1
                return before  # type: ignore[return-value] # the item of a key has one type
        return present
