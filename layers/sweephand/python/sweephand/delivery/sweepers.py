"""Starting sweep functions: one asynchronous invocation for each."""

import json
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from sweephand.base.errors import StoreError

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient


def lambda_client() -> "LambdaClient":
    """A client for this function's own region."""
    return boto3.client("lambda")


class LambdaSweepers:
    """ports.Sweepers by asynchronous invocations of one function (its name or ARN, with the alias).

    The client is made when the first sweeper is started, and kept. Few minutes need one.
    """

    def __init__(self, function: str, client: "Callable[[], LambdaClient]" = lambda_client) -> None:
        self._function = function
        self._connect = client

    @cached_property
    def _client(self) -> "LambdaClient":
        return self._connect()

    def start(self, first_shards: Sequence[int]) -> None:
        """Start one sweep for each of those first shards.

        StoreError: the remaining sweeps were not started.
        """
        for shard in first_shards:
            payload = json.dumps({"firstShard": shard}).encode()
            try:
                self._client.invoke(FunctionName=self._function, InvocationType="Event", Payload=payload)
            except (BotoCoreError, ClientError) as error:
                raise StoreError(f"the sweep function was not started: {error}") from error
