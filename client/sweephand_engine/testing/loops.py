"""Event loops of asyncio in one thread: one may run while another one stands still."""

import sys
from asyncio import (
    AbstractEventLoop,
    _enter_task,
    _get_running_loop,
    _leave_task,
    _set_running_loop,
    all_tasks,
    current_task,
    gather,
    get_running_loop,
    new_event_loop,
)
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

Result = TypeVar("Result")


@contextmanager
def outside_of_loops() -> Iterator[None]:
    """Let the running loop stand still meanwhile, so that another one can run in this thread.

    The names with an underscore are those that "Extending" of asyncio's documentation gives to event loops.
    """
    loop = _get_running_loop()
    if loop is None:
        yield
        return
    task, hooks = current_task(loop), sys.get_asyncgen_hooks()
    if task is not None:
        _leave_task(loop, task)
    _set_running_loop(None)
    sys.set_asyncgen_hooks(None, None)
    try:
        yield
    finally:
        sys.set_asyncgen_hooks(*hooks)
        _set_running_loop(loop)
        if task is not None:
            _enter_task(loop, task)


class Loops:
    """Runs coroutines in this thread. They share one loop, unless one begins while another one waits."""

    def __init__(self) -> None:
        self._idle: list[AbstractEventLoop] = []

    def run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """The result of the coroutine. The caller may be in a loop itself."""
        with outside_of_loops():
            loop = self._idle.pop() if self._idle else new_event_loop()
            try:
                return loop.run_until_complete(coroutine)
            finally:
                self._idle.append(loop)

    def close(self) -> None:
        """End the loops, and cancel what still waits in them."""
        with outside_of_loops():
            for loop in self._idle:
                loop.run_until_complete(_end())
                loop.close()
        self._idle.clear()


async def _end() -> None:
    """End all that the running loop has left, as asyncio.run() does."""
    loop = get_running_loop()
    others = all_tasks() - {current_task()}
    for each in others:
        each.cancel()
    await gather(*others, return_exceptions=True)
    await loop.shutdown_asyncgens()
    await loop.shutdown_default_executor()
