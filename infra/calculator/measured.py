"""The measured points from which the pages are made, and the file that holds them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from infra.bench.cost import Count
from infra.bench.flow_units import BatchCount
from infra.bench.meter import Usage
from pydantic import TypeAdapter

FILE: Final = Path(__file__).with_name("measured.json")


@dataclass(frozen=True, slots=True)
class Handling:
    """CPU ms of the functions on one core, and bytes that they write to logs and to consumers.

    A delivery call takes `deliver_call_ms` and `deliver_trigger_ms` for each trigger, with boto3's work but
    without TLS. History adds `history_ms`, and a new TLS connection adds `tls_ms`.
    """

    deliver_call_ms: float
    deliver_trigger_ms: float
    history_ms: float
    tls_ms: float
    put_ms: float
    bulk_job_ms: float
    log_call_bytes: int
    log_trigger_bytes: float
    api_log_bytes: int
    request_bytes: int
    metrics: int


@dataclass(frozen=True, slots=True)
class SweeperPoint:
    """One sweeper on a whole core, AWS answering each call after 4 ms.

    `per_s` is triggers a second by the clock, and `cpu_us` is CPU µs for each trigger.
    """

    work: str
    per_s: float
    cpu_us: float


@dataclass(frozen=True, slots=True)
class Measured:
    """All measured points. `when` says on what day each part was measured, and how busy the machine was.

    `counts` are on DynamoDB Local, and `idle` is a minute there in which nothing is due, with one shard.
    `function_cpu_us` is CPU µs of a delivery function for each trigger, on a whole core, boto3's work
    included. It keeps the outcome of each run. Its connections are kept, and it encrypts what it sends.
    """

    when: Mapping[str, str]
    counts: list[Count]
    idle: Usage
    handling: Handling
    batches: list[BatchCount]
    sweeper: list[SweeperPoint]
    function_cpu_us: float

    def count(self, kind: str, rate: float | None, per_minute: int | None = None) -> Count:
        """The count of that kind at that rate; of a herd, with that many triggers a minute."""
        [found] = [
            each
            for each in self.counts
            if (each.kind, each.rate) == (kind, rate) and per_minute in (None, each.per_minute)
        ]
        return found

    def rates(self, kind: str = "recurring") -> list[float]:
        """The rates at which triggers of that kind were counted, in ascending order."""
        return sorted(each.rate for each in self.counts if each.kind == kind and each.rate)


_ANY: Final[TypeAdapter[Any]] = TypeAdapter(Any)


def load(path: Path = FILE) -> Measured:
    """The points of the committed file."""
    return TypeAdapter(Measured).validate_json(path.read_bytes())


def update(parts: Mapping[str, Any], when: str, path: Path = FILE) -> None:
    """Replace some parts of the file by newly measured ones, and note when they were measured."""
    held = json.loads(path.read_text(encoding="utf-8"))
    held |= _ANY.dump_python(parts)
    held["when"] |= dict.fromkeys(parts, when)
    path.write_text(json.dumps(held, indent=1) + "\n", encoding="utf-8")
