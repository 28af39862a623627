"""Two actors in one world, of whom one is stopped at a call of a port while the other goes on."""

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import Final

from tests.fakes.faults import Killed
from tests.fakes.world import World, quiet

Action = Callable[[World], object]

#: How long a thread may take for one step before the test gives up: a thread that died, or a deadlock.
_PATIENCE_S: Final = 10

#: More steps than any action has.
TO_ITS_END: Final = 1_000_000


@dataclass
class _Actor:
    """An action in a thread of its own that waits before each call until it may go on."""

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
        except BaseException as error:  # noqa: BLE001 - it is raised where the test can see it
            self.failure = error
        self.is_over = True
        self.has_stopped.release()

    def pause(self) -> None:
        """Called in the actor's thread: hand over, and wait."""
        self.has_stopped.release()
        self.may_go.acquire()

    def go(self, steps: int) -> None:
        """Let it do so many steps: a call and what follows it, up to the next call."""
        for _ in range(steps):
            if self.is_over:
                break
            self.may_go.release()
            assert self.has_stopped.acquire(timeout=_PATIENCE_S), "the actor hangs"
        if self.failure is not None:
            raise self.failure


def interleaved(world: World, one: Action, other: Action, first: int, second: int) -> tuple[bool, bool]:
    """Do `first` steps of the one, `second` of the other, then the rest; say which were over by then."""
    actors = (_Actor(lambda: one(world)), _Actor(lambda: other(world)))
    by_thread = {actor.thread: actor for actor in actors}

    def announce(call: str) -> None:
        # What lies between the end of one call and the beginning of the next touches nothing shared. And
        # no promise can be kept by a process that is stopped between its last look and its request.
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
    """Stop the one before each of its calls, the other before each of its own; check, and count the ways."""
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
    """Let any number of actors do a step each in no order; now and then one of them ends where it stands."""
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
