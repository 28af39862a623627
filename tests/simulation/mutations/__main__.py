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
    """Print the table, a row as soon as it is known."""
    chosen = list(names) or list(MUTATIONS)
    harmful = [name for name in chosen if MUTATIONS[name].masked_by is None]
    masked = [name for name in chosen if MUTATIONS[name].masked_by is not None]
    with get_context("spawn").Pool(_PROCESSES) as pool:
        if harmful:
            print(CAUGHT_HEAD, flush=True)
        for name, found in zip(harmful, pool.imap(caught, harmful), strict=True):
            print(caught_row(name, found), flush=True)
            if found is not None:
                keep({name: found.seed})
        if masked:
            print(f"\n{MASKED_HEAD}", flush=True)
        for row in pool.imap(masked_row, masked):
            print(row, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
