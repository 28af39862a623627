"""The command: measures, and prints a table for each part: `python -m infra.bench [part …]`."""

import argparse
import sys
from collections.abc import Callable, Mapping
from typing import Final

from infra import dynamodb_local
from infra.bench import (
    console,
    cost,
    creation,
    deliveries,
    dev,
    flow,
    flow_units,
    fuzz,
    lateness,
    scale,
    simulated,
    start,
    stored,
    sweeper,
)
from infra.bench.report import Report
from infra.local import processes
from infra.local.places import Place, free_port

#: How many random schedules the part `fuzz` tries.
_INPUTS: Final = 100_000

_PARTS: Final[Mapping[str, Callable[[argparse.Namespace], Report]]] = {
    "cost": lambda arguments: cost.measure(arguments.triggers),
    "start": lambda _: start.measure(),
    "creation": lambda _: creation.measure(),
    "sweeper": lambda _: sweeper.measure(),
    "stored": lambda arguments: stored.measure(arguments.stored, arguments.due),
    "scale": lambda _: scale.measure(),
    "deliveries": lambda _: deliveries.measure(),
    "lateness": lambda arguments: lateness.measure(_place(), arguments.triggers),
    "idle": lambda arguments: lateness.measure_idle(_place(), arguments.triggers),
    "flow": lambda arguments: flow.measure(_place(), arguments.events),
    "flow-units": lambda arguments: flow_units.measure(min(arguments.events, flow_units.EVENTS)),
    "dev": lambda _: dev.measure(),
    "console": lambda _: console.measure(),
    "simulated": lambda _: simulated.measure(),
    "fuzz": lambda _: fuzz.measure(_INPUTS),
}


def main() -> int:
    """The exit code: 0 if everything could be measured, whatever the figures are."""
    arguments = _arguments()
    processes.end_on_signals()
    is_complete = True
    for name in arguments.parts or _PARTS:
        print(f"{name} ...", flush=True)
        try:
            print(f"{_PARTS[name](arguments).text()}\n", flush=True)
        except dynamodb_local.AbsentError as why:
            print(f"{name} was not measured: {why}\n", flush=True)
            is_complete = False
    return 0 if is_complete else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m infra.bench",
        description=__doc__,
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("parts", nargs="*", metavar="part", help=f"of {', '.join(_PARTS)}; all unless named")
    parser.add_argument("--triggers", type=int, default=10_000, help="fewer for a trial run")
    parser.add_argument("--stored", type=int, nargs="+", default=stored.SIZES, help="timers of `stored`")
    parser.add_argument("--due", type=int, default=stored.DUE, help="timers of `stored` due in a minute")
    parser.add_argument("--events", type=int, default=flow.EVENTS, help="of `flow`; fewer for a trial run")
    arguments = parser.parse_args()
    if unknown := set(arguments.parts) - set(_PARTS):
        parser.error(f"there is no part {', '.join(sorted(unknown))}")
    return arguments


def _place() -> Place:
    # Checking the rights of roles takes a third of the local AWS's time. On AWS that costs Sweephand nothing.
    return Place(free_port(), enforces_roles=False)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("stopped")
