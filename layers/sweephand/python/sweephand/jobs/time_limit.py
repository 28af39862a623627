"""Until when a write of the API may leave: for 20 s after its request, by the clock of whoever sends it."""

from collections.abc import Callable

from sweephand.base.errors import UnavailableError
from sweephand.base.instants import Instant
from sweephand.base.timing import REQUEST_TIME_LIMIT_MS
from sweephand.ports import Clock


def in_time(clock: Clock, requested_at: Instant) -> Callable[[], bool]:
    """What a store asks before each try of a write of that request leaves, whichever thread runs it."""
    return lambda: clock.now() - requested_at <= REQUEST_TIME_LIMIT_MS


def check_patience(clock: Clock, requested_at: Instant) -> None:
    """UnavailableError if a request is so old that its commit could come too late after its arming."""
    if not in_time(clock, requested_at)():
        raise UnavailableError("The stores are too slow at present; nothing was written. Ask again.")
