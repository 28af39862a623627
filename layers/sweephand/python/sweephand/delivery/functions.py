"""Starting other functions of the stack by asynchronous invocations, and calling the API function."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from sweephand.base.concurrency import REQUESTS_AT_ONCE, Concurrently, one_by_one
from sweephand.base.errors import StoreError
from sweephand.base.instants import SECOND_MS

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient


#: The event of a wake-up. The delivery function's handler knows it by this field.
WAKE_UP: Final[Mapping[str, Any]] = {"wakeUp": True}

#: How long a wake-up holds its function: a fixed time, and more for each wake-up of the same call. Tick sends
#: 16 at a time, and each takes about 20 ms. The rest is for Lambda's own queue.
_HOLD_MS: Final = 90
_HOLD_MS_EACH: Final = 5


def hold_ms(count: int) -> int:
    """For how many ms each wake-up holds its function, if that many are sent together."""
    return _HOLD_MS + count * _HOLD_MS_EACH


def lambda_client() -> "LambdaClient":
    """A client for this function's own region."""
    return boto3.client("lambda", config=Config(max_pool_connections=REQUESTS_AT_ONCE))


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

    def __init__(
        self,
        function: str,
        concurrently: Concurrently = one_by_one,
        connect: "Callable[[], LambdaClient]" = lambda_client,
    ) -> None:
        self._function = _Function(function, connect)
        self._concurrently = concurrently

    def wake(self, count: int) -> None:
        """Invoke the function that many times. StoreError: fewer invocations were made.

        Each wake-up holds its function until the others have been sent. A function that was free again would
        take the next wake-up too, and Lambda would start no other.
        """
        event = {**WAKE_UP, "holdMs": hold_ms(count)}
        self._function.invoke([event] * count, self._concurrently)


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

    def invoke(self, events: Iterable[Mapping[str, Any]], concurrently: Concurrently = one_by_one) -> None:
        # Threads share a client, and must not make one each.
        client = self._client
        concurrently([partial(self._invoke, client, event) for event in events])

    def _invoke(self, client: "LambdaClient", event: Mapping[str, Any]) -> None:
        payload = json.dumps(event).encode()
        try:
            client.invoke(FunctionName=self._name, InvocationType="Event", Payload=payload)
        except (BotoCoreError, ClientError) as error:
            raise StoreError(f"the function {self._name} was not started: {error}") from error


#: How long a call of the API function may take at most: its own time limit, and its cold start.
CALL_MS_MAX: Final = 45_000
_CONNECT_S: Final = 5


def api_client() -> "LambdaClient":
    """A client for calls of the API function. It waits for the whole call, and repeats none."""
    config = Config(
        connect_timeout=_CONNECT_S,
        read_timeout=CALL_MS_MAX // SECOND_MS - _CONNECT_S,
        retries={"total_max_attempts": 1},
    )
    return boto3.client("lambda", config=config)


class LambdaApi:
    """The API function (its name or ARN, with the alias), called as the gateway calls it."""

    def __init__(self, function: str, connect: "Callable[[], LambdaClient]" = api_client) -> None:
        self._name = function
        self._client = connect()

    def call(self, event: Mapping[str, Any]) -> Mapping[str, Any]:
        """What the function answers to an event of the gateway.

        StoreError if it does not answer. It may have done what it was asked all the same.
        """
        payload = json.dumps(event).encode()
        try:
            answer = self._client.invoke(
                FunctionName=self._name, InvocationType="RequestResponse", Payload=payload
            )
            said: Mapping[str, Any] = json.load(answer["Payload"])
        except (BotoCoreError, ClientError) as error:
            raise StoreError(f"the function {self._name} did not answer: {error}") from error
        if answer.get("FunctionError"):
            raise StoreError(f"the function {self._name} did not answer: {said.get('errorMessage')}")
        return said
