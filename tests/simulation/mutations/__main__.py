"""`python -m tests.simulation.mutations`: print what catches each mutation of both simulators, as tables.

`--search [NAME …]` searches again, for those mutations or for all. The search begins at the first seed of a
mutation, and keeps the seed that it finds for the tests. A mutation that another protection masks runs on
some seeds, and the table shows what it costs instead. A mutation that a unit test shows is left out.
"""

import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from multiprocessing import get_context

from tests.simulation.mutations.search import MUTATIONS, keep
from tests.simulation.mutations.table import (
    CAUGHT_HEAD,
    MASKED_HEAD,
    caught,
    caught_row,
    known_tables,
    masked_row,
)

_PROCESSES = 2


def main(arguments: Sequence[str] | None = None) -> None:
    """Print what is known, or search."""
    parser = ArgumentParser(prog="python -m tests.simulation.mutations", description=__doc__)
    parser.add_argument("--search", nargs="*", metavar="NAME", help="search again, for these or for all")
    asked = parser.parse_args(arguments)
    if asked.search is None:
        print(known_tables())
    else:
        search(asked.search)


def search(names: Sequence[str]) -> None:
    """Print the table at the end. Print each row on standard error when it is found."""
    chosen = list(names) or list(MUTATIONS)
    harmful = [
        name for name in chosen if MUTATIONS[name].masked_by is None and MUTATIONS[name].shown_by is None
    ]
    masked = [name for name in chosen if MUTATIONS[name].masked_by is not None]
    rows: dict[str, str] = {}
    with get_context("spawn").Pool(_PROCESSES) as pool:
        for name, found in pool.imap_unordered(caught, harmful):
            rows[name] = caught_row(name, found)
            print(rows[name], file=sys.stderr, flush=True)
            if found is not None:
                keep({name: found})
        for name, row in pool.imap_unordered(masked_row, masked):
            rows[name] = row
            print(row, file=sys.stderr, flush=True)
    if harmful:
        print(CAUGHT_HEAD, *(rows[name] for name in harmful), sep="\n")
    if masked:
        print("", MASKED_HEAD, *(rows[name] for name in masked), sep="\n")


if __name__ == "__main__":
    main()
