"""The faults of a world: a process that ends at a call, and a store that fails at a call."""

from collections.abc import Callable
from itertools import count

import pytest
from tests.fakes.world import World, quiet

from sweephand.base.errors import StoreError


class Killed(BaseException):
    """The process ended here. It is not an Exception, so that no handler of errors catches it."""


def calls_of(world: World, action: Callable[[], object]) -> list[str]:
    """The announcements of an action. A test can kill it at each of them."""
    calls: list[str] = []
    world.announce = calls.append
    action()
    world.announce = quiet
    return calls


def killed_at(world: World, number: int, action: Callable[[], object]) -> None:
    """Run an action and kill it at an announcement.

    `number` counts announcements from 0. The world lives on.
    """
    numbers = count()

    def announce(call: str) -> None:
        if next(numbers) == number:
            raise Killed(call)

    world.announce = announce
    with pytest.raises(Killed):
        action()
    world.announce = quiet


def kill_everywhere(
    prepare: Callable[[World], None], action: Callable[[World], object], check: Callable[[World], None]
) -> None:
    """Kill an action at each of its announcements, each in a fresh world, and check that world."""
    trial = World()
    prepare(trial)
    calls = calls_of(trial, lambda: action(trial))
    assert calls, "the action calls no port"
    for number in range(len(calls)):
        world = World()
        prepare(world)
        killed_at(world, number, lambda: action(world))  # noqa: B023 - called within this turn
        try:
            check(world)
        except AssertionError as error:
            raise AssertionError(f"killed {calls[number]} (call {number} of {len(calls)})") from error


def failing(world: World, call: str, *, times: int | None = None, after: bool = False) -> None:
    """Let the call of a port (`jobs.get`) raise StoreError from now on, always or so many `times`.

    With `after`, the call is made first and then raises, as if its answer were lost.
    """
    left = count()
    where = f"{'after' if after else 'before'} {call}"

    def announce(announced: str) -> None:
        if announced == where and (times is None or next(left) < times):
            raise StoreError(f"{call} failed, as the test asks")

    world.announce = announce


def working(world: World) -> None:
    """Let every call work again."""
    world.announce = quiet


def crashing(call: str) -> None:
    """An announcement handler that ends the process after the claim of an attempt and before its request."""
    if call == "before consumers.deliver":
        raise KeyboardInterrupt
