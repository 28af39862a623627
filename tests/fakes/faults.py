"""What happens at the calls of a world: a process ends, a store fails, time passes, another process acts."""

from collections.abc import Callable
from itertools import count
from typing import Protocol

import pytest
from tests.fakes.doubles import HandClock
from tests.fakes.world import World, quiet

from sweephand.base.errors import StoreError


class Announcing(Protocol):
    """A world, or a scene, that announces each call of a port before and after it."""

    announce: Callable[[str], None]
    clock: HandClock


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


def failing(world: Announcing, call: str, *, times: int | None = None, after: bool = False) -> None:
    """Let the call of a port (`jobs.get`) raise StoreError from now on, always or so many `times`.

    With `after`, the call is made first and then raises, as if its answer were lost.
    """
    left = count()
    where = f"{'after' if after else 'before'} {call}"

    def announce(announced: str) -> None:
        if announced == where and (times is None or next(left) < times):
            raise StoreError(f"{call} failed, as the test asks")

    world.announce = announce


def working(world: Announcing) -> None:
    """Let every call work again."""
    world.announce = quiet


def slow(world: Announcing, duration_ms: int, *calls: str) -> None:
    """Let each announcement of these calls (`after jobs.get`) take that long from now on."""

    def announce(announced: str) -> None:
        if announced in calls:
            world.clock.time += duration_ms

    world.announce = announce


def meanwhile(
    world: Announcing, call: str, action: Callable[[], object], *, number: int = 0, times: int = 1
) -> None:
    """Run an action of another process at an announcement of a call (`before jobs.put`).

    `number` counts the announcements from 0. From that one on, it runs so many `times`.
    """
    numbers = count()

    def announce(announced: str) -> None:
        if announced == call and number <= next(numbers) < number + times:
            world.announce = quiet
            action()
            if world.announce is quiet:  # the action has arranged nothing else
                world.announce = announce

    world.announce = announce


def crashing(call: str) -> None:
    """An announcement handler that ends the process after the claim of an attempt and before its request."""
    if call == "before consumers.deliver":
        raise KeyboardInterrupt
