"""Runs actors in one world in chosen orders. It stops one actor at a port's call while another goes on."""

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import Final

from tests.fakes.faults import Killed
from tests.fakes.world import World, quiet

Action = Callable[[World], object]

#: Seconds that a thread may take for one step. After that the test assumes a dead thread or a deadlock.
_PATIENCE_S: Final = 60

#: More steps than any action has.
TO_ITS_END: Final = 1_000_000


@dataclass
class _Actor:
    """An action in a thread of its own. It waits before each call until `go` lets it go on."""

    action: Callable[[], object]
    may_go: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    has_stopped: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    is_over: bool = False
    failure: BaseException | None = None
    thread: threading.Thread = field(init=False)

    def __post_init__(self) -> None:
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        self.may_go.acquire()
        try:
            self.action()
        except BaseException as error:  # noqa: BLE001 - `go` raises it in the test's thread
            self.failure = error
        self.is_over = True
        self.has_stopped.release()

    def pause(self) -> None:
        """Stop the actor until the next step. The actor's own thread calls this."""
        self.has_stopped.release()
        self.may_go.acquire()

    def go(self, steps: int) -> None:
        """Let the actor do so many steps. A step is a call and the code after it, up to the next call."""
        for _ in range(steps):
            if self.is_over:
                break
            self.may_go.release()
            assert self.has_stopped.acquire(timeout=_PATIENCE_S), "the actor hangs"
        if self.failure is not None:
            raise self.failure


def interleaved(world: World, one: Action, other: Action, first: int, second: int) -> tuple[bool, bool]:
    """Do `first` steps of `one` and `second` steps of `other`, then the rest of both.

    Returns whether each of them was over before the rest began.
    """
    actors = (_Actor(lambda: one(world)), _Actor(lambda: other(world)))
    by_thread = {actor.thread: actor for actor in actors}

    def announce(call: str) -> None:
        # The code between two calls touches nothing shared, so one stop for each call is enough. No process
        # can keep a promise if it is stopped between its last check and its request, so it is not stopped
        # there.
        if call.startswith("before") and call != "before consumers.deliver":
            by_thread[threading.current_thread()].pause()

    world.announce = announce
    actors[0].go(first)
    actors[1].go(second)
    done = actors[0].is_over, actors[1].is_over
    actors[0].go(TO_ITS_END)
    actors[1].go(TO_ITS_END)
    world.announce = quiet
    return done


def every_interleaving(
    prepare: Callable[[], World], one: Action, other: Action, check: Callable[[World], None]
) -> int:
    """Run every order in which `one` stops before a call, and then `other` before one of its own.

    Runs `check` on the world of each order. Returns the number of orders.
    """
    ways = first = 0
    is_one_over = False
    while not is_one_over:
        second, is_other_over = 0, False
        while not is_other_over:
            world = prepare()
            is_one_over, is_other_over = interleaved(world, one, other, first, second)
            try:
                check(world)
            except AssertionError as error:
                raise AssertionError(f"after {first} steps of the one and {second} of the other") from error
            ways, second = ways + 1, second + 1
        first += 1
    return ways


def shuffled(world: World, actions: Sequence[Action], chance: Random, *, kill: float = 0) -> None:
    """Let the actors do one step at a time in random order.

    With probability `kill`, a call ends its actor.
    """
    actors = [_Actor(lambda action=action: action(world)) for action in actions]  # type: ignore[misc]
    by_thread = {actor.thread: actor for actor in actors}

    def announce(call: str) -> None:
        if call == "before consumers.deliver":
            return
        if chance.random() < kill:
            raise Killed(call)
        by_thread[threading.current_thread()].pause()

    world.announce = announce
    while left := [actor for actor in actors if not actor.is_over]:
        with suppress(Killed):
            chance.choice(left).go(1)
    world.announce = quiet
