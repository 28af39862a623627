"""Which seed catches a mutation and what it complains of, or what a masked one costs instead."""

from collections.abc import Iterable, Sequence
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
    """What leaves for consumers: requests for each trigger, and seconds by which first attempts are late."""

    requests: float
    late_s: float


def run_with(mutation: Mutation | None, seed: int) -> Result:
    """One seed, of production code that is broken so, or whole."""
    if mutation is None:
        return run(seed)
    return run(seed, mutation=mutation.breaks, stores=mutation.stores)


def catch(mutation: Mutation, seeds: Iterable[int] = range(SEEDS_MAX)) -> Caught | None:
    """The first of those seeds that complains; None if none does."""
    for seed in seeds:
        complaints = run_with(mutation, seed).complaints
        if complaints:
            return Caught(seed, complaints[0])
    return None


def cost(mutation: Mutation | None, seeds: Sequence[int]) -> Cost:
    """What those seeds deliver."""
    requests: list[Requested] = []
    triggers = 0
    for seed in seeds:
        sent = [each for each in run_with(mutation, seed).events if isinstance(each, Requested)]
        triggers += len({(each.trigger_id, each.attempt) for each in sent})
        requests += sent
    late = [each.at - each.due_at for each in requests if each.attempt == 1]
    return Cost(len(requests) / triggers, mean(late) / SECOND_MS)
