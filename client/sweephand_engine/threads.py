"""The threads that run an engine by the clock of this machine.

A thread takes the place of each function of a stack: one ticks every minute, and others deliver and serve the
lines of policies, a call each.
"""

import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import monotonic
from typing import Final, TypeVar

from sweephand.base.instants import MINUTE_MS, SECOND_MS
from sweephand.runs.received import Received
from sweephand.runtime.machine import deliver_concurrently
from sweephand_engine.engine import DELIVERIES_MAX, MESSAGES_MAX, Engine, Function
from sweephand_engine.sqs.queue import MemoryQueue

Result = TypeVar("Result")

_STOP_S: Final = 2


class Threads:
    """The threads of one engine, which is made with `concurrently` and `start`."""

    def __init__(self) -> None:
        self._is_over = threading.Event()
        self._tasks = ThreadPoolExecutor(DELIVERIES_MAX * MESSAGES_MAX, "task")
        self._threads: list[threading.Thread] = []
        self._queues: list[MemoryQueue] = []

    def concurrently(self, tasks: Sequence[Callable[[], Result]]) -> Iterable[Result]:
        """As Concurrently promises, each task in a thread of its own."""
        return deliver_concurrently(tasks, self._tasks)

    def start(self, task: Callable[[], object]) -> None:
        """Begin a task in a thread of its own."""
        self._tasks.submit(task)

    def run(self, engine: Engine) -> None:
        """Start the threads. The first tick is over when this returns, so the engine is healthy."""
        engine.tick()
        self._queues += engine.queues.values()
        bodies: list[Callable[[], None]] = [partial(self._tick_every_minute, engine)]
        bodies += [partial(_pump, each) for each in engine.functions]
        self._threads += [threading.Thread(target=body, daemon=True) for body in bodies]
        for each in self._threads:
            each.start()

    def stop(self) -> None:
        """Take no more messages, and let the threads end what they do now if that takes no longer than 2 s.

        What they leave is done after the next start.
        """
        self._is_over.set()
        for queue in self._queues:
            queue.close()
        ends = monotonic() + _STOP_S
        for each in self._threads:
            each.join(max(0, ends - monotonic()))
        self._tasks.shutdown(wait=False)

    def _tick_every_minute(self, engine: Engine) -> None:
        while not self._is_over.wait((MINUTE_MS - engine.clock.now() % MINUTE_MS) / SECOND_MS):
            engine.tick()


def _pump(function: Function) -> None:
    """Give the messages of a queue to threads, as Lambda gives them to functions."""
    free = threading.Semaphore(function.calls_max)
    with ThreadPoolExecutor(function.calls_max) as threads:

        def call(received: Sequence[Received]) -> None:
            try:
                function.handle(received)
            finally:
                free.release()

        while free.acquire() and (received := function.queue.take(function.messages_max)):
            threads.submit(call, received)
