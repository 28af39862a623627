"""Every small world keeps its promises, and every way to break a gate shows.

The large worlds, which take minutes, run in `make verify`.
"""

import os
from typing import Final

import pytest
from tests.models.closing import Closing
from tests.models.explorer import TOO_MANY, explore
from tests.models.mutations import MUTATIONS, Mutation
from tests.models.other_mutations import CLOSING_MUTATIONS
from tests.models.worlds import LARGE, SMALL

WHOLE: Final = bool(os.environ.get("SWEEPHAND_WHOLE"))
SCENES: Final = SMALL | LARGE
CAUGHT: Final = [each for each in MUTATIONS if each.world in SMALL or (WHOLE and each.world)]
MASKED: Final = [each for each in MUTATIONS if each.masked_by]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", SCENES if WHOLE else SMALL)
def test_a_world_keeps_every_promise(name: str) -> None:
    scene = SCENES[name]
    verdict = explore(scene.model(scene.world))
    assert verdict.complaint is None, "\n".join(verdict.trace)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("mutation", CAUGHT, ids=lambda each: each.model.__name__)
def test_a_mutation_shows_in_its_world(mutation: Mutation) -> None:
    assert explore(mutation.model(SCENES[mutation.world].world)).complaint not in {None, TOO_MANY}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("mutation", MASKED, ids=lambda each: each.model.__name__)
def test_a_masked_mutation_shows_in_no_small_world_of_gates(mutation: Mutation) -> None:
    worlds = ("one gate", "two gates, stealing", "one trigger, crash")
    assert [name for name in worlds if explore(mutation.model(SMALL[name].world)).complaint] == []


def test_each_mutation_names_a_world_or_what_masks_it() -> None:
    assert [each.model for each in MUTATIONS if (each.world in SCENES) == bool(each.masked_by)] == []


def test_a_closed_policy_stays_until_nobody_is_left() -> None:
    verdict = explore(Closing())
    assert verdict.complaint is None, "\n".join(verdict.trace)


@pytest.mark.parametrize("broken", CLOSING_MUTATIONS)
def test_a_broken_end_of_a_policy_shows(broken: type[Closing]) -> None:
    assert explore(broken()).complaint is not None
