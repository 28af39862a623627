"""The search for the seed that catches a mutation, and the cost of a masked mutation."""

import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean
from typing import Final

from tests.simulation.mutations import (
    adapters,
    arming,
    auditing,
    batching,
    bulk,
    bulk_writes,
    bundling,
    calendars,
    cancelling,
    catching_up,
    chaining,
    completing,
    counting,
    delivering,
    explaining,
    forgetting,
    keeping_up,
    lanes,
    leaving,
    limiting,
    notifying,
    on_demand,
    outliving,
    overlapping,
    packing,
    pausing,
    payloads,
    quotas,
    rebuilding,
    removing,
    repeating,
    retiming,
    sweeping,
    switching,
    valve,
    watching,
    windowing,
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
    "auditing",
    "batching",
    "bulk",
    "bulk_writes",
    "bundling",
    "calendars",
    "cancelling",
    "catch",
    "catching_up",
    "chaining",
    "completing",
    "cost",
    "counting",
    "delivering",
    "explaining",
    "forgetting",
    "keeping_up",
    "lanes",
    "leaving",
    "limiting",
    "notifying",
    "on_demand",
    "outliving",
    "overlapping",
    "packing",
    "pausing",
    "payloads",
    "quotas",
    "rebuilding",
    "removing",
    "repeating",
    "retiming",
    "sweeping",
    "switching",
    "valve",
    "watching",
    "windowing",
]

#: After this many seeds without a complaint, a mutation counts as not caught.
SEEDS_MAX: Final = 2_000

#: What `python -m tests.simulation.mutations --search` found, so that a test need not search.
KNOWN: Final = Path(__file__).with_name("caught.json")

#: The errors of a mutation that does not fit the code any more. A complaint about them proves nothing.
_OWN_ERROR: Final = re.compile(r" raised (AttributeError|KeyError|NameError|TypeError): ")


@dataclass(frozen=True, slots=True)
class Caught:
    """The seed that complains, and its first complaint."""

    seed: int
    complaint: str


@dataclass(frozen=True, slots=True)
class Cost:
    """Requests to consumers for each attempt, and the average lateness of first attempts in seconds."""

    requests: float
    late_s: float


def known() -> dict[str, Caught]:
    """Return the seed that caught each mutation in the last search, and its complaint."""
    return {name: Caught(**each) for name, each in json.loads(KNOWN.read_text("utf-8")).items()}


def keep(found: dict[str, Caught]) -> None:
    """Keep what was found, and what is known of the other mutations."""
    still = {name: asdict(each) for name, each in sorted((known() | found).items()) if name in MUTATIONS}
    KNOWN.write_text(json.dumps(still, indent=2, ensure_ascii=False) + "\n", "utf-8")


def run_with(mutation: Mutation, seed: int) -> Result:
    """Run one seed on production code that is broken so."""
    return run(seed, mutation=mutation.breaks, stores=mutation.stores)


def catch(mutation: Mutation, seeds: Iterable[int] = ()) -> Caught | None:
    """Return the first seed that complains of broken code and not of whole code, or None.

    Without `seeds` the search goes through all that it may take.
    """
    for seed in seeds or range(mutation.first, mutation.first + SEEDS_MAX):
        complaints = run_with(mutation, seed).complaints
        for complaint in filter(_OWN_ERROR.search, complaints):
            raise AssertionError(f"the mutation itself is broken: {complaint}")
        if complaints and not run(seed, stores=mutation.stores).complaints:
            return Caught(seed, complaints[0])
    return None


def cost(results: Iterable[Result]) -> Cost:
    """Return the cost of those seeds."""
    requests = [each for result in results for each in result.events if isinstance(each, Requested)]
    attempts = {(each.trigger_id, each.attempt) for each in requests}
    late = [each.at - each.due_at for each in requests if each.attempt == 1]
    return Cost(len(requests) / len(attempts), mean(late) / SECOND_MS)
