"""The threads that run an engine by the clock of this machine.

A thread takes the place of each function of a stack: one ticks every minute, and others deliver and serve the
lines of policies, a message each.
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
from sweephand_engine.engine import DELIVERIES_MAX, DELIVERY_URL, FLOW_URL, FLOWS_MAX, Engine
from sweephand_engine.sqs.queue import MemoryQueue

Result = TypeVar("Result")

_STOP_S: Final = 2


class Threads:
    """The threads of one engine, which is made with `concurrently` and `start`."""

    def __init__(self) -> None:
        self._is_over = threading.Event()
        self._tasks = ThreadPoolExecutor(DELIVERIES_MAX, "task")
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
        delivery, flow = engine.queues[DELIVERY_URL], engine.queues[FLOW_URL]
        bodies: dict[str, Callable[[], None]] = {
            "tick": partial(self._tick_every_minute, engine),
            "deliver": partial(_pump, delivery, engine.deliver, DELIVERIES_MAX, "pump-delivery"),
            "flow": partial(_pump, flow, engine.work, FLOWS_MAX, "pump-flow"),
        }
        self._threads += [
            threading.Thread(target=body, name=name, daemon=True) for name, body in bodies.items()
        ]
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


def _pump(queue: MemoryQueue, handle: Callable[[Received], object], most: int, name: str) -> None:
    """Give each message of a queue to a thread, at most so many at once."""
    free = threading.Semaphore(most)
    with ThreadPoolExecutor(most, name) as threads:

        def handle_one(received: Received) -> None:
            try:
                handle(received)
            finally:
                free.release()

        while free.acquire() and (received := queue.take()) is not None:
            threads.submit(handle_one, received)
