"""The command: measures, prints tables and writes .local/bench.json: `python -m infra.bench [part …]`."""

import argparse
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from typing import Any, Final

from infra import dynamodb_local
from infra.bench import (
    console,
    cost,
    creation,
    deliveries,
    flow,
    flow_units,
    fuzz,
    idle,
    lateness,
    schedules,
    slow,
    start,
    stored,
    sweeper,
)
from infra.bench.report import Report
from infra.local.places import LOCAL, Place

_FILE: Final = LOCAL / "bench.json"

#: Not the port of `make up`, so that both can run.
_PORT: Final = 4760


def main() -> int:
    """The exit code: 0 if everything could be measured, whatever the figures are."""
    parser = argparse.ArgumentParser(prog="python -m infra.bench", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="part", help=f"of {', '.join(_PARTS)}; all unless named")
    parser.add_argument("--triggers", type=int, default=10_000, help="fewer for a trial run (default 10000)")
    parser.add_argument("--inputs", type=int, default=100_000, help="random schedules (default 100000)")
    parser.add_argument(
        "--stored",
        type=int,
        nargs="+",
        default=stored.SIZES,
        help=f"stored timers of the part `stored` (default {' '.join(map(str, stored.SIZES))})",
    )
    parser.add_argument(
        "--events",
        type=int,
        default=flow.EVENTS,
        help=f"of the part `flow`, at the rate of the aim; fewer for a trial (default {flow.EVENTS})",
    )
    parser.add_argument(
        "--jobs",
        type=int,
        default=console.JOBS,
        help=f"of the part `console`; fewer for a trial (default {console.JOBS})",
    )
    parser.add_argument("--port", type=int, default=_PORT, help=f"for a local AWS (default {_PORT})")
    arguments = parser.parse_args()
    unknown = set(arguments.parts) - set(_PARTS)
    if unknown:
        parser.error(f"there is no part {', '.join(sorted(unknown))}")
    # However this program ends, it ends the processes that it started.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    is_complete = True
    figures: dict[str, Any] = {}
    for name in arguments.parts or _PARTS:
        print(f"{name} ...", flush=True)
        outcome = _PARTS[name](arguments)
        if isinstance(outcome, str):
            print(f"{name} was not measured: {outcome}\n", flush=True)
            is_complete = False
            continue
        print(f"{outcome.text()}\n", flush=True)
        figures[name] = {"isWithin": outcome.is_within, "load": os.getloadavg(), **outcome.figures}
    _write(figures)
    print(f"The figures are in {_FILE}")
    return 0 if is_complete else 1


def _cost(arguments: argparse.Namespace) -> Report | str:
    return dynamodb_local.available() or cost.measure(arguments.triggers)


def _start(arguments: argparse.Namespace) -> Report | str:
    return start.measure(Place(arguments.port))


def _lateness(arguments: argparse.Namespace) -> Report | str:
    # Checking the rights of roles takes a third of the local AWS's time. On AWS that costs Sweephand nothing.
    return lateness.measure(Place(arguments.port, enforces_roles=False), arguments.triggers)


def _console(arguments: argparse.Namespace) -> Report | str:
    return console.measure(Place(arguments.port, enforces_roles=False), arguments.jobs)


def _idle(arguments: argparse.Namespace) -> Report | str:
    return idle.measure(Place(arguments.port, enforces_roles=False), arguments.triggers)


def _flow(arguments: argparse.Namespace) -> Report | str:
    return flow.measure(Place(arguments.port, enforces_roles=False), arguments.events)


def _flow_units(arguments: argparse.Namespace) -> Report | str:
    return dynamodb_local.available() or flow_units.measure(min(arguments.events, flow_units.EVENTS))


def _deliveries(_: argparse.Namespace) -> Report | str:
    return deliveries.measure()


def _creation(_: argparse.Namespace) -> Report | str:
    return creation.measure()


def _sweeper(_: argparse.Namespace) -> Report | str:
    return sweeper.measure()


def _stored(arguments: argparse.Namespace) -> Report | str:
    return dynamodb_local.available() or stored.measure(arguments.stored)


def _slow(_: argparse.Namespace) -> Report | str:
    return slow.measure()


def _schedules(_: argparse.Namespace) -> Report | str:
    return schedules.measure()


def _fuzz(arguments: argparse.Namespace) -> Report | str:
    return fuzz.measure(arguments.inputs)


_PARTS: Final[Mapping[str, Callable[[argparse.Namespace], Report | str]]] = {
    "cost": _cost,
    "start": _start,
    "creation": _creation,
    "sweeper": _sweeper,
    "stored": _stored,
    "deliveries": _deliveries,
    "slow": _slow,
    "lateness": _lateness,
    "console": _console,
    "idle": _idle,
    "flow": _flow,
    "flow-units": _flow_units,
    "schedules": _schedules,
    "fuzz": _fuzz,
}


def _write(figures: Mapping[str, Any]) -> None:
    """Add the measured parts to those of earlier runs."""
    LOCAL.mkdir(exist_ok=True)
    try:
        earlier = json.loads(_FILE.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        earlier = {}
    _FILE.write_text(json.dumps(earlier | figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("stopped")
