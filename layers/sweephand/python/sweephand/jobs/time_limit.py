"""The time limit of a request: each try of its writes must leave within 20 s, by the sender's clock."""

from collections.abc import Callable

from sweephand.base.errors import UnavailableError
from sweephand.base.instants import Instant
from sweephand.base.timing import REQUEST_TIME_LIMIT_MS
from sweephand.ports import Clock


def within_time_limit(clock: Clock, requested_at: Instant) -> Callable[[], bool]:
    """A check that a store calls before each try of a write of that request, in any thread."""
    return lambda: clock.now() - requested_at <= REQUEST_TIME_LIMIT_MS


def check_time_limit(clock: Clock, requested_at: Instant) -> None:
    """Raises UnavailableError if a request is so old that its commit could come too late after its arming."""
    if not within_time_limit(clock, requested_at)():
        raise UnavailableError("The stores are too slow at present; nothing was written. Ask again.")
