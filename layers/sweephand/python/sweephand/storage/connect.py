"""The clients of DynamoDB and S3: their time-outs, their tries, until when they may write, what answers show.

The answers of DynamoDB show throttled requests and the skew of this clock besides their content.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import boto3
from botocore.config import Config

from sweephand import __version__
from sweephand.base.concurrency import DELIVERIES_AT_ONCE
from sweephand.base.errors import StoreError
from sweephand.base.instants import SECOND_MS, Instant

if TYPE_CHECKING:
    from botocore.hooks import BaseEventHooks
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client


#: DynamoDB answers in milliseconds. A request that hangs is given up early enough for three more tries. These
#: end within the API's 20 s of patience and a sweeper's 30 s of lease.
_CONFIG: Final = Config(
    connect_timeout=2,
    read_timeout=4,
    retries={"mode": "standard", "total_max_attempts": 4},
    # As many as threads ask at once.
    max_pool_connections=DELIVERIES_AT_ONCE,
    tcp_keepalive=True,
    # storage.table makes requests in a few forms, and the contract tests send them to real engines. Comparing
    # each item with the service's model again takes a seventh of boto3's time.
    parameter_validation=False,
    # boto3 builds its own from twenty parts, twice for every request: a fifth of its time.
    user_agent=f"Sweephand/{__version__}",
)


#: The operations whose answers hold items.
_READING: Final = ("GetItem", "BatchGetItem", "Query", "UpdateItem")


def dynamodb() -> "DynamoDBClient":
    """A new client, for all tables and threads. Region and endpoint are as boto3 finds them."""
    client = boto3.client("dynamodb", config=_CONFIG)
    for operation in _READING:
        client.meta.events.register(f"before-parse.dynamodb.{operation}", _take_as_it_is)
    bound(client.meta.events)
    return client


def _take_as_it_is(
    response_dict: dict[str, Any], customized_response_dict: dict[str, Any], **_: object
) -> None:
    """Take an answer's JSON as it is, instead of having botocore parse it.

    botocore walks through the service's model for every value of every item. Its result equals the JSON,
    except for binary values, which no item of Sweephand has. For a batch of jobs the walk took longer than
    all else that reading them does.
    """
    if response_dict["status_code"] != HTTPStatus.OK:
        return
    # Damaged JSON is left to botocore, which finds it by its checksum and asks again.
    with suppress(ValueError):
        customized_response_dict |= json.loads(response_dict["body"])
        response_dict["body"] = b""


def s3() -> "S3Client":
    """A new client, for all threads. Region and endpoint are as boto3 finds them."""
    return boto3.client("s3", config=_CONFIG)


#: The operations that write one item.
_BOUND_OPERATIONS: Final = ("PutItem", "DeleteItem", "UpdateItem")

_in_time: Final[ContextVar[Callable[[], bool] | None]] = ContextVar("in_time", default=None)


class LateError(StoreError):
    """A try of a write was too late and was not sent.

    An earlier try of the same write may have been applied.
    """


@contextmanager
def only_while(in_time: Callable[[], bool]) -> Iterator[None]:
    """Let the writes of this thread be sent only while `in_time()` is true.

    A job is armed before it is committed, and a late commit would make an active job that never fires. The
    function's own time limit is not enough: Lambda may freeze a function that has answered, and thaw it
    minutes later, in the middle of the SDK's retries. DynamoDB accepts a retry however late it is, since each
    has a new signature. What stays open is the time from `before-send` to the last byte.
    """
    token = _in_time.set(in_time)
    try:
        yield
    finally:
        _in_time.reset(token)


def check_in_time(**_: object) -> None:
    """Raises LateError if the write that this thread is about to send is too late."""
    in_time = _in_time.get()
    if in_time is not None and not in_time():
        raise LateError("The write was too late, and was not sent.")


def bound(events: "BaseEventHooks") -> None:
    """Have a client check each try. `before-send` is botocore's last event before the connection."""
    for operation in _BOUND_OPERATIONS:
        events.register(f"before-send.dynamodb.{operation}", check_in_time)


#: The error codes by which DynamoDB says that a table, a partition or the account is asked for too much
#: ("Error handling with DynamoDB").
_THROTTLED: Final = frozenset(
    {"ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded"}
)

#: DynamoDB throttles a part of a batch by leaving it out of the work that it has done.
_UNPROCESSED: Final = ("UnprocessedItems", "UnprocessedKeys")


class Seen(NamedTuple):
    """What the answers have shown.

    `throttled` counts the tries of requests that were refused, wholly or in part, because there were too
    many. This clock is ahead of AWS's by at least `skew_ms`, or behind by at least as much if that is
    negative. It is 0 if no answer proves a difference.
    """

    throttled: int = 0
    skew_ms: int = 0


class Answers:
    """Watches the answers that clients receive, each try of the SDK's own retries included.

    Threads may share an instance. `now` is the clock whose skew is measured.
    """

    def __init__(self, now: Callable[[], Instant]) -> None:
        self._now = now
        self._lock = Lock()
        self._throttled = 0
        self._ahead_ms: int | None = None
        self._behind_ms: int | None = None
        self._date = ""
        self._date_at: Instant = 0

    def watch(self, events: "BaseEventHooks") -> None:
        """Watch the answers to a DynamoDB client with these events."""
        events.register("response-received.dynamodb", self._receive)

    def take(self) -> Seen:
        """What the answers have shown since the last call of this method."""
        with self._lock:
            # An answer that proves the one refutes the other, so at most one of them is above 0.
            skew_ms = max(self._ahead_ms or 0, 0) - max(self._behind_ms or 0, 0)
            seen = Seen(self._throttled, skew_ms)
            self._throttled, self._ahead_ms, self._behind_ms = 0, None, None
        return seen

    def _receive(self, parsed_response: dict[str, Any] | None, **_: object) -> None:
        if parsed_response is None:
            return
        received_at = self._now()
        code = parsed_response.get("Error", {}).get("Code")
        is_throttled = code in _THROTTLED or any(parsed_response.get(each) for each in _UNPROCESSED)
        date = parsed_response.get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("date")
        with self._lock:
            self._throttled += is_throttled
            if date is not None:
                self._compare(date, received_at)

    def _compare(self, date: str, received_at: Instant) -> None:
        """Compare this clock with the Date header (RFC 9110, 6.6.1), which has whole seconds.

        A slow answer looks like a clock that is ahead. So the answer counts that shows the least.
        """
        if date != self._date:
            try:
                self._date_at = round(parsedate_to_datetime(date).timestamp()) * SECOND_MS
            except ValueError:
                return
            self._date = date
        ahead_ms, behind_ms = received_at - self._date_at - (SECOND_MS - 1), self._date_at - received_at
        self._ahead_ms = ahead_ms if self._ahead_ms is None else min(ahead_ms, self._ahead_ms)
        self._behind_ms = behind_ms if self._behind_ms is None else min(behind_ms, self._behind_ms)
