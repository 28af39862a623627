"""The command: writes the tables and plots of docs/capacity.md, and measures the points behind them."""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from infra.bench import deliveries, sweeper
from infra.bill.template import template
from infra.capacity import local, measured
from infra.capacity.blocks import BLOCKS, Given
from infra.capacity.measured import FunctionPoint, SweeperPoint
from infra.capacity.page import PAGE, renewed
from infra.local.places import Place

#: Not a port of `make up` or `make bench`, so that all can run.
_PORT: Final = 4770


def main() -> int:
    """The exit code: 1 if `--check` finds that the page is not what the model gives."""
    parser = argparse.ArgumentParser(prog="python -m infra.capacity", description=__doc__)
    parser.add_argument(
        "--measure", nargs="*", metavar="part", help=f"measure first: {', '.join(_PARTS)}, or all"
    )
    parser.add_argument("--check", action="store_true", help="write nothing, and fail if the page differs")
    arguments = parser.parse_args()
    parts = [] if arguments.measure is None else arguments.measure or list(_PARTS)
    if unknown := set(parts) - set(_PARTS):
        parser.error(f"there is no part {', '.join(sorted(unknown))}")
    for part in parts:
        points = _PARTS[part]()
        measured.update(part, points, datetime.now(UTC).date().isoformat())
        print(*points, sep="\n", flush=True)
    page = PAGE.read_text(encoding="utf-8")
    made = current(page)
    if arguments.check:
        return int(page != made)
    PAGE.write_text(made, encoding="utf-8")
    print(f"{PAGE.name} is {'as it was' if page == made else 'written'}")
    return 0


def current(page: str) -> str:
    """The page with the blocks that the template and the measured points give now."""
    given = Given(measured.load(), template())
    return renewed(page, {name: partial(block, given) for name, block in BLOCKS.items()})


def _sweeper() -> Sequence[SweeperPoint]:
    report = sweeper.measure()
    print(report.text())
    return [
        SweeperPoint(each["work"], each["latencyMs"], round(each["perS"]), round(1_000_000 / each["perCpuS"]))
        for each in report.figures["works"]
    ]


def _function() -> Sequence[FunctionPoint]:
    report = deliveries.measure()
    print(report.text())
    return [
        FunctionPoint(each["history"], each["tls"], each["cpuUs"])
        for each in report.figures["races"]
        if each["boto3"]
    ]


_PARTS: Final[Mapping[str, Callable[[], Sequence[Any]]]] = {
    "sweeper": _sweeper,
    "function": _function,
    # Checking the rights of roles takes a third of the local AWS's time. On AWS that costs Sweephand nothing.
    "local": lambda: local.measure(Place(_PORT, enforces_roles=False)),
}


if __name__ == "__main__":
    sys.exit(main())
