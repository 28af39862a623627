"""When tick wakes in a seed that lasts for weeks: in each minute in which a timer is due."""

from collections import defaultdict
from collections.abc import Callable
from heapq import heappop, heappush
from random import Random
from typing import Final

from tests.simulation.traces.chronicle import Chronicle
from tests.simulation.world.faults import Troubles
from tests.simulation.world.processes import Scheduler

from sweephand.base.instants import HOUR_MS, MINUTE_MS, Instant
from sweephand.base.timing import HORIZON_MS
from sweephand.model.timer import Cursor, Lease, Place, Timer

#: The longest time between two wake-ups while no timer is due.
_IDLE_MS: Final = 12 * HOUR_MS

#: The chance at level 1 that EventBridge fails, and for how long at most.
_MISSING: Final = 0.02
_MISSING_MS: Final = 10 * HOUR_MS


class TickTimes:
    """Wakes tick in each minute in which a timer is due that no sweep has passed, and otherwise now and then.

    A tick that finds nothing due changes nothing, so leaving it out hides nothing. In the calm tick wakes
    each minute. `phase_ms` is the place within the minute at which EventBridge wakes tick.
    """

    def __init__(
        self,
        *,
        scheduler: Scheduler,
        chronicle: Chronicle,
        troubles: Troubles,
        random: Random,
        phase_ms: int,
        tick: Callable[[Instant], None],
        is_off: Callable[[], bool],
    ) -> None:
        self._scheduler = scheduler
        self._chronicle = chronicle
        self._level = troubles["missed ticks"]
        self._random = random
        self._phase_ms = phase_ms
        self._tick = tick
        self._is_off = is_off
        self._unswept: dict[int, list[tuple[Place, Instant]]] = defaultdict(list)
        self._planned: set[Instant] = set()
        self._missing_until: Instant = 0
        self._is_calm = False

    def begin(self) -> None:
        """Wake tick from now on."""
        self._chronicle.wheel_seen = (self._stored, self._swept)
        self._idle()

    def calm(self) -> None:
        """Wake tick each minute from now on."""
        self._is_calm = True
        self._each_minute()

    def _stored(self, timer: Timer, place: Place) -> None:
        heappush(self._unswept[timer.shard], (place, timer.due_at))
        self._plan(timer.due_at - HORIZON_MS + MINUTE_MS)

    def _swept(self, lease: Lease) -> None:
        unswept, cursor = self._unswept[lease.shard], lease.cursor
        while unswept and _is_passed(unswept[0][0], cursor):
            heappop(unswept)

    def _plan(self, near: Instant) -> None:
        """Plan a wake-up for the minute of that instant, or for the next minute if that one is past."""
        minute = max(near // MINUTE_MS, self._scheduler.now // MINUTE_MS + 1)
        at = minute * MINUTE_MS + self._phase_ms
        if at not in self._planned:
            self._planned.add(at)
            self._scheduler.call_at(at, lambda: self._wake(at))

    def _wake(self, at: Instant) -> None:
        self._planned.discard(at)
        if self._is_calm:
            return
        if at >= self._missing_until and self._random.random() < _MISSING * self._level:
            span_ms = int(_MISSING_MS * self._random.random() ** 2) + MINUTE_MS
            self._missing_until = at + span_ms
            self._chronicle.mishap(f"no ticks of {span_ms} ms", "EventBridge")
        if at < self._missing_until:
            self._chronicle.figures["ticks missed"] += 1
            self._plan(self._missing_until + MINUTE_MS)
            return
        self._tick(at)
        coming = min((each[0][1] for each in self._unswept.values() if each), default=None)
        # While the stack is off, a tick sweeps nothing, whatever is due.
        if coming is not None and not self._is_off():
            self._plan(coming - HORIZON_MS + MINUTE_MS)

    def _idle(self) -> None:
        if not self._is_calm:
            now = self._scheduler.now
            self._plan(now)
            self._scheduler.call_at(now + MINUTE_MS + self._random.randrange(_IDLE_MS), self._idle)

    def _each_minute(self) -> None:
        at = (self._scheduler.now // MINUTE_MS + 1) * MINUTE_MS + self._phase_ms
        self._scheduler.call_at(at, lambda: self._tick(at))
        self._scheduler.call_at(at, self._each_minute)


def _is_passed(place: Place, cursor: Cursor) -> bool:
    if place.key == cursor.key and not cursor.is_within_item:
        return True
    return place < cursor.place or (place == cursor.place and cursor.within is None)
