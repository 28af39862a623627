"""The messages that an invocation has yet to begin, in order, and those that wait too long for a thread."""

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Final, Generic, TypeVar

from sweephand.base.instants import SECOND_MS, Instant
from sweephand.ports import Clock

Entry = TypeVar("Entry")

#: A trigger waits this long for a thread. If slow consumers hold all threads for longer, the trigger is sent
#: alone to another function.
THREAD_WAIT_MAX_MS: Final = 5 * SECOND_MS

#: How often late() checks. The invocation ends at most this much later than its last delivery.
_CHECK_MS: Final = 100


class WorkQueue(Generic[Entry]):
    """Entries with the instants at which they may begin. Many threads may iterate; each entry is taken once.

    The entries are taken in the order in which they are given, which is that of their instants.
    """

    def __init__(self, entries: Iterable[tuple[Instant, Entry]], clock: Clock) -> None:
        self._waiting = deque(entries)
        self._clock = clock

    def __iter__(self) -> Iterator[Entry]:
        """The entries, each one as it is taken."""
        # popleft() of a deque is atomic.
        with suppress(IndexError):
            while True:
                yield self._waiting.popleft()[1]

    def late(self) -> Iterator[list[Entry]]:
        """Take entries that have waited for too long, again and again, until all entries have been taken."""
        while (late_at := self._late_at()) is not None:
            now = self._clock.now()
            if now < late_at:
                self._clock.wait_until(min(late_at, now + _CHECK_MS))
                continue
            late: list[Entry] = []
            while (late_at := self._late_at()) is not None and late_at <= now:
                # Another thread may take this entry first. Then the next one is taken here, a bit too early.
                with suppress(IndexError):
                    late.append(self._waiting.popleft()[1])
            yield late

    def _late_at(self) -> Instant | None:
        """The instant from which the first entry has waited for too long; None if there is no entry."""
        with suppress(IndexError):
            return self._waiting[0][0] + THREAD_WAIT_MAX_MS
        return None
