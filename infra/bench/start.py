"""How fast each function starts, as a multiple of what boto3 takes, and the memory of its first call."""

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from infra.bench import engines
from infra.bench.api_event import api_event
from infra.bench.report import Report, against, is_within
from infra.local.build import build
from infra.local.places import BUILD, REGION, Place
from infra.local.receiver import Receiver

#: The function, its folder in the build, and its bound as a multiple of `import boto3`.
_FUNCTIONS: Final = (
    ("tick", "TickFunction", 1.3),
    ("sweep", "SweepFunction", 1.3),
    ("deliver", "DeliverFunction", 1.3),
    ("authorizer", "AuthorizerFunction", 3.0),
    ("api", "ApiFunction", 3.0),
)
#: The functions that make their clients as they start, and bare boto3's program for the same clients.
_WITH_CLIENTS: Final = ("tick", "sweep", "deliver")
_BARE_CLIENTS: Final = "import boto3; boto3.client('dynamodb'); boto3.client('sqs')"
_BARE: Final = "import boto3"
_HANDLER: Final = "import handler"
#: A function makes its clients only with the settings of a stack. Making them calls nobody.
_SETTINGS: Final = {
    "JOBS_TABLE": "jobs",
    "TIMERS_TABLE": "timers",
    "AWS_DEFAULT_REGION": REGION,
    "AWS_ACCESS_KEY_ID": "bench",
    "AWS_SECRET_ACCESS_KEY": "bench",
}
#: With its clients, a function may take this multiple of bare boto3 with the same clients.
_WITH_CLIENTS_MAX: Final = 1.3
_MEMORY_MB: Final = 256
_PAIRS: Final = 15
_UNCOMPILED_STARTS: Final = 5
_LAYERS: Final = ("SweephandLayer", "DependenciesLayer")
_PROBE: Final = Path(__file__).with_name("probe.py")
_TIME_LIMIT_S: Final = 120


@dataclass(frozen=True, slots=True)
class _Start:
    """One function's figures: CPU ms to import it and as a multiple of boto3's, MB, ms of a first call.

    `uncompiled_ms` is the import if the layers have no bytecode. `clients` are the ms and the multiple with
    its clients, if it makes them as it starts.
    """

    name: str
    bound: float
    import_ms: float
    ratio: float
    uncompiled_ms: float
    clients: tuple[float, float] | None
    imported_mb: float
    peak_mb: float
    call_ms: float


def measure(place: Place) -> Report:
    """Import and call each function as the built layers hold it, on a local AWS of its own."""
    build()
    ratios = {name: _ratio(folder, _BARE, {}) for name, folder, _ in _FUNCTIONS}
    clients = {
        name: _ratio(folder, _BARE_CLIENTS, _SETTINGS)
        for name, folder, _ in _FUNCTIONS
        if name in _WITH_CLIENTS
    }
    uncompiled = _uncompiled()
    memory = _memory(place)
    found = [
        _Start(name, bound, *ratios[name], uncompiled[name], clients.get(name), *memory[name])
        for name, _, bound in _FUNCTIONS
    ]
    return Report(
        title=f"Start of each function, Python {sys.version.split()[0]}, median of {_PAIRS} pairs",
        columns=(
            "function",
            "import ms",
            "to boto3",
            "without bytecode ms",
            "with clients ms",
            "to boto3's",
            "MB started",
            "MB peak",
            "first call ms",
        ),
        rows=[_row(each) for each in found],
        figures={"functions": [_figures(each) for each in found]},
        is_within=all(_is_within(each) for each in found),
        notes=(
            "Import: CPU time in a fresh process with only the layers and their bytecode, compared with",
            "an `import boto3` in another. Without bytecode: the same import from layers that were not",
            f"compiled and cannot be written to, median of {_UNCOMPILED_STARTS}. With clients: the import",
            "with the settings of a stack, so that the function makes its clients of DynamoDB and SQS,",
            "compared with bare boto3 with both. Peak: after a first call on a local AWS, in which api",
            "writes 100 jobs and deliver takes ten messages. Lambda's own runtime is not in it.",
        ),
    )


def _is_within(start: _Start) -> bool:
    return (
        is_within(start.ratio, start.bound)
        and (start.clients is None or is_within(start.clients[1], _WITH_CLIENTS_MAX))
        and start.peak_mb <= _MEMORY_MB
    )


def _ratio(folder: str, bare: str, settings: Mapping[str, str]) -> tuple[float, float]:
    """The median start in ms, and the median of its ratios to the program `bare`, measured in turn."""
    pairs = [(_cpu_ms(folder, _HANDLER, settings), _cpu_ms(folder, bare, settings)) for _ in range(_PAIRS)]
    return (
        statistics.median(handler for handler, _ in pairs),
        statistics.median(handler / boto3 for handler, boto3 in pairs),
    )


def _uncompiled() -> Mapping[str, float]:
    """The median start in ms of each function with layers that have no bytecode and get none, as in /opt."""
    with tempfile.TemporaryDirectory() as copied:
        for each in _LAYERS:
            shutil.copytree(BUILD / each, Path(copied) / each, ignore=shutil.ignore_patterns("__pycache__"))
        return {
            name: statistics.median(
                _cpu_ms(folder, _HANDLER, {}, Path(copied)) for _ in range(_UNCOMPILED_STARTS)
            )
            for name, folder, _ in _FUNCTIONS
        }


def _cpu_ms(folder: str, program: str, settings: Mapping[str, str], layers: Path = BUILD) -> float:
    # Nothing else is imported first. Otherwise modules that boto3 shares with it would cost neither.
    timed = f"import time; t = time.process_time(); {program}; print(time.process_time() - t)"
    return 1000 * float(_probed(folder, ["-B", "-c", timed], {**settings, **_path(folder, layers)}))


def _memory(place: Place) -> Mapping[str, tuple[float, float, float]]:
    """MB after importing, MB after the first call, ms of that call."""
    with engines.running(place) as running, Receiver() as receiver:
        found = {}
        for name, events in _calls(running, receiver.url("/")):
            folder = next(folder for each, folder, _ in _FUNCTIONS if each == name)
            said = _called(folder, events, running.environment)
            _check(name, said["answers"][0])
            found[name] = (said["importedKb"] / 1024, said["peakKb"] / 1024, said["ms"])
        return found


def _calls(running: engines.Engines, url: str) -> Iterator[tuple[str, Sequence[Mapping[str, Any]]]]:
    """The functions, each after one that leaves it something to do, and the event for each call."""
    yield "tick", [{}]
    yield "sweep", [{"firstShard": 0}]
    yield "authorizer", [{"headers": {"authorization": f"Bearer sh_admin_{engines.ADMIN_SECRET}"}}]
    # Most triggers are due in the wheel. Ten are due at once, and one has more data than a job item holds.
    target = {"type": "http", "url": url}
    jobs = [
        {
            "name": f"job-{number}",
            "dueTime": "1s" if number < _AT_ONCE else "10m",
            "target": target,
            "data": "x" * (8_000 if number == 0 else 1_000),
        }
        for number in range(100)
    ]
    yield "api", [api_event("POST", "/v1/namespaces/bench/jobs", {"jobs": jobs})]
    yield "deliver", [{"Records": running.messages(_AT_ONCE)}]


_AT_ONCE: Final = 10


def _check(name: str, answer: Any) -> None:
    """Fail if a call failed: an early failure would look fast."""
    if name == "api":
        results = json.loads(answer["body"])["results"]
        assert all(each["status"] == 201 for each in results), results[0]  # noqa: PLR2004 - created
    elif name == "authorizer":
        assert answer["isAuthorized"], answer
    elif name == "deliver":
        assert answer == {"batchItemFailures": []}, answer


def _called(folder: str, events: Sequence[Mapping[str, Any]], environment: Mapping[str, str]) -> Any:
    with tempfile.NamedTemporaryFile(suffix=".json") as output:
        _probed(folder, [str(_PROBE), output.name], {**environment, **_path(folder)}, json.dumps(events))
        return json.load(output)


def _probed(folder: str, arguments: Sequence[str], environment: Mapping[str, str], said: str = "") -> str:
    done = subprocess.run(
        [sys.executable, "-S", *arguments],
        env=dict(environment),
        input=said,
        capture_output=True,
        text=True,
        check=False,
        timeout=_TIME_LIMIT_S,
    )
    assert done.returncode == 0, f"{folder}: {done.stderr}"
    return done.stdout


def _path(folder: str, layers: Path = BUILD) -> dict[str, str]:
    """The code before the layers on the path, as in Lambda."""
    shared = (layers / each / "python" for each in _LAYERS)
    return {"PYTHONPATH": ":".join(map(str, (BUILD / folder, *shared)))}


def _row(start: _Start) -> tuple[str, ...]:
    return (
        start.name,
        f"{start.import_ms:.0f}",
        against(start.ratio, start.bound),
        f"{start.uncompiled_ms:.0f}",
        "" if start.clients is None else f"{start.clients[0]:.0f}",
        "" if start.clients is None else against(start.clients[1], _WITH_CLIENTS_MAX),
        f"{start.imported_mb:.0f}",
        against(start.peak_mb, _MEMORY_MB, 0),
        f"{start.call_ms:.0f}",
    )


def _figures(start: _Start) -> dict[str, Any]:
    return {
        "name": start.name,
        "importMs": round(start.import_ms, 1),
        "toBoto3": round(start.ratio, 3),
        "toBoto3AtMost": start.bound,
        "withoutBytecodeMs": round(start.uncompiled_ms, 1),
        "withClientsMs": None if start.clients is None else round(start.clients[0], 1),
        "withClientsToBoto3": None if start.clients is None else round(start.clients[1], 3),
        "withClientsToBoto3AtMost": None if start.clients is None else _WITH_CLIENTS_MAX,
        "importedMb": round(start.imported_mb, 1),
        "peakMb": round(start.peak_mb, 1),
        "peakMbAtMost": _MEMORY_MB,
        "firstCallMs": round(start.call_ms, 1),
    }
