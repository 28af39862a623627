"""Faults for a botocore client, by handlers of its own events. No part of botocore is patched."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import TYPE_CHECKING, Any

import pytest
from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders
from botocore.exceptions import ConnectTimeoutError

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@dataclass
class Counted:
    """A count of events."""

    times: int = 0


@contextmanager
def repeated_by_the_sdk(client: "DynamoDBClient", operation: str) -> Iterator[Counted]:
    """Let the SDK send each request twice, as if the first answer were lost."""
    counted = Counted()

    def needs_retry(attempts: int, **_: Any) -> float | None:
        counted.times += 1
        return 0.0 if attempts == 1 else None

    with _listening(client, f"needs-retry.dynamodb.{operation}", needs_retry):
        yield counted


@contextmanager
def refused(client: "DynamoDBClient", operation: str, code: str, status: int = 400) -> Iterator[Counted]:
    """Answer every request of that operation with an error. The requests do not reach the engine."""
    counted = Counted()
    body = json.dumps({"__type": f"com.amazonaws.dynamodb.v20120810#{code}", "message": "no"}).encode()

    def before_send(request: Any, **_: Any) -> AWSResponse:
        counted.times += 1
        return AWSResponse(request.url, status, HTTPHeaders(), _Body(body))

    with _listening(client, f"before-send.dynamodb.{operation}", before_send):
        yield counted


@contextmanager
def damaged_once(client: "DynamoDBClient", operation: str) -> Iterator[Counted]:
    """Let the first answer of that operation have half of its body, with a checksum that does not match."""
    counted = Counted()

    def before_send(request: Any, **_: Any) -> AWSResponse | None:
        counted.times += 1
        headers = HTTPHeaders.from_dict({"x-amz-crc32": "1"})
        return AWSResponse(request.url, 200, headers, _Body(b'{"Item": {')) if counted.times == 1 else None

    with _listening(client, f"before-send.dynamodb.{operation}", before_send):
        yield counted


@contextmanager
def cut_off(client: "DynamoDBClient", operation: str) -> Iterator[Counted]:
    """Let every request of that operation end at its connect timeout. No request reaches the engine."""
    counted = Counted()

    def before_send(request: Any, **_: Any) -> None:
        counted.times += 1
        raise ConnectTimeoutError(endpoint_url=request.url)

    with _listening(client, f"before-send.dynamodb.{operation}", before_send):
        yield counted


@dataclass
class HalfBatches:
    """Acts as a DynamoDB that processes half of each batch and returns the rest as unprocessed."""

    sizes: list[int] = field(default_factory=list)
    left: dict[str, Any] = field(default_factory=dict)

    @contextmanager
    def of(self, client: "DynamoDBClient", operation: str) -> Iterator["HalfBatches"]:
        """While the context is open, process only the first half of each batch, rounded up."""
        with (
            _listening(client, f"provide-client-params.dynamodb.{operation}", self._cut),
            _listening(client, f"after-call.dynamodb.{operation}", self._confess),
        ):
            yield self

    def _cut(self, params: dict[str, Any], **_: Any) -> dict[str, Any]:
        [(table, asked)] = params["RequestItems"].items()
        requests = asked if isinstance(asked, list) else asked["Keys"]
        self.sizes.append(len(requests))
        kept, self.left[table] = _split(asked, requests, (len(requests) + 1) // 2)
        return {"RequestItems": {table: kept}}

    def _confess(self, parsed: dict[str, Any], **_: Any) -> None:
        [(table, left)] = self.left.items()
        name = "UnprocessedItems" if isinstance(left, list) else "UnprocessedKeys"
        if left if isinstance(left, list) else left["Keys"]:
            parsed[name] = {table: left}


def _split(asked: Any, requests: Sequence[Any], done: int) -> tuple[Any, Any]:
    parts = list(requests[:done]), list(requests[done:])
    if isinstance(asked, list):
        return parts
    return {**asked, "Keys": parts[0]}, {**asked, "Keys": parts[1]}


@contextmanager
def idle(client: "DynamoDBClient", operation: str) -> Iterator[None]:
    """Answer every batch with all of its entries unprocessed."""

    def before_send(request: Any, **_: Any) -> AWSResponse:
        asked = json.loads(request.body)["RequestItems"]
        answer = {"Responses": {}, "UnprocessedKeys": asked, "UnprocessedItems": asked}
        return AWSResponse(request.url, 200, HTTPHeaders(), _Body(json.dumps(answer).encode()))

    with _listening(client, f"before-send.dynamodb.{operation}", before_send):
        yield


@contextmanager
def interrupted(client: "DynamoDBClient", at: dict[str, Any]) -> Iterator[Counted]:
    """Let the first query return no items but a LastEvaluatedKey, which DynamoDB may do."""
    counted = Counted()

    def after_call(parsed: dict[str, Any], **_: Any) -> None:
        counted.times += 1
        if counted.times == 1:
            parsed.update(Items=[], Count=0, LastEvaluatedKey=at)

    with _listening(client, "after-call.dynamodb.Query", after_call):
        yield counted


@contextmanager
def followed(client: "DynamoDBClient", operation: str, action: Callable[[], object]) -> Iterator[Counted]:
    """Run an action right after the answer to the first request of that operation."""
    counted = Counted()

    def after_call(**_: Any) -> None:
        counted.times += 1
        if counted.times == 1:
            action()

    with _listening(client, f"after-call.dynamodb.{operation}", after_call):
        yield counted


@contextmanager
def watched(client: "DynamoDBClient", operation: str) -> Iterator[list[dict[str, Any]]]:
    """Collect the answers to all requests of that operation."""
    answers: list[dict[str, Any]] = []

    def after_call(parsed: dict[str, Any], **_: Any) -> None:
        answers.append(parsed)

    with _listening(client, f"after-call.dynamodb.{operation}", after_call):
        yield answers


@contextmanager
def capacity_counted(client: "DynamoDBClient") -> Iterator[list[float]]:
    """Collect the capacity units of every request."""
    units: list[float] = []

    def ask(params: dict[str, Any], **_: Any) -> dict[str, Any]:
        return {**params, "ReturnConsumedCapacity": "TOTAL"}

    def note(parsed: dict[str, Any], **_: Any) -> None:
        consumed = parsed.get("ConsumedCapacity", [])
        units.extend(
            each["CapacityUnits"] for each in (consumed if isinstance(consumed, list) else [consumed])
        )

    with (
        _listening(client, "provide-client-params.dynamodb.*", ask),
        _listening(client, "after-call.dynamodb.*", note),
    ):
        yield units


@contextmanager
def dated(client: "DynamoDBClient", now: Callable[[], int]) -> Iterator[None]:
    """Let every answer have the date of this clock, in ms since 1970, as AWS's answers have one."""

    def before_parse(response_dict: dict[str, Any], **_: Any) -> None:
        response_dict["headers"]["date"] = formatdate(now() // 1_000, usegmt=True)

    with _listening(client, "before-parse.dynamodb", before_parse):
        yield


def without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the SDK retry without waiting."""
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _: None)


@contextmanager
def _listening(client: "DynamoDBClient", event: str, listener: Any) -> Iterator[None]:
    client.meta.events.register_first(event, listener)
    try:
        yield
    finally:
        client.meta.events.unregister(event, listener)


class _Body:
    """A response's body, as botocore reads one."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def stream(self, *_: Any, **__: Any) -> Iterator[bytes]:
        yield self._content
