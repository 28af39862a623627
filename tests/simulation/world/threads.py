"""Production's thread pools in simulated time: each task is a strand of the process that submits it.

So the simulator runs production's own rule for awaiting tasks (`sweephand.runtime`), and Python's own
futures. Only the locks and events on which futures block are replaced.
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, _base
from contextlib import ExitStack, contextmanager
from typing import Any, Final, ParamSpec, TypeVar
from unittest.mock import patch

from tests.simulation.world.processes import Killed, Scheduler, Strand

from sweephand.jobs import settings_cache
from sweephand.runtime import machine as production

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

#: The functions that make the pools of production.
_POOLS: Final = ("write_pool", "delivery_pool", "sweep_pool")


@contextmanager
def in_strands(scheduler: Scheduler) -> Iterator[None]:
    """Have production's pools run their tasks as strands of `scheduler`, in simulated time."""
    threads = Threads(scheduler)
    with ExitStack() as stack:
        stack.enter_context(patch.object(_base, "threading", _Threading(scheduler)))
        # Production reads the settings of a namespace while it holds a lock.
        stack.enter_context(patch.object(settings_cache, "Lock", lambda: _Lock(scheduler)))
        for pool in _POOLS:
            stack.enter_context(patch.object(production, pool, lambda: threads))
        yield


class Threads(Executor):
    """A pool with a thread for every task. A task that a killed process leaves undone is never awaited."""

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
    """threading.Event and threading.Condition for strands. One strand runs at a time, so it has no lock."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._waiting: list[Strand] = []
        self._is_set = False

    def __enter__(self) -> None:
        """Do nothing: no other strand runs."""

    def __exit__(self, *_: object) -> None:
        """Do nothing: no other strand ran."""

    def acquire(self) -> None:
        """Do nothing: no other strand runs."""

    def release(self) -> None:
        """Do nothing: no other strand ran."""

    def set(self) -> None:
        """Wake the strands that wait, and let later ones pass."""
        self._is_set = True
        self.notify_all()

    def notify_all(self) -> None:
        """Wake the strands that wait."""
        for strand in self._waiting:
            self._scheduler.wake(strand)
        self._waiting.clear()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until another strand sets or notifies. There is no time-out, since no caller here sets one."""
        assert timeout is None, "not learnt by this fake"
        if not self._is_set:
            self._waiting.append(self._scheduler.strand)
            self._scheduler.park()
        return True


class _Lock:
    """threading.Lock for strands: one that finds it taken stands still until it is free."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._waiting: list[Strand] = []
        self._holder: Strand | None = None

    def __enter__(self) -> None:
        """Take the lock, once no other strand has it."""
        strand = self._scheduler.strand
        while self._holder is not None:
            # Processes of this world share a machine, and the holder may be paused. In Lambda, the calls of a
            # machine follow each other.
            strand.process.is_held_up |= self._holder.process is not strand.process
            self._waiting.append(strand)
            self._scheduler.park()
        self._holder = strand

    def __exit__(self, *_: object) -> None:
        """Free the lock, and wake those that wait for it."""
        self._holder = None
        for strand in self._waiting:
            self._scheduler.wake(strand)
        self._waiting.clear()


class _Threading:
    """The module `threading`, as far as concurrent.futures uses it."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler

    def Event(self) -> _Signal:  # noqa: N802 - so it is called
        """Return an event for strands."""
        return _Signal(self._scheduler)

    def Condition(self) -> _Signal:  # noqa: N802 - so it is called
        """Return a condition for strands."""
        return _Signal(self._scheduler)

    def __getattr__(self, name: str) -> Any:
        return getattr(threading, name)
