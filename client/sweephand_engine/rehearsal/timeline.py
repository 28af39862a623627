"""The timeline of a rehearsal: what happens at which instant, in one order, up to an end or a bound."""

from collections.abc import Callable, Iterator
from heapq import heappop, heappush

from sweephand.base.instants import Instant

#: How much a rehearsal does before it stops. An event is one. This takes some 12 s of an idle core.
WORK_MAX = 400_000


class Timeline:
    """Simulated time. What was planned first for an instant happens first."""

    def __init__(self, now: Instant, until: Instant, work_max: int = WORK_MAX) -> None:
        """It ends at `until`, which no longer belongs to it."""
        self.now = now
        self.until = until
        self._left = work_max
        self._heap: list[tuple[Instant, int, Callable[[], None]]] = []
        self._order = 0

    @property
    def is_cut(self) -> bool:
        """Whether the bound of work was reached before the end."""
        return self._left <= 0

    def at(self, instant: Instant, action: Callable[[], None]) -> None:
        """Let something happen at an instant, or now if that is past."""
        self._order += 1
        heappush(self._heap, (max(instant, self.now), self._order, action))

    def each(self, actions: Iterator[tuple[Instant, Callable[[], None]]]) -> None:
        """Let these happen, in their order. Each one is read when the one before it happens."""
        coming = next(actions, None)
        if coming is None:
            return
        instant, action = coming

        def happen() -> None:
            self.each(actions)
            action()

        self.at(instant, happen)

    def spend(self, work: int) -> None:
        """Count work that takes longer than an event."""
        self._left -= work

    def run(self) -> None:
        """Let everything happen until the end, or until the bound is reached."""
        while self._heap and self._left > 0:
            instant, _, action = heappop(self._heap)
            if instant >= self.until:
                break
            self.now = instant
            self._left -= 1
            action()
        if not self.is_cut:
            self.now = self.until
