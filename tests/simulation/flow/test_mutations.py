"""Each way to break the worker of a line turns a seed red that is green without it."""

from typing import Final

import pytest
from tests.simulation.flow.mutations import MUTATIONS
from tests.simulation.flow.seeds import run
from tests.unit.runs.flow import test_dropped_work, test_line_worker

#: The seeds that `python -m tests.simulation.flow.mutations` found.
CAUGHT: Final = {
    "a holder shorter than its worker": 0,
    "a remainder that is not written back": 0,
    "a second receive without its delayed copy": 4,
    "open requests of a leaving worker that count for nothing": 0,
    "a wake mark that is never cleared": 12,
}


#: Those that show in too few seeds, and the unit test that fails.
SHOWN: Final = {
    "a dropped message without the line being read again": (
        test_line_worker.test_the_last_worker_leaves_a_message_for_what_it_did_not_see
    ),
    "a message that is dropped before its time and does not come again": (
        test_dropped_work.test_a_message_that_is_dropped_before_its_time_by_another_clock_comes_again
    ),
}


def test_every_mutation_has_a_seed_or_a_unit_test() -> None:
    assert sorted([*CAUGHT, *SHOWN]) == sorted(MUTATIONS)


@pytest.mark.parametrize("name", SHOWN)
def test_a_rare_mutation_fails_a_unit_test(name: str) -> None:
    SHOWN[name]()
    with MUTATIONS[name](), pytest.raises((AssertionError, ValueError)):
        SHOWN[name]()


@pytest.mark.parametrize("name", CAUGHT)
def test_a_mutation_is_caught(name: str) -> None:
    with MUTATIONS[name]():
        assert run(CAUGHT[name]).complaints


@pytest.mark.parametrize("seed", sorted(set(CAUGHT.values())))
def test_the_seed_is_green_without_it(seed: int) -> None:
    assert not run(seed).complaints
