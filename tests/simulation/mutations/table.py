"""The tables of mutations: the seed or the test that catches each, or what masks it."""

from typing import Final

from tests.simulation.flow.caught import CAUGHT, SHOWN
from tests.simulation.mutations.search import MUTATIONS, Caught, catch, cost, known, run_with
from tests.simulation.simulation import run

CAUGHT_HEAD: Final = "| mutation | what catches it | its complaint |\n|---|---|---|"
MASKED_HEAD: Final = "| masked mutation | by what | what it costs instead |\n|---|---|---|"
_KNOWN_MASKED_HEAD: Final = "| masked mutation | by what |\n|---|---|"
_GATES_HEAD: Final = "| mutation of gates | what catches it |\n|---|---|"

#: On this number of seeds, from its first one on, a masked mutation is compared with whole code.
COMPARED: Final = 40

_COMPLAINT_LENGTH_MAX: Final = 160


def known_tables() -> str:
    """Return a row for each mutation of both simulators, by the last search."""
    found = known()
    caught, masked = [CAUGHT_HEAD], [_KNOWN_MASKED_HEAD]
    for name, each in MUTATIONS.items():
        if each.masked_by is not None:
            masked.append(f"| {each.says} | {each.masked_by} |")
        elif each.shown_by is not None:
            caught.append(f"| {each.says} | `{each.shown_by}` | |")
        else:
            caught.append(caught_row(name, found[name]))
    gates = [_GATES_HEAD, *(f"| {name} | {seed.kind} seed {seed.number} |" for name, seed in CAUGHT.items())]
    gates += [f"| {name} | `{shown.test.__name__}` |" for name, shown in SHOWN.items()]
    return "\n".join([*caught, "", *masked, "", *gates])


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
    return f"| {says} | seed {found.seed} | {complaint} |"


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
