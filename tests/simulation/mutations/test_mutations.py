"""The simulator finds errors: each mutation turns a seed red."""

from itertools import chain

import pytest
from tests.simulation.mutations.search import MUTATIONS, SEEDS_MAX, catch, known

#: Seeds that a masked mutation must leave green. Thousands would take minutes.
GREEN = range(8)

CAUGHT = [
    name for name, each in MUTATIONS.items() if each.masked_by is None and known().get(name, 0) is not None
]
MASKED = [name for name, each in MUTATIONS.items() if each.masked_by is not None]


@pytest.mark.parametrize("name", CAUGHT)
def test_a_mutation_turns_a_seed_red(name: str) -> None:
    mutation = MUTATIONS[name]
    # First the seed that is known to catch it. If seeds have changed since, then all seeds that the search
    # may take.
    all_seeds = range(mutation.first, mutation.first + SEEDS_MAX)
    seeds = chain(filter(None, [known().get(name)]), all_seeds)
    assert catch(mutation, seeds) is not None, mutation.says


@pytest.mark.parametrize("name", MASKED)
def test_a_masked_mutation_is_harmless(name: str) -> None:
    mutation = MUTATIONS[name]
    caught = catch(mutation, GREEN)
    assert caught is None, f"{mutation.says}: {mutation.masked_by} does not mask it: {caught}"
