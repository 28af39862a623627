"""The clock. No other module of Sweephand reads the machine's time."""

import time

from sweephand.base.instants import Instant


class SystemClock:
    """ports.Clock by the machine's clock."""

    def now(self) -> Instant:
        """The present instant in whole milliseconds, rounded down."""
        return time.time_ns() // 1_000_000

    def wait_until(self, instant: Instant) -> None:
        """Return at that instant or just after; at once if it is past."""
        remaining_ms = instant - self.now()
        if remaining_ms > 0:
            time.sleep(remaining_ms / 1_000)
