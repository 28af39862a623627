"""The stack's settings, its clock and its two tables, which is all that the authorizer needs.

The other stores are in aws_stores.py. They import most of the package, and the authorizer should start
without that, because a caller waits for it.
"""

from functools import cache
from typing import TYPE_CHECKING

from sweephand.runtime.machine import SystemClock, sweep_concurrently
from sweephand.runtime.settings import Settings
from sweephand.storage import connect
from sweephand.storage.connect import Answers
from sweephand.storage.table import Table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

settings = cache(Settings.read)
clock = cache(SystemClock)


@cache
def answers() -> Answers:
    """What this process sees in the answers of DynamoDB."""
    return Answers(clock().now)


@cache
def dynamodb() -> "DynamoDBClient":
    """The client of all tables."""
    client = connect.dynamodb()
    answers().watch(client.meta.events)
    return client


def wait_ms(duration_ms: int) -> None:
    """Return after that many milliseconds."""
    clock().wait_until(clock().now() + duration_ms)


def table(name: str) -> Table:
    """The table of that name."""
    return Table(dynamodb(), name, wait_ms, sweep_concurrently)


@cache
def jobs_table() -> Table:
    """The table of jobs, runs and everything else but the wheel."""
    return table(settings().jobs_table)


@cache
def timers_table() -> Table:
    """The table of the wheel: timers and leases."""
    return table(settings().timers_table)
