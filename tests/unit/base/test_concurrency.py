"""A value that many threads ask for is made once."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from sweephand.base.concurrency import Once
from sweephand.base.errors import StoreError

THREADS = 8


def test_all_threads_get_the_value_that_one_of_them_makes() -> None:
    all_ask = threading.Barrier(THREADS, timeout=60)
    made: list[object] = []

    def make() -> object:
        made.append(object())
        return made[-1]

    once = Once(make)

    def ask() -> object:
        all_ask.wait()
        return once()

    with ThreadPoolExecutor(THREADS) as pool:
        values = [each.result() for each in [pool.submit(ask) for _ in range(THREADS)]]
    assert len(made) == 1
    assert all(value is made[0] for value in values)


def test_an_error_is_raised_to_every_thread_that_asks() -> None:
    asked: list[int] = []

    def make() -> int:
        asked.append(1)
        raise StoreError("throttled")

    once = Once(make)
    for _ in range(3):
        with pytest.raises(StoreError, match="throttled"):
            once()
    assert asked == [1]
