"""Each way to break the worker of a line turns a seed red that is green without it."""

from typing import Final

import pytest
from tests.simulation.flow.mutations import MUTATIONS
from tests.simulation.flow.seeds import run

#: The seeds that `python -m tests.simulation.flow.mutations` found.
CAUGHT: Final = {
    "a holder shorter than its worker": 0,
    "a remainder that is not written back": 0,
    "a second receive without its delayed copy": 3,
    "a dropped message without the line being read again": 66,
    "open requests of a leaving worker that count for nothing": 0,
    "a wake mark that is never cleared": 5,
}


def test_every_mutation_has_a_seed() -> None:
    assert CAUGHT.keys() == MUTATIONS.keys()


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_mutation_is_caught(name: str) -> None:
    with MUTATIONS[name]():
        assert run(CAUGHT[name]).complaints


@pytest.mark.parametrize("seed", sorted(set(CAUGHT.values())))
def test_the_seed_is_green_without_it(seed: int) -> None:
    assert not run(seed).complaints
