"""Which seed catches a mutation and what it complains of, or what a masked one costs instead."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import mean

from tests.simulation.mutations import adapters, arming, delivering, sweeping
from tests.simulation.mutations.registry import MUTATIONS, Mutation
from tests.simulation.simulation import Result, run
from tests.simulation.trace import Requested

from sweephand.instants import SECOND_MS

__all__ = ["MUTATIONS", "Caught", "Cost", "adapters", "arming", "catch", "cost", "delivering", "sweeping"]

#: A mutation that no seed below this catches is not caught.
SEEDS_MAX = 2_000


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


def run_with(mutation: Mutation, seed: int) -> Result:
    """One seed of production code that is broken so."""
    return run(seed, mutation=mutation.breaks, stores=mutation.stores)


def catch(mutation: Mutation, seeds: Iterable[int] = range(SEEDS_MAX)) -> Caught | None:
    """The first of those seeds that complains, and does not of code that is whole; None if none does."""
    for seed in seeds:
        complaints = run_with(mutation, seed).complaints
        if complaints and not run(seed, stores=mutation.stores).complaints:
            return Caught(seed, complaints[0])
    return None


def cost(results: Iterable[Result]) -> Cost:
    """What those seeds deliver."""
    requests = [each for result in results for each in result.events if isinstance(each, Requested)]
    attempts = {(each.trigger_id, each.attempt) for each in requests}
    late = [each.at - each.due_at for each in requests if each.attempt == 1]
    return Cost(len(requests) / len(attempts), mean(late) / SECOND_MS)
