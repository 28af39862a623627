"""How the delivery function works on a batch: all of it at once, whoever is slow."""

import threading
from collections.abc import Callable
from typing import Any, cast

from sweephand.runtime import delivery


def run(tasks: list[Callable[[], Any]]) -> list[Any]:
    return cast("list[Any]", delivery._concurrently(tasks))


def test_every_message_of_a_batch_is_begun_while_all_others_take_long() -> None:
    everybody = threading.Barrier(delivery.DELIVERIES_AT_ONCE, timeout=10)

    assert sorted(run([everybody.wait] * delivery.DELIVERIES_AT_ONCE)) == list(range(10))


def test_what_became_of_each_is_said_in_order() -> None:
    last_begun = threading.Event()

    def begin() -> str:
        last_begun.set()
        return "last"

    assert run([lambda: last_begun.wait(10), lambda: "middle", begin]) == [True, "middle", "last"]


def test_one_message_needs_no_other_thread() -> None:
    assert run([threading.current_thread]) == [threading.current_thread()]
