"""The wheel's timers in memory, and a way to lose some of them."""

import threading
from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence

from sweephand.base.instants import Instant
from sweephand.base.timing import TIMER_RETENTION_MS
from sweephand.model.job import JobKey
from sweephand.model.timer import (
    AwaitedTimer,
    Cursor,
    OccurrenceTimer,
    ResumeTimer,
    StoredTimer,
    TimerPack,
    UnreadTimer,
    bucket_key,
    bucket_of,
    name_of,
    packs_of,
)


class MemoryTimers:
    """ports.TimerStore."""

    def __init__(self) -> None:
        self._timers: dict[tuple[int, str], StoredTimer] = {}
        self._keys: dict[int, list[str]] = {}
        self._lock = threading.Lock()

    def put(self, timers: Sequence[StoredTimer]) -> None:
        places = [(timer.shard, timer.sort_key) for timer in timers]
        assert len(set(places)) == len(places), "a batch write has one key twice"
        with self._lock:
            for place, timer in zip(places, timers, strict=True):
                if place not in self._timers:
                    insort(self._keys.setdefault(timer.shard, []), timer.sort_key)
                self._timers[place] = timer

    def page(self, shard: int, cursor: Cursor, before: Instant, limit: int) -> Sequence[StoredTimer]:
        with self._lock:
            timers = [self._timers[shard, key] for key in self._between(shard, cursor, before)[:limit]]
        return [timer for timer in timers if bucket_key(timer.due_at) == bucket_key(timers[0].due_at)]

    def _between(self, shard: int, cursor: Cursor, before: Instant) -> list[str]:
        keys = self._keys.get(shard, [])
        find = bisect_left if cursor.is_within_item else bisect_right
        return keys[find(keys, cursor.key) : bisect_left(keys, bucket_key(before))]

    def expire(self, now: Instant) -> None:
        """Remove what DynamoDB removes by then."""
        with self._lock:
            for shard, key in [place for place in self._timers if _end_of(self._timers[place]) <= now]:
                del self._timers[shard, key]
                self._keys[shard].remove(key)

    def missing(self, timers: Sequence[AwaitedTimer]) -> Sequence[AwaitedTimer]:
        with self._lock:
            return [each for each in timers if not self._is_stored(each)]

    def _is_stored(self, timer: OccurrenceTimer | ResumeTimer) -> bool:
        if (timer.shard, timer.sort_key) in self._timers or isinstance(timer, ResumeTimer):
            return (timer.shard, timer.sort_key) in self._timers
        keys = self._keys.get(timer.shard, [])
        low, high = packs_of(bucket_of(timer.due_at))
        for key in keys[bisect_left(keys, low) : bisect_left(keys, high)]:
            pack = self._timers[timer.shard, key]
            if not isinstance(pack, TimerPack) or name_of(timer) in map(name_of, pack.timers):
                return True
        return False

    def clear(self) -> None:
        """Lose everything."""
        with self._lock:
            self._timers.clear()
            self._keys.clear()

    def lose(self, key: JobKey, since: Instant) -> None:
        """Lose the timers of a job that are due at `since` or later, without a trace."""
        with self._lock:
            for place, stored in list(self._timers.items()):
                left = _left(stored, key, since)
                if left is None:
                    del self._timers[place]
                    self._keys[place[0]].remove(place[1])
                elif left != stored:
                    self._timers[place] = left

    def everything(self) -> list[StoredTimer]:
        """All timers, for the assertions of a test."""
        return [self._timers[shard, key] for shard in sorted(self._keys) for key in self._keys[shard]]


class MemoryExpirySwitch:
    """ports.ExpirySwitch. Who removes items asks it."""

    def __init__(self) -> None:
        self.is_on = True

    def set(self, *, is_on: bool) -> None:
        self.is_on = is_on


def _end_of(timer: StoredTimer) -> Instant:
    """When DynamoDB may remove an item."""
    last_at = max(each.due_at for each in timer.timers) if isinstance(timer, TimerPack) else timer.due_at
    return last_at + TIMER_RETENTION_MS


def _left(stored: StoredTimer, key: JobKey, since: Instant) -> StoredTimer | None:
    """What is left of an item without the timers of a job; None if nothing is."""
    if isinstance(stored, TimerPack):
        kept = tuple(each for each in stored.timers if each.key != key or each.due_at < since)
        return stored._replace(timers=kept) if kept else None
    is_lost = not isinstance(stored, UnreadTimer) and stored.key == key and stored.due_at >= since
    return None if is_lost else stored
