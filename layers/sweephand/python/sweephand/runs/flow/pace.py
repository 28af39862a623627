"""How long the stores take for one call, so that a worker of a line ends before its function does."""

from collections.abc import Callable
from typing import TypeVar

from sweephand.ports.clock import Clock

Result = TypeVar("Result")


class Pace:
    """How long calls of stores took in one shift of a worker. Several threads may share one object."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        #: How long the slowest of the timed calls took, in ms.
        self.slowest_ms = 0

    def timed(self, call: Callable[[], Result]) -> Result:
        """The result of the call. The time that it takes is recorded, also if it raises."""
        began_at = self._clock.now()
        try:
            return call()
        finally:
            # Of two threads, one may overwrite what the other one found. The next slow call shows it again.
            self.slowest_ms = max(self.slowest_ms, self._clock.now() - began_at)
