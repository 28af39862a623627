"""Billed usage: DynamoDB's units as it reports them, and SQS's requests as AWS would bill them.

SQS is a queue in memory here, which is fast at any depth.
"""

import heapq
from collections.abc import Mapping
from itertools import count
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from infra.bench.report import Cell, Figure

from sweephand.base.instants import SECOND_MS, Instant
from sweephand.ports.clock import Clock
from sweephand.runs.received import Received
from sweephand_engine.costs.measured import Usage
from sweephand_engine.costs.prices import INVOCATIONS, MILLION, READS, SQS_REQUESTS, WRITES

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_READS: Final = {"GetItem", "BatchGetItem", "Query"}
_WRITES: Final = {"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem"}

#: How many messages one of Lambda's pollers receives, and deletes, at once.
BATCH_MAX: Final = 10

#: Where a request's parameters are kept until its answer comes.
_ASKED: Final = "sweephand_asked"

#: SQS bills every 64 KB of a request as a request.
_SQS_REQUEST_BYTES: Final = 65_536


def cells(usage: Usage, bounds: Mapping[str, float] | None = None) -> Mapping[str, Cell]:
    """The cells of a report: what a trigger used, and dollars for a million of them.

    The dollars are without the functions' time. `bounds` has the most of a column where the design bounds it.
    """
    bounds = bounds or {}
    units = {"WRU": usage.writes, "RRU": usage.reads, "SQS": usage.sqs, "Lambda calls": usage.invocations}
    dollars = (
        WRITES.of(usage.writes)
        + READS.of(usage.reads)
        + SQS_REQUESTS.of(usage.sqs)
        + INVOCATIONS.of(usage.invocations)
    )
    return {
        # The design's bounds have two digits.
        **{name: Figure(used, 2 if name in bounds else 3, bounds.get(name)) for name, used in units.items()},
        "$ per million": Figure(dollars * MILLION),
    }


class Meter:
    """Counts usage. Many threads may use the clients that it counts."""

    def __init__(self) -> None:
        self.usage = Usage()
        self._lock = Lock()

    def add(self, **used: float) -> None:
        """Count what was used, by the names of Usage."""
        with self._lock:
            self.usage = self.usage.plus(Usage(**used))

    def watch(self, client: "DynamoDBClient") -> None:
        """Make each of the client's requests return the units that it consumes, and count them."""
        # The stubs say that a listener returns nothing. botocore takes the answer of the first one.
        events: Any = client.meta.events
        events.register("provide-client-params.dynamodb", _asking)
        events.register("after-call.dynamodb", self._count)

    def sqs_request(self, size: int = 0) -> None:
        """Count one request to SQS with that many bytes of payload."""
        self.add(sqs=max(1, -(-size // _SQS_REQUEST_BYTES)))

    def _count(self, parsed: dict[str, Any], model: Any, context: dict[str, Any], **_: Any) -> None:
        operation: str = model.name
        if operation in _WRITES:
            self.add(writes=_units(parsed))
        elif operation == "BatchGetItem":
            self.add(reads=_units(parsed) + _absent(context[_ASKED], parsed))
        elif operation in _READS:
            # AWS charges one unit for a strong read that finds nothing. DynamoDB Local reports none.
            self.add(reads=max(_units(parsed), 1.0))


def _asking(params: dict[str, Any], model: Any, context: dict[str, Any], **_: Any) -> dict[str, Any]:
    if model.name not in _READS | _WRITES:
        return params
    context[_ASKED] = params
    return {**params, "ReturnConsumedCapacity": "TOTAL"}


def _absent(asked: Mapping[str, Any], parsed: Mapping[str, Any]) -> float:
    """Units of the items of a batch that do not exist: DynamoDB Local reports none, and AWS the least."""
    units = 0.0
    for table, wanted in asked["RequestItems"].items():
        left = parsed.get("UnprocessedKeys", {}).get(table, {"Keys": ()})
        found = parsed.get("Responses", {}).get(table, ())
        absent = len(wanted["Keys"]) - len(left["Keys"]) - len(found)
        units += absent * (1.0 if wanted.get("ConsistentRead") else 0.5)
    return units


def _units(parsed: Mapping[str, Any]) -> float:
    """The units of a response, as DynamoDB Local reports them."""
    if "Error" in parsed:
        # AWS charges a refused conditional write like a successful one. Items here are under 1 KB.
        return float(parsed["Error"].get("Code") == "ConditionalCheckFailedException")
    consumed = parsed.get("ConsumedCapacity", [])
    parts: list[Any] = consumed if isinstance(consumed, list) else [consumed]
    return float(sum(part["CapacityUnits"] for part in parts))


class CountedSqs:
    """Stands in for the SQS client of one queue, and for the poller that reads it for Lambda.

    The poller finds full batches as long as ten messages are visible, as SQS does under load. Many threads
    may send and receive.
    """

    def __init__(self, clock: Clock, meter: Meter) -> None:
        self._clock = clock
        self._meter = meter
        self._waiting: list[tuple[Instant, int, str]] = []
        self._numbers = count()
        self._lock = Lock()

    def send_message_batch(self, *, QueueUrl: str, Entries: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: ARG002, N803 - as boto3 names them
        """Accept all entries."""
        self._meter.sqs_request(sum(len(entry["MessageBody"]) for entry in Entries))
        self._meter.add(sends=1, messages=len(Entries))
        now = self._clock.now()
        with self._lock:
            for entry in Entries:
                visible_at = now + entry.get("DelaySeconds", 0) * SECOND_MS
                heapq.heappush(self._waiting, (visible_at, next(self._numbers), entry["MessageBody"]))
        return {"Successful": [{"Id": entry["Id"]} for entry in Entries]}

    def send_message(self, *, QueueUrl: str, MessageBody: str, DelaySeconds: int) -> None:  # noqa: N803 - same
        """Accept a message."""
        entry = {"Id": "0", "MessageBody": MessageBody, "DelaySeconds": DelaySeconds}
        self.send_message_batch(QueueUrl=QueueUrl, Entries=[entry])

    def next_at(self) -> Instant | None:
        """When the next message becomes visible, or became so; None if there is none."""
        return self._waiting[0][0] if self._waiting else None

    def receive(self, at_most: int = BATCH_MAX) -> list[Received]:
        """Up to so many visible messages, by one request."""
        now = self._clock.now()
        batch: list[Received] = []
        with self._lock:
            while self._waiting and self._waiting[0][0] <= now and len(batch) < at_most:
                _, number, body = heapq.heappop(self._waiting)
                batch.append(Received(str(number), str(number), 1, body))
        self._meter.sqs_request(sum(len(each.body) for each in batch))
        return batch

    def delete(self) -> None:
        """Remove the received messages, by one request."""
        self._meter.sqs_request()
