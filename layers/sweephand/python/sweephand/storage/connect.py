"""How long DynamoDB and S3 may take to answer, and how often they are asked again."""

import json
from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

import boto3
from botocore.config import Config

from sweephand import __version__
from sweephand.storage import time_limit

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client

#: DynamoDB answers in milliseconds; a request that hangs is given up early enough for three more within
#: the API's 20 s of patience and a sweeper's 30 s of lease.
_CONFIG: Final = Config(
    connect_timeout=2,
    read_timeout=4,
    retries={"mode": "standard", "total_max_attempts": 4},
    max_pool_connections=32,
    tcp_keepalive=True,
    # What is sent is made by storage.table in a few forms, which the contract tests send to real engines: to
    # compare each item with the service's model anew takes a seventh of boto3's time.
    parameter_validation=False,
    # Its own is put together anew, of twenty parts and twice, for every request: a fifth of boto3's time.
    user_agent=f"Sweephand/{__version__}",
)


#: The operations that answer with items.
_READING: Final = ("GetItem", "BatchGetItem", "Query", "UpdateItem")


def dynamodb() -> "DynamoDBClient":
    """A new client, to be shared by all tables and threads; region and endpoint as boto3 finds them."""
    client = boto3.client("dynamodb", config=_CONFIG)
    for operation in _READING:
        client.meta.events.register(f"before-parse.dynamodb.{operation}", _take_as_it_is)
    time_limit.bound(client.meta.events)
    return client


def _take_as_it_is(
    response_dict: dict[str, Any], customized_response_dict: dict[str, Any], **_: object
) -> None:
    """Have botocore hand over an answer as DynamoDB wrote it.

    botocore walks through the service's model for every value of every item, and what comes of it is the same
    again, but for binary values, which no item of ours has. For a batch of jobs that took longer than all
    else that reading them does.
    """
    if response_dict["status_code"] != HTTPStatus.OK:
        return
    # What came damaged is left to botocore, which finds that out by its checksum and asks again.
    with suppress(ValueError):
        customized_response_dict |= json.loads(response_dict["body"])
        response_dict["body"] = b""


def s3() -> "S3Client":
    """A new client, to be shared by all threads; region and endpoint as boto3 finds them."""
    return boto3.client("s3", config=_CONFIG)
