"""Reads that may be stale, and timers that fail to expand once. Only some seeds have them."""

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar
from unittest.mock import patch
from zlib import crc32

from tests.simulation.traces.chronicle import Chronicle
from tests.simulation.world.faults import Troubles, fraction, mixed, stream
from tests.simulation.world.processes import Scheduler

from sweephand.base.errors import StoreError
from sweephand.base.instants import Instant
from sweephand.model.timer import OccurrenceTimer
from sweephand.schedules import Occurrence
from sweephand.wheel import span

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


#: The chance of a timer at level 1. Each process draws again, so a timer fails once.
_CHANCE: Final = 0.08


@contextmanager
def stumbling(scheduler: Scheduler, chronicle: Chronicle, troubles: Troubles) -> Iterator[None]:
    """Let some timers fail to expand, until the calm."""
    find_first = span._first
    chance = _CHANCE * troubles["stumbles"]

    def first(timer: OccurrenceTimer, *rest: Any) -> Occurrence | None:
        code = scheduler.strand.process.faults.code
        if chronicle.calm_at is None and fraction(code, crc32(timer.sort_key.encode())) < chance:
            chronicle.mishap("stumble", timer.sort_key)
            raise StoreError("this timer cannot be expanded, this once")
        return find_first(timer, *rest)

    if not chance:
        yield
        return
    with patch.object(span, "_first", first):
        yield
