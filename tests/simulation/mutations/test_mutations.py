"""Each mutation turns a seed red, or fails a unit test if it shows in too few seeds."""

from itertools import chain

import pytest
from tests.simulation.mutations.search import MUTATIONS, SEEDS_MAX, catch, known
from tests.simulation.mutations.under import exit_code

#: This number of seeds, from its first one on, must be green with a masked mutation. Thousands would take
#: minutes.
GREEN = 8

#: `make verify` runs all of them.
pytestmark = pytest.mark.sampled(20)

CAUGHT = [name for name, each in MUTATIONS.items() if each.masked_by is None and each.shown_by is None]
SHOWN = [name for name, each in MUTATIONS.items() if each.shown_by is not None]
MASKED = [name for name, each in MUTATIONS.items() if each.masked_by is not None]


@pytest.mark.parametrize("name", CAUGHT)
def test_a_mutation_turns_a_seed_red(name: str) -> None:
    mutation = MUTATIONS[name]
    # First the seed that is known to catch it. If seeds have changed since, then all seeds that the search
    # may take.
    all_seeds = range(mutation.first, mutation.first + SEEDS_MAX)
    seeds = chain((each.seed for each in [known().get(name)] if each), all_seeds)
    assert catch(mutation, seeds) is not None, mutation.says


@pytest.mark.parametrize("name", SHOWN)
def test_a_rare_mutation_fails_a_unit_test(name: str) -> None:
    mutation = MUTATIONS[name]
    assert mutation.shown_by is not None
    assert exit_code(name, mutation.shown_by) is pytest.ExitCode.TESTS_FAILED, mutation.says


@pytest.mark.parametrize("name", MASKED)
def test_a_masked_mutation_is_harmless(name: str) -> None:
    mutation = MUTATIONS[name]
    caught = catch(mutation, range(mutation.first, mutation.first + GREEN))
    assert caught is None, f"{mutation.says}: {mutation.masked_by} does not mask it: {caught}"
