"""The rows of the table of mutations: the seed that catches one, or what a masked one costs instead."""

from typing import Final

from tests.simulation.mutations.search import MUTATIONS, Caught, catch, cost, run_with
from tests.simulation.simulation import run

CAUGHT_HEAD: Final = "| mutation | first seed | its complaint |\n|---|---|---|"
MASKED_HEAD: Final = "| masked mutation | by what | what it costs instead |\n|---|---|---|"

#: Seeds by which a masked mutation is compared with production code as it is.
COMPARED: Final = range(40)

_COMPLAINT_LENGTH_MAX: Final = 160


def caught(name: str) -> tuple[str, Caught | None]:
    """A mutation, and the first seed that catches it."""
    return name, catch(MUTATIONS[name])


def caught_row(name: str, found: Caught | None) -> str:
    """What is said of it."""
    says = MUTATIONS[name].says
    if found is None:
        return f"| {says} | none | |"
    complaint = found.complaint.replace("|", "\\|")
    if len(complaint) > _COMPLAINT_LENGTH_MAX:
        complaint = complaint[:_COMPLAINT_LENGTH_MAX] + " …"
    return f"| {says} | {found.seed} | {complaint} |"


def masked_row(name: str) -> tuple[str, str]:
    """A mutation that does no harm, and what is said of it."""
    mutation = MUTATIONS[name]
    found = catch(mutation, COMPARED)
    whole = cost(run(seed, stores=mutation.stores) for seed in COMPARED)
    broken = cost(run_with(mutation, seed) for seed in COMPARED)
    told = f"requests for each attempt {whole.requests:.3f} → {broken.requests:.3f}"
    told += f", late {whole.late_s:.1f} s → {broken.late_s:.1f} s on average"
    told += f", {len(COMPARED)} seeds green" if found is None else f", but seed {found.seed} is red"
    return name, f"| {mutation.says} | {mutation.masked_by} | {told} |"
