"""Keeping the timers that wait in the wheel: those between the cursor of each shard and a few days ago."""

from collections.abc import Callable
from functools import partial
from typing import Final

from sweephand.base.concurrency import Concurrently
from sweephand.base.timing import KEEP_ENDING_MS, TIMER_RETENTION_MS
from sweephand.model.keep_round import KeepPlace, Kept
from sweephand.model.timer import Cursor
from sweephand.ports.clock import Clock
from sweephand.ports.keep import KeptTimers
from sweephand.ports.wheel import LeaseStore

#: So many timers are looked at, and so many requests are under way, before the time is asked again.
_TIMERS_MAX: Final = 500


class TimerKeeper:
    """Moves the end of timers that would expire soon. No sweeper runs meanwhile, so the cursors stand still.

    If a sweeper does run, because the stack goes on, it passes timers that end later than they would have.
    """

    def __init__(
        self, *, timers: KeptTimers, leases: LeaseStore, clock: Clock, concurrently: Concurrently
    ) -> None:
        self._timers = timers
        self._leases = leases
        self._clock = clock
        self._concurrently = concurrently

    def keep(self, place: KeepPlace, kept: Kept, is_over: Callable[[], bool]) -> KeepPlace | None:
        """Keep the timers of the shards from that place on, until the time is over.

        Returns the place that was reached; None after the last shard.
        """
        for lease in self._leases.state().leases:
            if lease.shard < int(place.name or 0):
                continue
            is_begun = str(lease.shard) == place.name and place.after
            cursor: Cursor | None = Cursor(place.after) if is_begun else lease.cursor
            while cursor is not None:
                if is_over():
                    # A cursor that was never moved since stays what it is for the next step, too.
                    return KeepPlace("timers", str(lease.shard), "" if cursor == lease.cursor else cursor.key)
                cursor = self._keep_some(lease.shard, cursor, kept)
        return None

    def _keep_some(self, shard: int, cursor: Cursor, kept: Kept) -> Cursor | None:
        """Keep the next timers of a shard; return the cursor after them, or None if these were the last."""
        now = self._clock.now()
        # A timer expires TIMER_RETENTION after its place, or later if it was kept before.
        before = now - (TIMER_RETENTION_MS - KEEP_ENDING_MS)
        found = self._timers.ending(shard, cursor, before, now + KEEP_ENDING_MS, _TIMERS_MAX)
        until = now + TIMER_RETENTION_MS
        kept.timers += sum(
            self._concurrently([partial(self._timers.keep, shard, key, until) for key in found.keys])
        )
        return None if found.reached is None else Cursor(found.reached)
