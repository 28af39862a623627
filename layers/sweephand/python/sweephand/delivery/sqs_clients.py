"""The clients of SQS, with the rights of the stack.

Apart from aws_clients.py, so that functions without targets of AWS have nothing that assumes a role.
"""

from threading import Lock
from typing import TYPE_CHECKING

from sweephand.delivery.checked_clients import checked_client

if TYPE_CHECKING:
    from collections.abc import Callable

    from mypy_boto3_sqs import SQSClient


def sqs_client(region: str | None) -> "SQSClient":
    """A client for the queues of a region. None is the region of the environment."""
    client: SQSClient = checked_client("sqs", region)
    return client


class SqsClients:
    """The clients by region. Safe to use from many threads, and so is each client (boto3's promise)."""

    def __init__(self, make: "Callable[[str | None], SQSClient]" = sqs_client) -> None:
        self._make = make
        self._clients: dict[str | None, SQSClient] = {}
        self._lock = Lock()

    def client(self, region: str | None) -> "SQSClient":
        """The client of a region. None is the region of the environment."""
        with self._lock:  # making a client is not safe in two threads at once
            if region not in self._clients:
                self._clients[region] = self._make(region)
            return self._clients[region]
