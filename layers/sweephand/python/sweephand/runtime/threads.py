"""The thread pools of the functions, and how each function waits for the tasks that it runs in them."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from operator import itemgetter
from typing import TypeVar

from sweephand.base.concurrency import DELIVERIES_AT_ONCE, REQUESTS_AT_ONCE

Result = TypeVar("Result")

#: Jobs of one bulk request that are written at once: a write waits for its stores most of its time.
WRITES_AT_ONCE = 8


@cache
def write_pool() -> ThreadPoolExecutor:
    """The threads in which the API function writes jobs."""
    return ThreadPoolExecutor(WRITES_AT_ONCE, thread_name_prefix="write")


@cache
def sweep_pool() -> ThreadPoolExecutor:
    """The threads in which a sweeper reads, writes and sends."""
    return ThreadPoolExecutor(REQUESTS_AT_ONCE, thread_name_prefix="sweep")


@cache
def delivery_pool() -> ThreadPoolExecutor:
    """The threads that help the delivery function's own thread."""
    return ThreadPoolExecutor(DELIVERIES_AT_ONCE - 1, thread_name_prefix="delivery")


def write_concurrently(tasks: Sequence[Callable[[], Result]]) -> Iterable[Result]:
    """The results of the tasks, in order. The first error is raised once every task has ended.

    Lambda freezes the process when the function has answered. A thread that was left behind would go on
    minutes later, between the arming of a job and its commit.
    """
    begun = [write_pool().submit(task) for task in tasks]
    wait(begun)
    return [each.result() for each in begun]


def sweep_concurrently(tasks: Sequence[Callable[[], Result]]) -> Iterable[Result]:
    """The results of the tasks, in order. The first error is raised once every task has ended."""
    futures = [sweep_pool().submit(task) for task in tasks]
    errors = [future.exception() for future in futures]
    for error in filter(None, errors):
        raise error
    return [future.result() for future in futures]


def deliver_concurrently(tasks: Sequence[Callable[[], Result]]) -> Iterable[Result]:
    """The results of the tasks, in order. Each task has a thread to begin in at once.

    The calling thread works as well, and a thread that has ended its task takes one that no thread has begun.
    So fewer threads have to be woken where consumers answer fast. A task must not raise.
    """
    numbers = iter(range(len(tasks)))

    def work() -> list[tuple[int, Result]]:
        return [(number, tasks[number]()) for number in numbers]

    helping = [delivery_pool().submit(work) for _ in tasks[1:]]
    done = work()
    for helper in helping:
        done += helper.result()
    return [result for _, result in sorted(done, key=itemgetter(0))]
