"""Ticking: once a minute, how many sweepers this minute needs, and who they are."""

from dataclasses import dataclass

from sweephand.errors import StoreError
from sweephand.instants import Instant
from sweephand.ports import Clock, LeaseStore, Sweepers
from sweephand.timing import BUCKET_MS
from sweephand.wheel.sweep import Sweeper, Swept
from sweephand.wheel.timer import WheelState

#: Triggers that one sweeper sends well within a minute, with several times to spare.
TRIGGERS_PER_SWEEPER = 20_000

#: What an earlier sweep found says nothing about this minute when the sweep is older than this.
FINDINGS_AGE_MAX_MS = 3 * BUCKET_MS


@dataclass(frozen=True, slots=True)
class Ticked:
    """What a tick did: the sweepers it counted on, and its own sweep where one sufficed."""

    sweepers: int
    swept: Swept | None


def sweepers_needed(state: WheelState, sweepers_max: int, now: Instant) -> int:
    """How many sweepers this minute needs, from what the last sweeps found: 1 to one a shard."""
    found = sum(lease.found for lease in state.leases if now - lease.swept_at <= FINDINGS_AGE_MAX_MS)
    return max(1, min(-(-found // TRIGGERS_PER_SWEEPER), sweepers_max, len(state.leases)))


class Ticker:
    """What EventBridge wakes every minute."""

    def __init__(
        self,
        *,
        leases: LeaseStore,
        sweeper: Sweeper,
        sweepers: Sweepers,
        clock: Clock,
        shards: int,
        sweepers_max: int,
    ) -> None:
        self._leases = leases
        self._sweeper = sweeper
        self._sweepers = sweepers
        self._clock = clock
        self._shards = shards
        self._sweepers_max = sweepers_max

    def tick(self, *, owner: str, deadline: Instant) -> Ticked:
        """Write the heartbeat, see that there are enough shards, and have what is due swept.

        Two ticks at once do no harm: the leases keep their sweepers apart. StoreError if sweepers could
        not be started, an ExceptionGroup if shards could not be swept: what could be, has been.
        """
        now = self._clock.now()
        self._leases.beat(now)
        state = self._leases.state()
        if state.shards < self._shards:
            self._leases.raise_shards(self._shards)
            state = self._leases.state()
        count = sweepers_needed(state, self._sweepers_max, now)
        if count == 1:
            swept = self._sweeper.sweep(state.leases, owner=owner, first_shard=0, deadline=deadline)
            return Ticked(1, swept)
        shards = [lease.shard for lease in state.leases]
        try:
            self._sweepers.start([shards[each * len(shards) // count] for each in range(count)])
        except StoreError:
            # One sweeper is too few, but not none; those that were started and this one keep apart.
            self._sweeper.sweep(state.leases, owner=owner, first_shard=0, deadline=deadline)
            raise
        return Ticked(count, None)
