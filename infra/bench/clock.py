"""The clocks of the cost benchmarks."""

from sweephand.base.instants import Instant
from sweephand.runtime.machine import SystemClock


class HandClock:
    """ports.Clock that stands still until a caller waits or moves it."""

    def __init__(self, now: Instant) -> None:
        self._now = now

    def now(self) -> Instant:
        """The instant to which it was last moved."""
        return self._now

    def wait_until(self, instant: Instant) -> None:
        """Move the clock to that instant, unless it is there or later already."""
        self._now = max(self._now, instant)


class AheadClock(SystemClock):
    """ports.Clock by the machine's clock, which a caller can move ahead."""

    def __init__(self) -> None:
        self._ahead_ms = 0

    def now(self) -> Instant:
        """The present instant."""
        return super().now() + self._ahead_ms

    def move_to(self, instant: Instant) -> None:
        """Go on from that instant, which is to come."""
        self._ahead_ms += max(0, instant - self.now())
