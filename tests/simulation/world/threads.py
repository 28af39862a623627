"""Production's thread pools in simulated time: what they run are strands of the process that asks.

So the simulator executes production's own rule of what is awaited (`sweephand.runtime`), on Python's own
futures: only what these block on is another.
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, _base
from contextlib import ExitStack, contextmanager
from typing import Any, Final, ParamSpec, TypeVar
from unittest.mock import patch

from tests.simulation.world.processes import Killed, Scheduler, Strand

from sweephand.runtime import threads as production

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

#: The functions that make the pools of production.
_POOLS: Final = ("write_pool", "delivery_pool", "record_pool")


@contextmanager
def in_strands(scheduler: Scheduler) -> Iterator[None]:
    """Have production's pools run their tasks as strands of `scheduler`, and futures wait in its time."""
    threads = Threads(scheduler)
    with ExitStack() as stack:
        stack.enter_context(patch.object(_base, "threading", _Threading(scheduler)))
        for pool in _POOLS:
            stack.enter_context(patch.object(production, pool, lambda: threads))
        yield


class Threads(Executor):
    """A pool with a thread for everybody. What a killed process leaves undone is never awaited."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler

    def submit(
        self, fn: Callable[Arguments, Result], /, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Future[Result]:
        """Begin a task in a strand of its own."""
        future: Future[Result] = Future()

        def run() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(fn(*args, **kwargs))
            except (Exception, Killed) as error:  # noqa: BLE001 - it is raised where the result is awaited
                future.set_exception(error)

        self._scheduler.spawn(run)
        return future


class _Signal:
    """threading.Event, and threading.Condition with its lock, of strands: one runs at a time anyway."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._waiting: list[Strand] = []
        self._is_set = False

    def __enter__(self) -> None:
        """Nobody else runs."""

    def __exit__(self, *_: object) -> None:
        """Nor did."""

    def acquire(self) -> None:
        """Nobody else runs."""

    def release(self) -> None:
        """Nor did."""

    def set(self) -> None:
        """Let those go on who wait, and who would."""
        self._is_set = True
        self.notify_all()

    def notify_all(self) -> None:
        """Let those go on who wait."""
        for strand in self._waiting:
            self._scheduler.wake(strand)
        self._waiting.clear()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until somebody says so; for ever, since nobody here sets a limit."""
        assert timeout is None, "not learnt by this fake"
        if not self._is_set:
            self._waiting.append(self._scheduler.strand)
            self._scheduler.park()
        return True


class _Threading:
    """The module `threading` as concurrent.futures knows it."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler

    def Event(self) -> _Signal:  # noqa: N802 - so it is called
        """Of strands."""
        return _Signal(self._scheduler)

    def Condition(self) -> _Signal:  # noqa: N802 - so it is called
        """Of strands."""
        return _Signal(self._scheduler)

    def __getattr__(self, name: str) -> Any:
        return getattr(threading, name)
