"""Ticking: once a minute, how many sweepers this minute needs, and who they are."""

from collections.abc import Sequence
from dataclasses import dataclass

from sweephand.base.errors import StoreError
from sweephand.base.instants import Instant
from sweephand.base.timing import BUCKET_MS
from sweephand.model.timer import Lease, WheelState
from sweephand.ports import Clock, LeaseStore, Sweepers
from sweephand.wheel.sweep import Sweeper, Swept

#: Triggers that one sweeper sends well within a minute, with several times to spare.
TRIGGERS_PER_SWEEPER = 20_000

#: What an earlier sweep found says nothing about this minute when the sweep is older than this.
FINDINGS_AGE_MAX_MS = 3 * BUCKET_MS


@dataclass(frozen=True, slots=True)
class Ticked:
    """What a tick did: the sweepers it counted on, and its own sweep where one sufficed.

    `behind_ms` is how long ago the oldest timer was due that earlier sweeps left: 0 in normal running.
    """

    sweepers: int
    swept: Swept | None
    behind_ms: int = 0


def is_behind(lease: Lease, now: Instant) -> bool:
    """Whether the last sweep of a shard left something undone, or did not come to an end."""
    if lease.owner is not None:
        # Its sweeper has been at work since the minute before, or it died.
        return now - lease.lease_until <= FINDINGS_AGE_MAX_MS
    return lease.left_at is not None and now - lease.swept_at <= FINDINGS_AGE_MAX_MS


def sweepers_needed(state: WheelState, sweepers_max: int, now: Instant) -> int:
    """How many sweepers this minute needs, from what the last sweeps found and left: 1 to one a shard.

    Each shard that is behind gets one, and the others together one more.
    """
    found = sum(lease.found for lease in state.leases if now - lease.swept_at <= FINDINGS_AGE_MAX_MS)
    behind = sum(is_behind(lease, now) for lease in state.leases)
    wanted = max(-(-found // TRIGGERS_PER_SWEEPER), behind + 1 if behind else 1)
    return max(1, min(wanted, sweepers_max, len(state.leases)))


def oldest_left(state: WheelState, now: Instant) -> Instant | None:
    """When the oldest timer is due that the last sweeps are known to have left; None if they left none."""
    left = (lease.left_at for lease in state.leases if is_behind(lease, now))
    return min((each for each in left if each is not None), default=None)


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
        not be started, an ExceptionGroup if shards could not be swept: what could be, has been. Shards
        that its own sweep had no time for get sweepers of their own at once.
        """
        now = self._clock.now()
        self._leases.beat(now)
        state = self._leases.state()
        if state.shards < self._shards:
            self._leases.raise_shards(self._shards)
            state = self._leases.state()
        count = sweepers_needed(state, self._sweepers_max, now)
        oldest = oldest_left(state, now)
        behind_ms = 0 if oldest is None else max(0, now - oldest)
        # Another shard comes first each minute: when there is time for a few only, each has its turn.
        shards = _from([lease.shard for lease in state.leases], now // BUCKET_MS)
        if count == 1:
            swept = self._sweeper.sweep(state.leases, owner=owner, first_shard=shards[0], deadline=deadline)
            if swept.left:
                self._sweepers.start(_spread(swept.left, self._sweepers_max))
            return Ticked(1, swept, behind_ms)
        try:
            self._sweepers.start(_spread(shards, count))
        except StoreError:
            # One sweeper is too few, but not none; those that were started and this one keep apart.
            self._sweeper.sweep(state.leases, owner=owner, first_shard=shards[0], deadline=deadline)
            raise
        return Ticked(count, None, behind_ms)


def _from(shards: Sequence[int], number: int) -> Sequence[int]:
    """The same shards, beginning with that number of them, counted round and round."""
    start = number % len(shards)
    return [*shards[start:], *shards[:start]]


def _spread(shards: Sequence[int], count: int) -> Sequence[int]:
    """The shards at which so many sweepers begin, as far apart as may be."""
    count = min(count, len(shards))
    return [shards[each * len(shards) // count] for each in range(count)]
