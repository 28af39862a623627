"""The command: writes docs/cost.md and the prices on other pages. It takes template, prices, measured points.

python -m infra.bill                      # seconds
python -m infra.bill --check              # fails if the page is not what it would write
python -m infra.bill --measure counts handling fills batches
"""

import argparse
import os
import sys
from datetime import UTC, datetime
from typing import Any, Final

from infra import dynamodb_local
from infra.bill import batches, counting, fill, handling, measured, page, quotes, tables
from infra.bill.template import template
from infra.bill.triggers import Bill
from infra.local.places import Place

#: Not the port of `make up`, so that both can run.
_PORT: Final = 4790

_PARTS: Final = ("counts", "handling", "fills", "batches")


def main(arguments: list[str] | None = None) -> int:
    """The exit code: 1 if the page is not up to date and was only checked, or a part cannot be measured."""
    parser = argparse.ArgumentParser(prog="python -m infra.bill", description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing, and fail if the page would change"
    )
    parser.add_argument(
        "--measure",
        nargs="*",
        metavar="part",
        help=f"measure again first: {', '.join(_PARTS)}; all unless named. `fills` takes 17 minutes",
    )
    asked = parser.parse_args(arguments)
    if asked.measure is not None:
        unknown = set(asked.measure) - set(_PARTS)
        if unknown:
            parser.error(f"there is no part {', '.join(sorted(unknown))}")
        for part in asked.measure or _PARTS:
            if (why := _measure(part)) is not None:
                print(f"{part} was not measured: {why}", file=sys.stderr)
                return 1
    bill = Bill(measured.load(), template())
    wanted = {page.PAGE: page.text(bill)} | {path: text for path, _, text in quotes.outdated(bill)}
    outdated = {path: text for path, text in wanted.items() if path.read_text(encoding="utf-8") != text}
    if asked.check:
        for path in outdated:
            print(f"{path.name} is not what the template, the prices and the points give: run make bill")
        return 1 if outdated else 0
    for path, text in outdated.items():
        path.write_text(text, encoding="utf-8")
    print(tables.by_rate(bill), tables.aims(bill), tables.idle_table(bill), sep="\n\n")
    print(f"\nThe page is in {page.PAGE}")
    return 0


def _measure(part: str) -> str | None:
    """Measure one part and keep its points. Returns why it cannot be measured."""
    print(f"{part} ...", flush=True)
    found: dict[str, Any]
    match part:
        case "counts":
            if (why := dynamodb_local.available()) is not None:
                return why
            counts, idle = counting.count()
            found = {"counts": counts, "idle": idle}
        case "batches":
            if (why := dynamodb_local.available()) is not None:
                return why
            found = {"batches": batches.measure()}
        case "handling":
            found = {"handling": handling.measure()}
        case _:
            try:
                found = {"fills": fill.measure(Place(_PORT, enforces_roles=False))}
            except fill.TooSlowError as error:
                return str(error)
    measured.update(found, f"{datetime.now(UTC).date()} at load {os.getloadavg()[1]:.0f}")
    return None


if __name__ == "__main__":
    sys.exit(main())
