"""A DynamoDB that answers at once, beneath boto3 or in its place, so that all other work can be measured."""

import io
import json
from collections import Counter
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, Final

from botocore.awsrequest import AWSResponse, HTTPHeaders
from botocore.exceptions import ClientError


class InstantDynamoDB:
    """Stands in for boto3's client in the calls of a delivery, and counts these by operation.

    Every write is granted. Runs are counted and not kept: keeping them would only make work for the garbage
    collector.
    """

    exceptions = SimpleNamespace(ConditionalCheckFailedException=ClientError)

    #: An event system without listeners' effects: registering does nothing.
    meta = SimpleNamespace(events=SimpleNamespace(register=lambda *_: None))

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self._items: dict[tuple[str, str], Any] = {}

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

    def answer(self, request: Any, **_: Any) -> AWSResponse:
        """The answer to a request, for boto3's event `before-send`."""
        operation = request.headers["X-Amz-Target"].decode().rpartition(".")[2]
        said = _CALLS[operation](self, **json.loads(request.body))
        return AWSResponse(request.url, 200, HTTPHeaders(), _Raw(json.dumps(said).encode()))


class _Raw(io.BytesIO):
    """A body as botocore reads it from urllib3."""

    def stream(self, *_: Any, **__: Any) -> list[bytes]:
        """All of it."""
        return [self.getvalue()]


_CALLS: Final[Mapping[str, Callable[..., dict[str, Any]]]] = {
    "GetItem": InstantDynamoDB.get_item,
    "BatchGetItem": InstantDynamoDB.batch_get_item,
    "PutItem": InstantDynamoDB.put_item,
}


def _place(attributes: Mapping[str, Any]) -> tuple[str, str]:
    return attributes["pk"]["S"], attributes["sk"]["S"]
