"""The measured points from which the pages are made, and the file that holds them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass

FILE: Final = Path(__file__).with_name("measured.json")


@dataclass(frozen=True, slots=True)
class Count:
    """What a trigger of a kind uses at a rate, counted on DynamoDB Local; an idle minute's units left out.

    `rate` is in triggers a second, spread at random, or None if they fall due together. `messages` were sent
    by `sends` requests. The bytes are stored for each trigger. `sweep_cpu_ms` includes boto3.
    """

    kind: str
    rate: float | None
    triggers: int
    per_minute: int
    writes: float
    reads: float
    messages: float
    sends: float
    jobs_bytes: float
    timers_bytes: float
    sweep_cpu_ms: float


@dataclass(frozen=True, slots=True)
class IdleMinute:
    """Units and calls of a minute in which nothing is due, with one shard, and CPU ms of its tick."""

    writes: float
    reads: float
    invocations: float
    cpu_ms: float


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
class BatchCount:
    """What an event of a batch uses under a limit (None: no policy), from its job's creation to its end.

    The events are due at `rate` a second, or all at once if it is None. `sqs` and `invocations` are requests
    and calls as AWS bills them.
    """

    limit: int | None
    rate: int | None
    events: int
    writes: float
    reads: float
    sqs: float
    invocations: float


@dataclass(frozen=True, slots=True)
class SweeperPoint:
    """One sweeper on a whole core, AWS answering each call after 4 ms.

    `per_s` is triggers a second by the clock, and `cpu_us` is CPU µs for each trigger.
    """

    work: str
    per_s: float
    cpu_us: float


@dataclass(frozen=True, slots=True)
class FunctionPoint:
    """One delivery function on a whole core, boto3's work included: CPU µs for each trigger.

    It keeps the outcome of each run. Its connections are kept, and it encrypts what it sends.
    """

    cpu_us: float


@dataclass(frozen=True, slots=True)
class Measured:
    """All measured points. `when` says on what day each part was measured, and how busy the machine was."""

    when: Mapping[str, str]
    counts: list[Count]
    idle: IdleMinute
    handling: Handling
    batches: list[BatchCount]
    sweeper: list[SweeperPoint]
    function: FunctionPoint

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
