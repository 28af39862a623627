"""Timers that fail to expand once, as if a process had no file handle left for its zone data."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final
from unittest.mock import patch
from zlib import crc32

from tests.simulation.traces.chronicle import Chronicle
from tests.simulation.world.faults import Troubles, fraction
from tests.simulation.world.processes import Scheduler

from sweephand.base.errors import StoreError
from sweephand.model.timer import OccurrenceTimer
from sweephand.schedules import Occurrence
from sweephand.wheel import span

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
