"""The measured points from which the model reckons, and the file that holds them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

FILE: Final = Path(__file__).with_name("measured.json")


@dataclass(frozen=True, slots=True)
class SweeperPoint:
    """One sweeper on a whole core, AWS answering each call after `latency_ms`.

    `per_s` is triggers a second by the clock, and `cpu_us` is CPU µs for each trigger.
    """

    work: str
    latency_ms: int
    per_s: float
    cpu_us: float


@dataclass(frozen=True, slots=True)
class FunctionPoint:
    """One delivery function on a whole core, boto3's work included: CPU µs for each trigger.

    Its connections are kept. With `has_tls`, it encrypts what it sends.
    """

    history: str
    has_tls: bool
    cpu_us: float


@dataclass(frozen=True, slots=True)
class LocalPoint:
    """Triggers on the local stack that fell due within `seconds` (0: at one instant), and their lateness.

    At most `functions` delivered them. The consumer answered after `answer_s`, and jobs had that `history`.
    The local AWS and its functions took `cpu_ms` of CPU for each trigger. `load` is that of the machine.
    """

    name: str
    answer_s: float
    history: str
    triggers: int
    delivered: int
    seconds: float
    functions: int
    p50_ms: int
    p99_ms: int
    last_ms: int
    cpu_ms: float
    load: float


@dataclass(frozen=True, slots=True)
class Measured:
    """All measured points. `when` says on what day each part was measured."""

    when: Mapping[str, str]
    sweeper: Sequence[SweeperPoint]
    function: Sequence[FunctionPoint]
    local: Sequence[LocalPoint]


def load(path: Path = FILE) -> Measured:
    """The points of the committed file."""
    held: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return Measured(
        when=held["when"],
        sweeper=[SweeperPoint(**each) for each in held["sweeper"]],
        function=[FunctionPoint(**each) for each in held["function"]],
        local=[LocalPoint(**each) for each in held["local"]],
    )


def update(part: str, points: Sequence[Any], when: str, path: Path = FILE) -> None:
    """Replace one part of the file by newly measured points, and note when they were measured."""
    held = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"when": {}}
    held[part] = [asdict(each) for each in points]
    held["when"][part] = when
    path.write_text(json.dumps(held, indent=1) + "\n", encoding="utf-8")
