"""How the functions run tasks in threads."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, cast

import pytest

from sweephand.base.concurrency import DELIVERIES_AT_ONCE, REQUESTS_AT_ONCE
from sweephand.base.errors import StoreError
from sweephand.runtime.machine import deliver_concurrently, sweep_concurrently, write_concurrently


def run(tasks: list[Callable[[], Any]]) -> list[Any]:
    return cast("list[Any]", deliver_concurrently(tasks))


def test_every_message_is_begun_while_all_others_take_long() -> None:
    everybody = threading.Barrier(DELIVERIES_AT_ONCE, timeout=60)

    assert sorted(run([everybody.wait] * DELIVERIES_AT_ONCE)) == list(range(DELIVERIES_AT_ONCE))


def test_the_outcomes_of_deliveries_are_returned_in_order() -> None:
    last_begun = threading.Event()

    def begin() -> str:
        last_begun.set()
        return "last"

    assert run([lambda: last_begun.wait(60), lambda: "middle", begin]) == [True, "middle", "last"]


class Busy(ThreadPoolExecutor):
    """A pool without a free thread. It counts what it was asked to do."""

    asked = 0

    def submit(self, *_: Any, **__: Any) -> Future[Any]:
        self.asked += 1
        return Future()


def test_messages_that_are_delivered_fast_ask_for_one_thread_only() -> None:
    pool = Busy(1)
    delivered = deliver_concurrently([partial(int, number) for number in range(10)], pool)
    assert (list(delivered), pool.asked) == (list(range(10)), 1)


def test_one_message_is_delivered_in_the_calling_thread() -> None:
    assert run([threading.current_thread]) == [threading.current_thread()]


def test_no_thread_is_left_behind_when_one_job_of_a_call_fails() -> None:
    has_failed, has_ended = threading.Event(), threading.Event()

    def fail() -> bool:
        has_failed.set()
        raise StoreError("no answer")

    def end_later() -> bool:
        has_failed.wait(60)
        # A caller that does not wait for this thread has returned before this.
        has_answered.wait(0.05)
        has_ended.set()
        return True

    has_answered = threading.Event()
    with pytest.raises(StoreError, match="no answer"):
        write_concurrently([fail, end_later])
    has_answered.set()
    assert has_ended.is_set()


def test_the_results_of_writes_are_returned_in_order() -> None:
    second_ended = threading.Event()

    def second() -> str:
        second_ended.set()
        return "second"

    assert write_concurrently([lambda: second_ended.wait(60), second]) == [True, "second"]


def test_a_task_of_a_sweeper_may_run_others_while_each_thread_has_such_a_task() -> None:
    # As many as have a thread at once: those of the pool, and the calling one.
    count = REQUESTS_AT_ONCE + 1
    everybody = threading.Barrier(count, timeout=60)

    def outer(number: int) -> list[int]:
        everybody.wait()
        return list(sweep_concurrently([partial(int, f"{number}{inner}") for inner in range(5)]))

    found = list(sweep_concurrently([partial(outer, number) for number in range(count)]))
    assert found == [[int(f"{number}{inner}") for inner in range(5)] for number in range(count)]


def test_the_first_error_of_a_sweeper_is_raised_once_every_task_has_ended() -> None:
    ended: list[int] = []

    def fail(number: int) -> None:
        ended.append(number)
        raise StoreError(f"no answer to {number}")

    with pytest.raises(StoreError, match="no answer to 0"):
        sweep_concurrently([partial(fail, number) for number in range(40)])
    assert sorted(ended) == list(range(40))
