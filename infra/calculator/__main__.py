"""The command: writes docs/cost.md, docs/capacity.md and the prices on other pages, and measures points.

python -m infra.calculator                        # takes seconds
python -m infra.calculator --check                # fails if a page is not up to date
python -m infra.calculator --measure counts local # all parts, unless some are named, take an hour
"""

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from infra import dynamodb_local
from infra.calculator import counting, handling, local_stack, measured, pages
from infra.calculator.bill import Bill
from infra.calculator.template import template
from infra.local.places import Place

#: Not the port of `make up`, so that both can run. Checking the rights of roles takes a third of the local
#: AWS's time, and costs nothing on AWS.
_PLACE: Final = Place(4790, enforces_roles=False)

#: The parts that can be measured, each with a function that returns its points by their names in the file.
_PARTS: Final[Mapping[str, Callable[[], Mapping[str, Any]]]] = {
    "counts": counting.counts,
    "batches": counting.batches,
    "handling": lambda: {"handling": handling.measure()},
    "function": lambda: {"function": handling.function()},
    "sweeper": lambda: {"sweeper": handling.sweeper()},
    "local": lambda: {"local": local_stack.measure(_PLACE)},
}

#: These run on DynamoDB Local.
_COUNTED: Final = ("counts", "batches")


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code: 1 if a page is not up to date and was only checked, or a part cannot be measured."""
    parser = argparse.ArgumentParser(prog="python -m infra.calculator", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, and fail if a page would change")
    parser.add_argument(
        "--measure", nargs="*", metavar="part", help=f"measure first: {', '.join(_PARTS)}, or all"
    )
    asked = parser.parse_args(arguments)
    parts = [] if asked.measure is None else asked.measure or list(_PARTS)
    if unknown := set(parts) - set(_PARTS):
        parser.error(f"there is no part {', '.join(sorted(unknown))}")
    for part in parts:
        if (why := _measure(part)) is not None:
            print(f"{part} was not measured: {why}", file=sys.stderr)
            return 1
    wanted = pages.wanted(Bill(measured.load(), template()))
    outdated = {path: text for path, text in wanted.items() if path.read_text(encoding="utf-8") != text}
    for path, text in outdated.items():
        if asked.check:
            print(f"{path.name} is not what the template, the prices and the points give: run make bill")
        else:
            path.write_text(text, encoding="utf-8")
            print(f"{path.name} is written")
    return int(asked.check and bool(outdated))


def _measure(part: str) -> str | None:
    """Measure one part and keep its points. Returns why it cannot be measured."""
    print(f"{part} ...", flush=True)
    if part in _COUNTED and (why := dynamodb_local.available()) is not None:
        return why
    try:
        found = _PARTS[part]()
    except local_stack.TooSlowError as error:
        return str(error)
    measured.update(found, f"{datetime.now(UTC).date()} at load {os.getloadavg()[1]:.0f}")
    return None


if __name__ == "__main__":
    sys.exit(main())
