"""What happens when in a simulated stack: its messages, its ticks, and how time passes between them."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from sweephand.base.instants import DAY_MS, MINUTE_MS, Instant
from sweephand.model.secret import ReadValues
from sweephand.model.timer import Heartbeat, bucket_of
from sweephand.ports.queue import Targets
from sweephand.runs.received import Received
from sweephand.targets.reach import Reach
from sweephand_engine.engine import Engine, Function
from sweephand_engine.journal import Journal
from sweephand_engine.seeded_ids import SeededIds
from sweephand_engine.testing.clock import SimulatedClock

#: DynamoDB removes an item within a few days of its end.
_EXPIRY_MS: Final = DAY_MS


class _Pump:
    """Gives the messages of a queue to strands, as Lambda gives them to functions."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._free = function.calls_max

    def next_at(self) -> Instant | None:
        """When it has something to do; None if it has nothing, or if all of its strands are busy."""
        return self._function.queue.next_at() if self._free else None

    def start(self, clock: SimulatedClock) -> None:
        """Begin to handle the messages that are visible now."""
        queue, size = self._function.queue, self._function.messages_max
        while self._free and (received := queue.receive(size)):
            self._free -= 1
            clock.start(partial(self._call, received))

    def _call(self, received: Sequence[Received]) -> None:
        try:
            self._function.handle(received)
        finally:
            self._free += 1


class _Timers(Journal):
    """A journal that keeps nothing, and notes whether a timer was written or a cursor moved."""

    is_changed = True

    def put(self, table: str, pk: str, sk: str, item: str) -> None:
        """Note that an item was written."""
        del pk, sk, item
        self.is_changed |= table == "timers"


class Simulation:
    """An engine in simulated time.

    A tick happens in each minute in which it has something to do. A heartbeat is written before each longer
    gap, so the stack never seems to have stood still.
    """

    def __init__(
        self, clock: SimulatedClock, ids: SeededIds, make_targets: Callable[[Reach, ReadValues], Targets]
    ) -> None:
        self._clock = clock
        self._timers = _Timers()
        self.engine = Engine(
            journal=self._timers,
            clock=clock,
            ids=ids,
            make_targets=make_targets,
            destinations=None,
            concurrently=clock.concurrently,
            start=clock.start,
            failed=lambda _, error: clock.errors.append(error),
        )
        self._pumps = [_Pump(each) for each in self.engine.functions]
        self._ticked_at = self._beaten_at = self._expired_at = clock.now()
        self._due_at: Instant | None = None
        self._tick_at: Instant | None = None
        self.engine.tick()

    def run(self, until: Instant) -> None:
        """Let everything happen up to and including that instant.

        Raises the first error of a strand, which may be one of the engine.
        """
        clock = self._clock
        while (at := self._next_at(until)) is not None:
            clock.move(at)
            if self._tick_at is not None and self._tick_at <= clock.now():
                clock.start(self._tick)
            for each in self._pumps:
                each.start(clock)
            clock.run()
        clock.move(until)
        self._beat(until)

    def _next_at(self, until: Instant) -> Instant | None:
        """When something happens next; None if that is after `until`. Sets the instant of the next tick."""
        coming = [self._clock.next_at(), *(each.next_at() for each in self._pumps)]
        at = min((each for each in coming if each is not None), default=until + 1)
        minute = bucket_of(self._ticked_at) + MINUTE_MS
        self._tick_at = None
        # What comes before the next minute needs no look at the timers.
        if at >= minute:
            if self._timers.is_changed:
                self._due_at = self.engine.first_due_at()
                self._timers.is_changed = False
            if self._due_at is not None:
                self._tick_at = max(minute, bucket_of(self._due_at))
                at = min(at, self._tick_at)
        return at if at <= until else None

    def _tick(self) -> None:
        now = self._clock.now()
        self._beat(now - MINUTE_MS)
        self._ticked_at = self._beaten_at = now
        if now - self._expired_at >= _EXPIRY_MS:
            self._expired_at = now
            self.engine.expire()
        self.engine.tick()

    def _beat(self, at: Instant) -> None:
        """Write a heartbeat if the last one is old. A stack in AWS would have ticked in between."""
        if at - self._beaten_at >= MINUTE_MS:
            self._beaten_at = at
            self.engine.stores.leases.beat(Heartbeat(at))
