"""Billed usage: DynamoDB's units as it reports them, and SQS's requests as AWS would bill them."""

from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from infra.bench.report import Cell, Figure
from infra.calculator.prices import INVOCATIONS, MILLION, READS, SQS_REQUESTS, WRITES

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_READS: Final = {"GetItem", "BatchGetItem", "Query"}
_WRITES: Final = {"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem"}

#: Where a request's parameters are kept until its answer comes.
_ASKED: Final = "sweephand_asked"

#: SQS bills every 64 KB of a request as a request.
_SQS_REQUEST_BYTES: Final = 65_536


@dataclass(slots=True)
class Usage:
    """Units used so far: write and read request units, SQS requests, Lambda invocations."""

    writes: float = 0
    reads: float = 0
    sqs: float = 0
    invocations: float = 0


def less(usage: Usage, other: Usage, times: float) -> Usage:
    """One usage minus a multiple of another."""
    return Usage(
        writes=usage.writes - times * other.writes,
        reads=usage.reads - times * other.reads,
        sqs=usage.sqs - times * other.sqs,
        invocations=usage.invocations - times * other.invocations,
    )


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one trigger may use at most; None where the design has no bound."""

    writes: float | None = None
    reads: float | None = None
    sqs: float | None = None


UNBOUNDED: Final = Bounds()


def cells(usage: Usage, count: int, bounds: Bounds = UNBOUNDED) -> Mapping[str, Cell]:
    """The cells of a report: what each of `count` triggers used, and dollars for a million of them.

    The dollars are without the functions' time.
    """

    def figure(used: float, most: float | None = None) -> Figure:
        # The design's bounds have two digits.
        return Figure(used / count, 3 if most is None else 2, most)

    dollars = (
        WRITES.of(usage.writes)
        + READS.of(usage.reads)
        + SQS_REQUESTS.of(usage.sqs)
        + INVOCATIONS.of(usage.invocations)
    )
    return {
        "WRU": figure(usage.writes, bounds.writes),
        "RRU": figure(usage.reads, bounds.reads),
        "SQS": figure(usage.sqs, bounds.sqs),
        "Lambda calls": figure(usage.invocations),
        "$ per million": Figure(dollars * MILLION / count),
    }


class Meter:
    """Counts until it is reset. Many threads may use the clients that it counts."""

    def __init__(self) -> None:
        self.usage = Usage()
        self._lock = Lock()

    def reset(self) -> None:
        """Set all counts to zero."""
        self.usage = Usage()

    def watch(self, client: "DynamoDBClient") -> None:
        """Make each of the client's requests return the units that it consumes, and count them."""
        # The stubs say that a listener returns nothing. botocore takes the answer of the first one.
        events: Any = client.meta.events
        events.register("provide-client-params.dynamodb", _asking)
        events.register("after-call.dynamodb", self._count)

    def sqs_request(self, size: int = 0) -> None:
        """Count one request to SQS with that many bytes of payload."""
        with self._lock:
            self.usage.sqs += max(1, -(-size // _SQS_REQUEST_BYTES))

    def invocation(self) -> None:
        """Count one Lambda call."""
        with self._lock:
            self.usage.invocations += 1

    def _count(self, parsed: dict[str, Any], model: Any, context: dict[str, Any], **_: Any) -> None:
        operation: str = model.name
        if operation not in _READS | _WRITES:
            return
        units = _units(operation, parsed)
        if operation == "BatchGetItem":
            units += _absent(context[_ASKED], parsed)
        with self._lock:
            if operation in _READS:
                self.usage.reads += units
            else:
                self.usage.writes += units


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


def _units(operation: str, parsed: dict[str, Any]) -> float:
    """The units of a response. Where DynamoDB Local reports less, AWS's minimum counts."""
    if "Error" in parsed:
        # AWS charges a refused conditional write like a successful one. Items here are under 1 KB.
        return float(parsed["Error"].get("Code") == "ConditionalCheckFailedException")
    consumed = parsed.get("ConsumedCapacity", [])
    units: float = sum(
        part["CapacityUnits"] for part in (consumed if isinstance(consumed, list) else [consumed])
    )
    # AWS charges one unit for a strong read that finds nothing. DynamoDB Local reports none. Of a batch,
    # _absent() counts what does not exist.
    is_alone = operation in _READS and operation != "BatchGetItem"
    return max(units, 1.0) if is_alone else units
