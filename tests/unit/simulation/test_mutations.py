"""Every mutation of the simulator still fits the code that it breaks.

No world runs here. A mutation names functions and ports of production code. After a rename it would only be
found to be broken when its seed runs, which takes minutes.
"""

import inspect
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any
from unittest.mock import patch

import pytest
from tests.fakes.world import World
from tests.simulation.mutations.registry import Instead
from tests.simulation.mutations.search import MUTATIONS, known


def calls_of(function: Callable[..., object]) -> list[tuple[list[str], dict[str, None]]]:
    """The arguments of the shortest and of the longest call of a function, by position and by name."""
    named = list(inspect.signature(function).parameters.values())
    return [
        (
            [each.name for each in some if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)],
            {each.name: None for each in some if each.kind is each.KEYWORD_ONLY},
        )
        for some in ([each for each in named if each.default is each.empty], named)
    ]


def assert_called_alike(before: object, after: object, name: str) -> None:
    """Assert that a function in place of another takes the arguments of its shortest or its longest call."""
    if not (inspect.isfunction(before) and inspect.isfunction(after)):
        return
    for positional, by_name in calls_of(before):
        with suppress(TypeError):
            inspect.signature(after).bind(*positional, **by_name)
            return
    raise AssertionError(f"{name} is called in another way than its mutation")


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every `patch.object` of a mutation is checked: what it replaces is called in the same way."""
    whole = patch.object

    def checking(target: Any, name: str, *args: Any, **options: Any) -> Any:
        if args:
            assert_called_alike(inspect.getattr_static(target, name, None), args[0], name)
        return whole(target, name, *args, **options)

    monkeypatch.setattr(patch, "object", checking)


@pytest.mark.usefixtures("checked")
@pytest.mark.parametrize("name", MUTATIONS)
def test_a_mutation_patches_names_that_exist(name: str) -> None:
    with MUTATIONS[name].breaks():
        world = World()
        for compose in (world.api, world.wheel, world.upkeep, world.deliveries):
            compose()


def test_a_seed_is_kept_for_every_mutation_that_does_harm_and_for_no_other() -> None:
    assert known().keys() <= MUTATIONS.keys()
    searched = {name for name, each in MUTATIONS.items() if each.masked_by is None and each.shown_by is None}
    assert searched <= known().keys()


def test_a_port_has_no_other_method_than_before() -> None:
    with pytest.raises(AssertionError, match="sent"):
        Instead(World().queue, sent=lambda _: None)


@pytest.mark.parametrize(
    "after", [lambda: None, lambda _: None, lambda _, __, ___: None, lambda _, *, rest: rest]
)
def test_a_function_that_is_called_in_another_way_is_found(after: Callable[..., object]) -> None:
    def before(first: int, second: int = 0, *, third: int) -> Iterator[int]:
        yield first + second + third

    with pytest.raises(AssertionError, match="before is called in another way"):
        assert_called_alike(before, after, "before")
