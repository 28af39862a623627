"""A DynamoDB that answers at once, below boto3 or in its place, so that the bench measures all other work."""

import io
import json
import time
from collections import Counter
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, Final

from botocore.awsrequest import AWSResponse, HTTPHeaders
from botocore.exceptions import ClientError


class InstantDynamoDB:
    """Stands in for boto3's client in the calls of a delivery and of a write of jobs, and counts these.

    Every write is granted. Runs and timers are counted and not kept: keeping them would only make work for
    the garbage collector. Beneath boto3, each answer takes `latency_ms`.
    """

    exceptions = SimpleNamespace(ConditionalCheckFailedException=ClientError)

    #: An event system without listeners' effects: registering does nothing.
    meta = SimpleNamespace(events=SimpleNamespace(register=lambda *_: None))

    def __init__(self, latency_ms: int = 0) -> None:
        self._latency_s = latency_ms / 1_000
        self.calls: Counter[str] = Counter()
        self._items: dict[tuple[str, str], Any] = {}
        self._listener: Callable[[str, Mapping[str, Any]], object] | None = None

    def listen(self, listener: Callable[[str, Mapping[str, Any]], object] | None) -> None:
        """From now on, call the listener with the operation and parameters of each request below boto3."""
        self._listener = listener

    def get_item(self, **asked: Any) -> dict[str, Any]:
        """The item of a key, if it is kept."""
        self.calls["GetItem"] += 1
        item = self._items.get(_place(asked["Key"]))
        return {} if item is None else {"Item": item}

    def batch_get_item(self, **asked: Any) -> dict[str, Any]:
        """The items of those keys that are kept."""
        self.calls["BatchGetItem"] += 1
        ((table, wanted),) = asked["RequestItems"].items()
        found = [item for key in wanted["Keys"] if (item := self._items.get(_place(key)))]
        return {"Responses": {table: found}, "UnprocessedKeys": {}}

    def put_item(self, **asked: Any) -> dict[str, Any]:
        """Write an item."""
        self.calls["PutItem"] += 1
        pk, sk = _place(asked["Item"])
        if not pk.startswith("runs#"):
            self._items[pk, sk] = asked["Item"]
        return {}

    def batch_write_item(self, **_: Any) -> dict[str, Any]:
        """Write items. They are timers."""
        self.calls["BatchWriteItem"] += 1
        return {"UnprocessedItems": {}}

    def query(self, **asked: Any) -> dict[str, Any]:
        """The items of a partition that sort after the lower bound of the key condition, if it has one."""
        self.calls["Query"] += 1
        partition, *bounds = (each["S"] for each in asked["ExpressionAttributeValues"].values())
        lower = bounds[0] if bounds else ""
        return {"Items": [item for (pk, sk), item in self._items.items() if pk == partition and sk > lower]}

    def answer(self, request: Any, **_: Any) -> AWSResponse:
        """The answer to a request, for boto3's event `before-send`."""
        operation = request.headers["X-Amz-Target"].decode().rpartition(".")[2]
        asked = json.loads(request.body)
        if self._listener is not None:
            self._listener(operation, asked)
        said = _CALLS[operation](self, **asked)
        if self._latency_s:
            time.sleep(self._latency_s)
        return AWSResponse(request.url, 200, HTTPHeaders(), Raw(json.dumps(said).encode()))


class Raw(io.BytesIO):
    """A body as botocore reads it from urllib3."""

    def stream(self, *_: Any, **__: Any) -> list[bytes]:
        """All of it."""
        return [self.getvalue()]


_CALLS: Final[Mapping[str, Callable[..., dict[str, Any]]]] = {
    "GetItem": InstantDynamoDB.get_item,
    "BatchGetItem": InstantDynamoDB.batch_get_item,
    "PutItem": InstantDynamoDB.put_item,
    "BatchWriteItem": InstantDynamoDB.batch_write_item,
    "Query": InstantDynamoDB.query,
}


def _place(attributes: Mapping[str, Any]) -> tuple[str, str]:
    return attributes["pk"]["S"], attributes["sk"]["S"]
