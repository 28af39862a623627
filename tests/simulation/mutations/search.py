"""Which seed catches a mutation and what it complains of, or what a masked one costs instead."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Final

from tests.simulation.mutations import (
    adapters,
    arming,
    bulk,
    cancelling,
    catching_up,
    chaining,
    completing,
    delivering,
    forgetting,
    keeping_up,
    leaving,
    on_demand,
    outliving,
    overlapping,
    pausing,
    payloads,
    removing,
    repeating,
    retiming,
    sweeping,
)
from tests.simulation.mutations.registry import MUTATIONS, Mutation
from tests.simulation.simulation import Result, run
from tests.simulation.traces.trace import Requested

from sweephand.base.instants import SECOND_MS

__all__ = [
    "MUTATIONS",
    "Caught",
    "Cost",
    "adapters",
    "arming",
    "bulk",
    "cancelling",
    "catch",
    "catching_up",
    "chaining",
    "completing",
    "cost",
    "delivering",
    "forgetting",
    "keeping_up",
    "leaving",
    "on_demand",
    "outliving",
    "overlapping",
    "pausing",
    "payloads",
    "removing",
    "repeating",
    "retiming",
    "sweeping",
]

#: A mutation that none of so many seeds catches is not caught.
SEEDS_MAX: Final = 2_000

#: The seeds that `python -m tests.simulation.mutations` found, so that a test need not look for them.
KNOWN: Final = Path(__file__).with_name("caught.json")

#: What a mutation causes that no longer fits the code that it breaks: it would be caught for nothing.
_OWN_ERROR: Final = re.compile(r" raised (AttributeError|KeyError|NameError|TypeError): ")


@dataclass(frozen=True, slots=True)
class Caught:
    """The seed that turned red, and its first complaint."""

    seed: int
    complaint: str


@dataclass(frozen=True, slots=True)
class Cost:
    """What leaves for consumers: requests for each attempt, and seconds by which first attempts are late."""

    requests: float
    late_s: float


def known() -> dict[str, int]:
    """The seed that caught each mutation when it was last looked for."""
    found: dict[str, int] = json.loads(KNOWN.read_text()) if KNOWN.exists() else {}
    return found


def keep(found: dict[str, int]) -> None:
    """Remember those seeds, and of the other mutations what is known."""
    still = {name: seed for name, seed in (known() | found).items() if name in MUTATIONS}
    KNOWN.write_text(json.dumps(still, indent=2, sort_keys=True) + "\n")


def run_with(mutation: Mutation, seed: int) -> Result:
    """One seed of production code that is broken so."""
    return run(seed, mutation=mutation.breaks, stores=mutation.stores)


def catch(mutation: Mutation, seeds: Iterable[int] = ()) -> Caught | None:
    """The first of those seeds that complains, and does not of code that is whole; None if none does.

    Without `seeds` all are looked through that it may take.
    """
    for seed in seeds or range(mutation.first, mutation.first + SEEDS_MAX):
        complaints = run_with(mutation, seed).complaints
        for complaint in filter(_OWN_ERROR.search, complaints):
            raise AssertionError(f"the mutation itself is broken: {complaint}")
        if complaints and not run(seed, stores=mutation.stores).complaints:
            return Caught(seed, complaints[0])
    return None


def cost(results: Iterable[Result]) -> Cost:
    """What those seeds deliver."""
    requests = [each for result in results for each in result.events if isinstance(each, Requested)]
    attempts = {(each.trigger_id, each.attempt) for each in requests}
    late = [each.at - each.due_at for each in requests if each.attempt == 1]
    return Cost(len(requests) / len(attempts), mean(late) / SECOND_MS)
