"""Which SQS client talks to a queue: one of the queue's own region, made when first asked for."""

from threading import Lock
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config

from sweephand import __version__
from sweephand.delivery.wanted import check

if TYPE_CHECKING:
    from collections.abc import Callable

    from mypy_boto3_sqs import SQSClient

#: The slowest answer of a healthy SQS is far below; with the retries of an attempt that costs two tries,
#: a queue out of reach is given up after half a minute, within the delivery function's time.
CONNECT_TIMEOUT_S = 3
READ_TIMEOUT_S = 10
TRIES_MAX = 2

#: As many as threads send at once (queue.py, and ten deliveries).
CONNECTIONS_MAX = 20


def _check(**_: Any) -> None:
    check()


def sqs_client(region: str | None) -> "SQSClient":
    """A client for the queues of a region (None: the environment's)."""
    config = Config(
        connect_timeout=CONNECT_TIMEOUT_S,
        read_timeout=READ_TIMEOUT_S,
        retries={"mode": "standard", "total_max_attempts": TRIES_MAX},
        max_pool_connections=CONNECTIONS_MAX,
        user_agent=f"Sweephand/{__version__}",  # as in storage.connect: boto3's own takes a fifth of its time
    )
    client = boto3.client("sqs", region_name=region, config=config)
    # Of a message to a consumer's queue; ours are sent in batches. The SDK tries again by itself, seconds
    # after it was asked to send: before each try it is asked whether that is wanted.
    client.meta.events.register_first("before-send.sqs.SendMessage", _check)
    return client


class SqsClients:
    """The clients by region. Safe to use from many threads; so is each client (boto3's promise)."""

    def __init__(self, make: "Callable[[str | None], SQSClient]" = sqs_client) -> None:
        self._make = make
        self._clients: dict[str | None, SQSClient] = {}
        self._lock = Lock()

    def client(self, region: str | None) -> "SQSClient":
        """The client of a region; None is the environment's."""
        with self._lock:  # making a client is not safe in two threads at once
            if region not in self._clients:
                self._clients[region] = self._make(region)
            return self._clients[region]
