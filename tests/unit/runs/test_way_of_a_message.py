"""One received message enters few modules and few functions of the package: so its way can be read."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, Final, NamedTuple

import pytest
from tests.fakes.world import NOON, World

import sweephand

_PACKAGE: Final = next(iter(sweephand.__path__))


class Way(NamedTuple):
    """How many modules a message enters, and how many functions. Each comprehension counts as a function."""

    modules: int
    functions: int


#: The ways of two triggers: a plain one, and one whose runs take turns and are recorded in full. The first
#: way goes through `runs`, where deliveries are decided. The second goes through the whole package. Since
#: windows can hold a trigger, its age leaves out that time: one function. Tries at a line end in time: one.
_CEILINGS: Final[list[tuple[dict[str, Any], Way, Way]]] = [
    ({}, Way(13, 59), Way(27, 110)),
    ({"overlap": {"mode": "wait"}, "history": "full"}, Way(15, 70), Way(30, 132)),
]


def entered(act: Callable[[], object]) -> set[tuple[str, str]]:
    """The functions of the package that are entered meanwhile, each with the file of its module."""
    found: set[tuple[str, str]] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(_PACKAGE):
            found.add((code.co_filename.removeprefix(_PACKAGE), code.co_qualname))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(before)
    return found


def way_of(functions: set[tuple[str, str]], room: str) -> Way:
    """The way through one room of the package, or through all of them."""
    inside = [(file, name) for file, name in functions if file.startswith(room)]
    return Way(len({file for file, _ in inside}), len(inside))


def functions_of(written: dict[str, Any]) -> set[tuple[str, str]]:
    """Those that the one trigger of a job enters when it is received."""
    world = World()
    world.put(dueTime="10s", **written)
    world.clock.time = NOON + 10_000
    intake, batch = world.intake(), world.queue.take()
    functions = entered(lambda: intake.handle(batch, deadline=NOON + 100_000))
    assert len(world.consumers.attempts) == 1
    return functions


@pytest.mark.parametrize(("written", "runs_max", "package_max"), _CEILINGS)
def test_a_received_trigger_enters_few_modules_and_functions(
    written: dict[str, Any], runs_max: Way, package_max: Way
) -> None:
    # The first one fills what a process keeps, such as the sources of a run.
    functions_of(written)
    functions = functions_of(written)
    for room, most in (("/runs/", runs_max), ("/", package_max)):
        way = way_of(functions, room)
        assert way.modules <= most.modules, room
        assert way.functions <= most.functions, room
