"""The clients of DynamoDB and S3: their time-outs, their number of tries, and until when they may write."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

import boto3
from botocore.config import Config

from sweephand import __version__
from sweephand.base.concurrency import DELIVERIES_AT_ONCE
from sweephand.base.errors import StoreError

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
    """Let the writes of this thread be sent only while `in_time()` is true."""
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
