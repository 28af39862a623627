"""How the API function works on many jobs at once: nothing of it outlives the answer."""

import threading

import pytest

from sweephand.base.errors import StoreError
from sweephand.runtime import api


def test_no_thread_is_left_behind_when_one_job_of_a_call_fails() -> None:
    has_failed, has_ended = threading.Event(), threading.Event()

    def fail() -> bool:
        has_failed.set()
        raise StoreError("no answer")

    def end_later() -> bool:
        has_failed.wait(10)
        # Whoever does not wait for this thread is back before this.
        has_answered.wait(0.05)
        has_ended.set()
        return True

    has_answered = threading.Event()
    with pytest.raises(StoreError, match="no answer"):
        api._concurrently([fail, end_later])
    has_answered.set()
    assert has_ended.is_set()


def test_what_became_of_each_is_said_in_order() -> None:
    second_ended = threading.Event()

    def second() -> str:
        second_ended.set()
        return "second"

    assert api._concurrently([lambda: second_ended.wait(10), second]) == [True, "second"]
