"""Each way to break gates turns a seed red that is green without it, or fails a test."""

import pytest
from tests.simulation.flow.caught import CAUGHT, SHOWN, Seed
from tests.simulation.flow.many import world_of
from tests.simulation.flow.mutations import MUTATIONS


def test_every_mutation_has_a_seed_or_a_test() -> None:
    assert sorted([*CAUGHT, *SHOWN]) == sorted(MUTATIONS)


@pytest.mark.sampled(10)
@pytest.mark.parametrize("name", SHOWN)
def test_a_rare_mutation_fails_another_test(name: str) -> None:
    SHOWN[name].call()
    with MUTATIONS[name](), pytest.raises((AssertionError, ValueError, pytest.fail.Exception)):
        SHOWN[name].call()


@pytest.mark.sampled(10)
@pytest.mark.parametrize("name", CAUGHT)
def test_a_mutation_is_caught(name: str) -> None:
    with MUTATIONS[name]():
        assert world_of(*CAUGHT[name]).complaints


@pytest.mark.sampled(10)
@pytest.mark.parametrize("seed", sorted(set(CAUGHT.values())))
def test_the_seed_is_green_without_it(seed: Seed) -> None:
    assert not world_of(*seed).complaints
