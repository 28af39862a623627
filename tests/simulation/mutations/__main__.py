"""`python -m tests.simulation.mutations [NAME …]`: which seed catches each mutation, as a table in Markdown.

Every mutation is looked for from seed 0 on, and what was found is kept for the tests. What another
protection masks is run on some seeds, and beside it stands what it costs instead.
"""

import sys
from collections.abc import Sequence
from multiprocessing import get_context

from tests.simulation.mutations.search import MUTATIONS, keep
from tests.simulation.mutations.table import CAUGHT_HEAD, MASKED_HEAD, caught, caught_row, masked_row

_PROCESSES = 2


def main(names: Sequence[str]) -> None:
    """Print the table in the end, and meanwhile on standard error what is found."""
    chosen = list(names) or list(MUTATIONS)
    harmful = [name for name in chosen if MUTATIONS[name].masked_by is None]
    masked = [name for name in chosen if MUTATIONS[name].masked_by is not None]
    rows: dict[str, str] = {}
    with get_context("spawn").Pool(_PROCESSES) as pool:
        for name, found in pool.imap_unordered(caught, harmful):
            rows[name] = caught_row(name, found)
            print(rows[name], file=sys.stderr, flush=True)
            if found is not None:
                keep({name: found.seed})
        for name, row in pool.imap_unordered(masked_row, masked):
            rows[name] = row
            print(row, file=sys.stderr, flush=True)
    if harmful:
        print(CAUGHT_HEAD, *(rows[name] for name in harmful), sep="\n")
    if masked:
        print("", MASKED_HEAD, *(rows[name] for name in masked), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
