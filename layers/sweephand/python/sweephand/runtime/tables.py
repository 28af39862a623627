"""The stack's settings, its clock and its two tables: all that the authorizer needs of it.

Apart from the other adapters, which bring every room with them: a person waits for the authorizer's start.
"""

from functools import cache

from sweephand.runtime.clock import SystemClock
from sweephand.runtime.settings import Settings
from sweephand.storage import connect
from sweephand.storage.table import Table

settings = cache(Settings.read)
clock = cache(SystemClock)
_dynamodb = cache(connect.dynamodb)


def wait_ms(duration_ms: int) -> None:
    """Return after that long."""
    clock().wait_until(clock().now() + duration_ms)


@cache
def jobs_table() -> Table:
    """The table of what users wrote and what happened."""
    return Table(_dynamodb(), settings().jobs_table, wait_ms)


@cache
def timers_table() -> Table:
    """The wheel."""
    return Table(_dynamodb(), settings().timers_table, wait_ms)
