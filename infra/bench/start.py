"""How fast each function starts, as a multiple of what boto3 takes, and the memory that it then holds."""

import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from infra.bench.instant_dynamodb import ENVIRONMENT
from infra.bench.report import Cell, Figure, Report
from infra.local.build import build

#: Each function, and its bound as a multiple of `import boto3`.
_FUNCTIONS: Final = {
    "TickFunction": 1.3,
    "SweepFunction": 1.3,
    "DeliverFunction": 1.3,
    "AuthorizerFunction": 3.0,
    "ApiFunction": 3.0,
}
#: The functions that make their clients as they start, and their bound as a multiple of bare boto3 that makes
#: the same clients.
_WITH_CLIENTS: Final = ("TickFunction", "SweepFunction", "DeliverFunction")
_WITH_CLIENTS_MOST: Final = 1.3

_BARE: Final = "import boto3"
_BARE_CLIENTS: Final = "import boto3; boto3.client('dynamodb'); boto3.client('sqs')"
_HANDLER: Final = "import handler"

_MEMORY_MB: Final = 256
_PAIRS: Final = 15
_LAYERS: Final = ("SweephandLayer", "DependenciesLayer")

#: Prints the CPU seconds of a program and the KB that the process then holds. Nothing else is imported first.
#: Otherwise modules that boto3 shares with it would cost neither.
_TIMED: Final = (
    "import time; t = time.process_time(); {}; print(time.process_time() - t); "
    "import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
)


def measure() -> Report:
    """Import each function as the built layers hold it."""
    with tempfile.TemporaryDirectory() as folder:
        for each in build().artifacts:
            shutil.unpack_archive(each.path, Path(folder, each.logical_id))
        rows = [_row(Path(folder), name, most) for name, most in _FUNCTIONS.items()]
    return Report(
        title=f"Start of each function, Python {sys.version.split()[0]}, median of {_PAIRS} pairs",
        rows=rows,
        notes=(
            "Import: CPU time in a fresh process with only the layers and their bytecode, compared with",
            "an `import boto3` in another. With clients: with the settings of a stack, so that the function",
            "makes its clients of DynamoDB and SQS, compared with bare boto3 with both. MB: the most held.",
        ),
    )


def _row(build: Path, function: str, most: float) -> Mapping[str, Cell]:
    # A function makes its clients only with the settings of a stack. Making them calls nobody.
    row: dict[str, Cell] = {"function": function}
    code = [build / function, *(build / each / "python" for each in _LAYERS)]
    row["import ms"], row["to boto3"], megabytes = _cells(code, _BARE, {}, most)
    if function in _WITH_CLIENTS:
        cells = _cells(code, _BARE_CLIENTS, ENVIRONMENT, _WITH_CLIENTS_MOST)
        row["with clients ms"], row["to boto3's"], megabytes = cells
    return {**row, "MB": megabytes}


def _cells(
    code: Sequence[Path], bare: str, settings: Mapping[str, str], most: float
) -> tuple[Cell, Cell, Cell]:
    """The median start in ms, the median of its ratios to the program `bare`, measured in turn, and MB."""
    pairs = [(_started(code, _HANDLER, settings), _started(code, bare, settings)) for _ in range(_PAIRS)]
    return (
        Figure(statistics.median(ms for (ms, _), _ in pairs), 0),
        Figure(statistics.median(ms / bare_ms for (ms, _), (bare_ms, _) in pairs), most=most),
        Figure(max(megabytes for (_, megabytes), _ in pairs), 0, _MEMORY_MB),
    )


def _started(code: Sequence[Path], program: str, settings: Mapping[str, str]) -> tuple[float, float]:
    """CPU ms of a program in a new process, and the most MB that it held.

    `code` holds the function before the layers, as in Lambda, and the standard library (`-S`).
    """
    done = subprocess.run(
        [sys.executable, "-S", "-B", "-c", _TIMED.format(program)],
        env={**settings, "PYTHONPATH": ":".join(map(str, code))},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    seconds, peak = map(float, done.stdout.split())
    # getrusage counts KB on Linux, and bytes on macOS.
    return seconds * 1_000, peak / 1_024 / (1_024 if sys.platform == "darwin" else 1)
