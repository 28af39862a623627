"""What can go wrong in a world: a process that ends at a call, a store that fails at one."""

from collections.abc import Callable
from itertools import count

import pytest
from tests.fakes.world import World, quiet

from sweephand.base.errors import StoreError


class Killed(BaseException):
    """The process ended here: an event, which no handler of errors may catch."""


def calls_of(world: World, action: Callable[[], object]) -> list[str]:
    """The announcements of an action: the places where it can be killed."""
    calls: list[str] = []
    world.announce = calls.append
    action()
    world.announce = quiet
    return calls


def killed_at(world: World, number: int, action: Callable[[], object]) -> None:
    """Run an action that ends at its announcement of that number, counted from 0; the world lives on."""
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
    """Kill an action at each of its calls in a fresh world, then see whether all is well."""
    trial = World()
    prepare(trial)
    calls = calls_of(trial, lambda: action(trial))
    assert calls, "the action calls nothing"
    for number in range(len(calls)):
        world = World()
        prepare(world)
        killed_at(world, number, lambda: action(world))  # noqa: B023 - called within this turn
        try:
            check(world)
        except AssertionError as error:
            raise AssertionError(f"killed {calls[number]} (call {number} of {len(calls)})") from error


def failing(world: World, call: str, *, times: int | None = None, after: bool = False) -> None:
    """Let a port's call (`jobs.get`) raise StoreError from now on: always, or that often.

    `after`: when what was asked has been done all the same, as when an answer is lost.
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
    """The process ends when it has claimed an attempt, and makes the request."""
    if call == "before consumers.deliver":
        raise KeyboardInterrupt
