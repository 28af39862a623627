"""The ports of the wheel: its timers, leases, sweepers and history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sweephand.base.instants import Instant
    from sweephand.model.timer import AwaitedTimer, Cursor, Heartbeat, Lease, StoredTimer, WheelState
    from sweephand.model.wheel_event import WheelEvent


class TimerStore(Protocol):
    """The wheel's timers. None is changed or removed here: cursors pass them, and they expire."""

    def put(self, timers: Sequence[StoredTimer]) -> None:
        """Write any number of timers with distinct (shard, sort key). A timer that exists is written again.

        Returns when all are written. After a StoreError, any of them may be written.
        """
        ...

    def page(self, shard: int, cursor: Cursor, before: Instant, limit: int) -> Sequence[StoredTimer]:
        """The next timers of a shard at the cursor, sorted by key, all of one bucket, up to `limit`.

        They lie after the cursor, in a bucket that begins before `before`. If the item at `cursor.key` is
        only partly done, it is among them. `limit` counts a pack as one. The page is empty only if the shard
        has no such timer. A timer that a newer version wrote, or that is damaged, is returned as an
        UnreadTimer.
        """
        ...

    def missing(self, timers: Sequence[AwaitedTimer]) -> Sequence[AwaitedTimer]:
        """Those of the timers (distinct keys, none put off) that are not stored, in their order.

        An occurrence timer is stored if its bucket holds a timer of the same job, revision and first trigger,
        alone or in a pack. A pack that cannot be read may hold any timer of its bucket, so none of that
        bucket is missing.
        """
        ...


class LeaseStore(Protocol):
    """The shards' leases, their number, and tick's heartbeat. `fence` and `owner` are the token."""

    def state(self) -> WheelState:
        """All of it, from one read."""
        ...

    def beat(self, heartbeat: Heartbeat) -> Heartbeat | None:
        """Write tick's heartbeat. Returns the one before, if there is one.

        If the SDK has repeated the write, it may return the heartbeat that was just written.
        """
        ...

    def raise_shards(self, count: int) -> int:
        """Make sure that there are at least `count` shards; return how many there are.

        A shard gets its lease before it counts. The number is never lowered, and no existing lease is
        changed.
        """
        ...

    def claim(self, lease: Lease, owner: str, now: Instant, until: Instant) -> Lease | None:
        """Claim the shard for `owner` if it is free: it has no owner, or its lease ended before `now`.

        Returns the lease as it then is, cursor included, with a fence that is one higher; None if it is held.
        Its `judged_at` is `now`, unless a crashed holder left one. Its `tries` are one more.
        """
        ...

    def commit(
        self, lease: Lease, cursor: Cursor, until: Instant, judged_at: Instant | None = None
    ) -> Lease | None:
        """Move the cursor and renew the lease if its fence is unchanged; None if another owner took over.

        `judged_at` is stored; None keeps the stored one. A cursor that moves sets `tries` to 0.
        """
        ...

    def release(
        self,
        lease: Lease,
        found: int,
        now: Instant,
        *,
        cursor: Cursor | None = None,
        left_at: Instant | None = None,
        peak: int = 0,
    ) -> Lease | None:
        """Release the shard if its fence is unchanged; None if another owner took over.

        The same write moves the cursor, if there is one, and stores how much was found, and when. `left_at`
        is the due time of the first timer left, and `peak` the most triggers of one second. `judged_at` is
        removed, and `tries` become 0. Returns the lease as it then is.
        """
        ...


class Sweepers(Protocol):
    """The other sweep invocations."""

    def start(self, first_shards: Sequence[int]) -> None:
        """Begin one sweep at each of those shards, without waiting for any of them."""
        ...


class ExpirySwitch(Protocol):
    """Whether DynamoDB removes items whose `expires_at` is over. Readers may still find them."""

    def set(self, *, is_on: bool) -> None:
        """Have DynamoDB remove items from now on, or no more. It may go on for up to an hour.

        Nothing is done where that is so already, or while DynamoDB is busy with the change before. A later
        call then does it. StoreError: some of the tables may be as before.
        """
        ...


class WheelHistory(Protocol):
    """What tick has found out about the time between its heartbeats. Each event is kept for 90 days."""

    def put(self, events: Sequence[WheelEvent]) -> None:
        """File events; filing them again is harmless. After a StoreError, any of them may be filed."""
        ...

    def after(self, instant: Instant, limit: int) -> Sequence[WheelEvent]:
        """The first `limit` events that were found after an instant, oldest first."""
        ...
