"""Each entry is taken once, in order. Entries that wait too long for a thread are taken as late."""

from concurrent.futures import ThreadPoolExecutor

from tests.fakes.doubles import NOON, HandClock

from sweephand.base.instants import Instant
from sweephand.runs.work_queue import THREAD_WAIT_MAX_MS, WorkQueue


def test_the_entries_are_taken_in_their_order() -> None:
    work = WorkQueue([(NOON, "a"), (NOON + 1, "b"), (NOON + 1, "c")], HandClock())
    assert next(iter(work)) == "a"
    assert list(work) == ["b", "c"]
    assert list(work) == []


def test_many_threads_take_each_entry_once() -> None:
    work = WorkQueue([(NOON, number) for number in range(1_000)], HandClock())
    with ThreadPoolExecutor(8) as pool:
        taken = [each.result() for each in [pool.submit(lambda: list(work)) for _ in range(8)]]
    assert sorted(number for some in taken for number in some) == list(range(1_000))


def test_only_entries_that_have_waited_too_long_are_taken_as_late() -> None:
    clock = HandClock()
    work = WorkQueue([(NOON, "a"), (NOON + 100, "b"), (NOON + 3_000, "c")], clock)
    given: list[tuple[Instant, list[str]]] = [(clock.time, late) for late in work.late()]
    assert given == [
        (NOON + THREAD_WAIT_MAX_MS, ["a"]),
        (NOON + THREAD_WAIT_MAX_MS + 100, ["b"]),
        (NOON + THREAD_WAIT_MAX_MS + 3_000, ["c"]),
    ]


def test_the_search_for_late_entries_ends_when_all_entries_are_taken() -> None:
    clock = HandClock()
    work = WorkQueue([(NOON, "a")], clock)
    assert list(work) == ["a"]
    assert list(work.late()) == []
    assert clock.time == NOON
