"""The rows of the table of mutations: the seed that catches one, or the cost of a masked one."""

from typing import Final

from tests.simulation.mutations.search import MUTATIONS, Caught, catch, cost, run_with
from tests.simulation.simulation import run

CAUGHT_HEAD: Final = "| mutation | first seed | its complaint |\n|---|---|---|"
MASKED_HEAD: Final = "| masked mutation | by what | what it costs instead |\n|---|---|---|"

#: On this number of seeds, from its first one on, a masked mutation is compared with whole code.
COMPARED: Final = 40

_COMPLAINT_LENGTH_MAX: Final = 160


def caught(name: str) -> tuple[str, Caught | None]:
    """Return a mutation, and the first seed that catches it."""
    return name, catch(MUTATIONS[name])


def caught_row(name: str, found: Caught | None) -> str:
    """Return the row of a mutation that has to be caught."""
    says = MUTATIONS[name].says
    if found is None:
        return f"| {says} | none | |"
    complaint = found.complaint.replace("|", "\\|")
    if len(complaint) > _COMPLAINT_LENGTH_MAX:
        complaint = complaint[:_COMPLAINT_LENGTH_MAX] + " …"
    return f"| {says} | {found.seed} | {complaint} |"


def masked_row(name: str) -> tuple[str, str]:
    """Return the name and the row of a mutation that another protection masks."""
    mutation = MUTATIONS[name]
    seeds = range(mutation.first, mutation.first + COMPARED)
    found = catch(mutation, seeds)
    whole = cost(run(seed, stores=mutation.stores) for seed in seeds)
    broken = cost(run_with(mutation, seed) for seed in seeds)
    costs = f"requests for each attempt {whole.requests:.3f} → {broken.requests:.3f}"
    costs += f", late {whole.late_s:.1f} s → {broken.late_s:.1f} s on average"
    costs += f", {COMPARED} seeds green" if found is None else f", but seed {found.seed} is red"
    return name, f"| {mutation.says} | {mutation.masked_by} | {costs} |"
