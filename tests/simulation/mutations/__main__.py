"""`python -m tests.simulation.mutations [NAME …]`: which seed catches each mutation, as a table in Markdown.

Every mutation is looked for from seed 0 on. What another protection masks is run on some seeds, and
beside it stands what it costs instead.
"""

import sys
from collections.abc import Sequence
from multiprocessing import get_context
from typing import Final

from tests.simulation.mutations.search import MUTATIONS, Caught, catch, cost, keep, run_with
from tests.simulation.simulation import run

#: Seeds by which a masked mutation is compared with production code as it is.
COMPARED: Final = range(60)

_COMPLAINT_LENGTH_MAX: Final = 160


def main(names: Sequence[str]) -> None:
    """Print the table, a row as soon as it is known, and keep the seeds."""
    chosen = list(names) or list(MUTATIONS)
    caught = [name for name in chosen if MUTATIONS[name].masked_by is None]
    masked = [name for name in chosen if MUTATIONS[name].masked_by is not None]
    with get_context("spawn").Pool(2) as pool:
        if caught:
            print("| mutation | first seed | its complaint |\n|---|---|---|", flush=True)
            found: dict[str, int] = {}
            for name, caught_by in zip(caught, pool.imap(_caught, caught), strict=True):
                print(_caught_row(name, caught_by), flush=True)
                if caught_by is not None:
                    found[name] = caught_by.seed
            keep(found)
        if masked:
            print("\n| masked mutation | by what | what it costs instead |\n|---|---|---|", flush=True)
            for row in pool.imap(_masked_row, masked):
                print(row, flush=True)


def _caught(name: str) -> Caught | None:
    return catch(MUTATIONS[name])


def _caught_row(name: str, found: Caught | None) -> str:
    says = MUTATIONS[name].says
    if found is None:
        return f"| {says} | none | |"
    complaint = found.complaint.replace("|", "\\|")
    if len(complaint) > _COMPLAINT_LENGTH_MAX:
        complaint = complaint[:_COMPLAINT_LENGTH_MAX] + " …"
    return f"| {says} | {found.seed} | {complaint} |"


def _masked_row(name: str) -> str:
    mutation = MUTATIONS[name]
    found = catch(mutation, COMPARED)
    whole = cost(run(seed, stores=mutation.stores) for seed in COMPARED)
    broken = cost(run_with(mutation, seed) for seed in COMPARED)
    told = f"requests for each attempt {whole.requests:.3f} → {broken.requests:.3f}"
    told += f", late {whole.late_s:.1f} s → {broken.late_s:.1f} s on average"
    told += f", {len(COMPARED)} seeds green" if found is None else f", but seed {found.seed} is red"
    return f"| {mutation.says} | {mutation.masked_by} | {told} |"


if __name__ == "__main__":
    main(sys.argv[1:])
