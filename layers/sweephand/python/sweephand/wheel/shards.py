"""The number of shards over which new jobs are spread. The stored number is never lowered."""

from sweephand.base.instants import Instant
from sweephand.base.timing import SHARDS_AGE_MAX_MS
from sweephand.ports import Clock, LeaseStore


class ShardCount:
    """The number of shards, cached for SHARDS_AGE_MAX_MS. Threads may share an instance.

    A process that finds the stored number lower raises it to `shards`. So the first job of a new stack need
    not wait for the first tick.
    """

    def __init__(self, *, leases: LeaseStore, clock: Clock, shards: int) -> None:
        self._leases = leases
        self._clock = clock
        self._shards = shards
        self._known: tuple[int, Instant] | None = None

    def __call__(self) -> int:
        """The stored number, at least `shards`. Each shard has a lease, so sweepers find it."""
        now = self._clock.now()
        if self._known is None or not 0 <= now - self._known[1] < SHARDS_AGE_MAX_MS:
            count = self._leases.state().shards
            if count < self._shards:
                count = self._leases.raise_shards(self._shards)
            self._known = (count, now)
        return self._known[0]
