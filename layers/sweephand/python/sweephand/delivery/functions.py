"""Starting other functions of the stack by asynchronous invocations."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from sweephand.base.errors import StoreError

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient

#: The event of a wake-up. The delivery function's handler knows it by this field.
WAKE_UP: Final[Mapping[str, Any]] = {"wakeUp": True}


def lambda_client() -> "LambdaClient":
    """A client for this function's own region."""
    return boto3.client("lambda")


class LambdaSweepers:
    """ports.Sweepers by asynchronous invocations of one function (its name or ARN, with the alias)."""

    def __init__(self, function: str, connect: "Callable[[], LambdaClient]" = lambda_client) -> None:
        self._function = _Function(function, connect)

    def start(self, first_shards: Sequence[int]) -> None:
        """Start one sweep for each of those first shards.

        StoreError: the remaining sweeps were not started.
        """
        self._function.invoke({"firstShard": shard} for shard in first_shards)


class LambdaDeliveryFunctions:
    """ports.DeliveryFunctions by asynchronous invocations of one function (name or ARN, with the alias)."""

    def __init__(self, function: str, connect: "Callable[[], LambdaClient]" = lambda_client) -> None:
        self._function = _Function(function, connect)

    def wake(self, count: int) -> None:
        """Invoke the function that many times. StoreError: the remaining invocations were not made."""
        self._function.invoke([WAKE_UP] * count)


class _Function:
    """A function that is invoked asynchronously.

    The client is made for the first invocation, and kept. Few minutes need one.
    """

    def __init__(self, name: str, connect: "Callable[[], LambdaClient]") -> None:
        self._name = name
        self._connect = connect

    @cached_property
    def _client(self) -> "LambdaClient":
        return self._connect()

    def invoke(self, events: Iterable[Mapping[str, Any]]) -> None:
        for event in events:
            try:
                self._client.invoke(
                    FunctionName=self._name, InvocationType="Event", Payload=json.dumps(event).encode()
                )
            except (BotoCoreError, ClientError) as error:
                raise StoreError(f"the function {self._name} was not started: {error}") from error
