"""The measured points from which the pages are made, and the file that holds them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter

FILE: Final = Path(__file__).with_name("measured.json")


@dataclass(frozen=True, slots=True)
class Usage:
    """What was used: write and read request units, SQS requests and Lambda calls, as AWS bills them.

    `messages` were sent by `sends` requests. The bytes are stored in each table. `sweep_cpu_ms` is the CPU
    time of ticks, boto3 included.
    """

    writes: float = 0
    reads: float = 0
    sqs: float = 0
    invocations: float = 0
    messages: float = 0
    sends: float = 0
    jobs_bytes: float = 0
    timers_bytes: float = 0
    sweep_cpu_ms: float = 0

    def plus(self, other: "Usage", times: float = 1) -> "Usage":
        """This usage and a multiple of another one, which may be negative."""
        names = (each.name for each in fields(Usage))
        return Usage(**{name: getattr(self, name) + times * getattr(other, name) for name in names})

    def per(self, count: int) -> "Usage":
        """The share of each of `count` triggers, rounded to four digits."""
        return Usage(**{each.name: round(getattr(self, each.name) / count, 4) for each in fields(Usage)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Count(Usage):
    """What each trigger of a case used, an idle minute's units left out.

    `rate` is in triggers a second, spread at random, or None if they fall due together. `per_minute` is how
    many came in a minute.
    """

    kind: str
    rate: float | None
    triggers: int
    per_minute: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchCount(Usage):
    """What an event of a batch used under a limit (None: no policy), from its job's creation to its end.

    The events are due at `rate` a second, or all at once if it is None.
    """

    limit: int | None
    rate: int | None
    events: int

    @property
    def spread(self) -> str:
        """When the events are due, as the pages say it."""
        return "at once" if self.rate is None else f"over {self.events / self.rate:.0f} s"


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

    def used_in(self, per_minute: int) -> Usage:
        """What a minute with so many triggers of recurring jobs uses in all, between the counted herds."""
        counted = sorted((each.per_minute, each) for each in self.counts if _is_herd(each))
        least = counted[0][1]
        lower, upper = (0, least), counted[0]
        for each in counted[1:]:
            if upper[0] < per_minute:
                lower, upper = upper, each
        # A minute with few triggers uses as much as one with the fewest that were counted.
        share = (max(per_minute, least.per_minute) - lower[0]) / (upper[0] - lower[0])
        whole, part = (Usage().plus(each, count) for count, each in (lower, upper))
        return whole.plus(part.plus(whole, -1), share)

    def rates(self, kind: str = "recurring") -> list[float]:
        """The rates at which triggers of that kind were counted, in ascending order."""
        return sorted(each.rate for each in self.counts if each.kind == kind and each.rate)


def _is_herd(count: Count) -> bool:
    return count.kind == "recurring" and count.rate is None


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
