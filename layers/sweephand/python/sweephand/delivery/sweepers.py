"""Starting sweep functions: one asynchronous invocation each."""

import json
from collections.abc import Callable, Sequence
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
    """ports.Sweepers by asynchronous invocations of one function (its name or ARN, alias included)."""

    def __init__(self, function: str, client: "Callable[[], LambdaClient]" = lambda_client) -> None:
        self._function = function
        self._client = client

    def start(self, first_shards: Sequence[int]) -> None:
        """Begin one sweep for each shard to start from; StoreError: the rest were not begun."""
        client = self._client()
        for shard in first_shards:
            payload = json.dumps({"firstShard": shard}).encode()
            try:
                client.invoke(FunctionName=self._function, InvocationType="Event", Payload=payload)
            except (BotoCoreError, ClientError) as error:
                raise StoreError(f"the sweep function was not started: {error}") from error
