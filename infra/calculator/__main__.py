"""The command: writes docs/cost.md, docs/capacity.md and the prices on other pages, and measures points.

    python -m infra.calculator                        # takes seconds
    python -m infra.calculator --measure counts       # all parts, unless some are named

A measurement of all parts takes half an hour.
"""

import argparse
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from infra.bench import flow_units
from infra.calculator import measuring, pages

from sweephand_engine.costs import measured
from sweephand_engine.costs.bill import Bill
from sweephand_engine.costs.template import template

#: The parts that can be measured, each with a function that returns its points by their names in the file.
_PARTS: Final[Mapping[str, Callable[[], Mapping[str, Any]]]] = {
    "counts": measuring.counts,
    "batches": lambda: {"batches": flow_units.count(flow_units.EVENTS)},
    "handling": lambda: {"handling": measuring.handling()},
    "function": lambda: {"function_cpu_us": measuring.function_cpu_us()},
    "sweeper": lambda: {"sweeper": measuring.sweeper()},
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the parts that are asked for, and write each page that is not up to date."""
    parser = argparse.ArgumentParser(prog="python -m infra.calculator", description=__doc__)
    parser.add_argument("--measure", nargs="*", choices=_PARTS, help="measure these first, or all")
    asked = parser.parse_args(arguments)
    for part in () if asked.measure is None else asked.measure or _PARTS:
        print(f"{part} ...", flush=True)
        measured.update(_PARTS[part](), f"{datetime.now(UTC).date()} at load {os.getloadavg()[1]:.0f}")
    for path, text in pages.wanted(Bill(measured.load(), template())).items():
        if path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"{path.name} is written")


if __name__ == "__main__":
    main()
