"""Each way to break the worker of a line turns a seed red that is green without it, or fails a test."""

import re
from pathlib import Path
from typing import Final

import pytest
from tests.simulation.flow.caught import CAUGHT, MASKED, SHOWN
from tests.simulation.flow.mutations import MUTATIONS
from tests.simulation.flow.seeds import run

PAGE: Final = (Path(__file__).parents[3] / "docs" / "reliability.md").read_text("utf-8")
HEAD: Final = "| mutation of a line's worker | what catches it |\n|---|---|\n"


def test_every_mutation_has_a_seed_or_a_test_or_is_masked() -> None:
    assert sorted([*CAUGHT, *SHOWN, *MASKED]) == sorted(MUTATIONS)


def test_the_table_of_reliability_names_what_catches_each_mutation() -> None:
    _, found, rest = PAGE.partition(HEAD)
    assert found, "the page has no such table"
    rows = re.findall(r"^\| (.+?) \| (.+) \|$", rest.partition("\n\n")[0], re.MULTILINE)
    assert dict(rows) == (
        {name: f"seed {seed}" for name, seed in CAUGHT.items()}
        | {name: f"`{shown.test.__name__}` fails" for name, shown in SHOWN.items()}
        | {name: f"nothing: {masked_by}" for name, masked_by in MASKED.items()}
    )
    assert len(rows) == len(MUTATIONS), "a mutation has two rows"


@pytest.mark.parametrize("name", SHOWN)
def test_a_rare_mutation_fails_another_test(name: str) -> None:
    SHOWN[name].call()
    with MUTATIONS[name](), pytest.raises((AssertionError, ValueError)):
        SHOWN[name].call()


@pytest.mark.parametrize("name", CAUGHT)
def test_a_mutation_is_caught(name: str) -> None:
    with MUTATIONS[name]():
        assert run(CAUGHT[name]).complaints


@pytest.mark.parametrize("name", MASKED)
def test_a_masked_mutation_does_no_harm(name: str) -> None:
    with MUTATIONS[name]():
        assert not run(0).complaints


@pytest.mark.parametrize("seed", sorted(set(CAUGHT.values())))
def test_the_seed_is_green_without_it(seed: int) -> None:
    assert not run(seed).complaints
