"""Strands in simulated time."""

import asyncio
from collections.abc import Iterator
from contextvars import ContextVar
from threading import get_ident

import pytest
from greenlet import GreenletExit

from sweephand_engine.testing.clock import SimulatedClock
from sweephand_engine.testing.loops import Loops


@pytest.fixture
def clock() -> Iterator[SimulatedClock]:
    clock = SimulatedClock(0, lambda _: None)
    yield clock
    clock.close()


def pass_time(clock: SimulatedClock, until: int) -> None:
    while (at := clock.next_at()) is not None and at <= until:
        clock.move(at)
        clock.run()
    clock.move(until)


def test_strands_that_wait_hand_over_in_the_order_of_time(clock: SimulatedClock) -> None:
    seen: list[tuple[str, int]] = []

    def strand(name: str, *waits: int) -> None:
        for each in waits:
            clock.wait_until(each)
            seen.append((name, clock.now()))

    clock.start(lambda: strand("a", 10, 30))
    clock.start(lambda: strand("b", 5, 20, 30))
    pass_time(clock, 100)

    assert seen == [("b", 5), ("a", 10), ("b", 20), ("a", 30), ("b", 30)]


def test_all_strands_run_in_the_thread_of_the_test(clock: SimulatedClock) -> None:
    threads: list[int] = []
    clock.start(lambda: threads.append(get_ident()))
    clock.run()
    assert threads == [get_ident()]


def test_a_strand_has_the_context_in_which_it_was_started(clock: SimulatedClock) -> None:
    variable: ContextVar[str] = ContextVar("variable")
    seen: list[str] = []

    def strand(own: str) -> None:
        seen.append(variable.get())
        variable.set(own)
        clock.wait_until(10)
        seen.append(variable.get())

    variable.set("test")
    clock.start(lambda: strand("one"))
    clock.start(lambda: strand("two"))
    pass_time(clock, 10)

    assert seen == ["test", "test", "one", "two"]
    assert variable.get() == "test"


def test_each_time_that_passes_is_announced() -> None:
    passed: list[int] = []
    clock = SimulatedClock(0, passed.append)
    clock.start(lambda: clock.wait_until(7))
    pass_time(clock, 9)
    assert passed == [7, 2]


def test_tasks_at_once_take_as_long_as_the_slowest(clock: SimulatedClock) -> None:
    found: list[tuple[list[int], int]] = []

    def wait(duration: int) -> int:
        clock.wait_until(clock.now() + duration)
        return duration

    def strand() -> None:
        results = list(clock.concurrently([lambda: wait(30), lambda: wait(10), lambda: wait(20)]))
        found.append((results, clock.now()))

    clock.start(strand)
    pass_time(clock, 100)

    assert found == [([30, 10, 20], 30)]


def test_the_first_error_of_tasks_is_raised_once_all_have_ended(clock: SimulatedClock) -> None:
    ended: list[int] = []

    def fail(text: str) -> None:
        raise ValueError(text)

    def wait() -> None:
        clock.wait_until(10)
        ended.append(clock.now())

    def strand() -> None:
        with pytest.raises(ValueError, match="first"):
            clock.concurrently([wait, lambda: fail("first"), lambda: fail("second")])
        assert ended == [10]

    clock.start(strand)
    pass_time(clock, 100)


def test_a_task_within_its_time_has_its_result_and_leaves_nothing_behind(clock: SimulatedClock) -> None:
    results: list[int] = []

    def task() -> int:
        clock.wait_until(9)
        return 7

    clock.start(lambda: results.append(clock.within(10, task)))
    pass_time(clock, 9)

    assert results == [7]
    assert clock.next_at() is None


def test_a_task_that_takes_too_long_goes_on_without_its_caller(clock: SimulatedClock) -> None:
    seen: list[tuple[str, int]] = []

    def task() -> None:
        clock.wait_until(30)
        seen.append(("done", clock.now()))

    def strand() -> None:
        with pytest.raises(TimeoutError):
            clock.within(10, task)
        seen.append(("given up", clock.now()))

    clock.start(strand)
    pass_time(clock, 100)

    assert seen == [("given up", 10), ("done", 30)]


def test_an_error_of_a_task_within_its_time_is_raised_to_the_caller(clock: SimulatedClock) -> None:
    def fail() -> None:
        raise ValueError("broken")

    def strand() -> None:
        with pytest.raises(ValueError, match="broken"):
            clock.within(10, fail)

    clock.start(strand)
    clock.run()


def test_an_error_of_a_strand_is_raised_to_the_test_and_other_strands_go_on(clock: SimulatedClock) -> None:
    seen: list[int] = []

    def fail() -> None:
        raise KeyboardInterrupt

    clock.start(fail)
    clock.start(lambda: seen.append(1))
    with pytest.raises(KeyboardInterrupt):
        clock.run()
    assert seen == [1]


def test_a_strand_that_still_waits_is_ended_with_the_clock() -> None:
    clock = SimulatedClock(0, lambda _: None)
    ended: list[str] = []

    def strand() -> None:
        try:
            clock.wait_until(10)
        finally:
            ended.append("cleaned")
            with pytest.raises(GreenletExit):
                clock.wait_until(20)

    clock.start(strand)
    clock.run()
    clock.close()

    assert ended == ["cleaned"]


def test_the_test_itself_may_wait(clock: SimulatedClock) -> None:
    clock.wait_until(10)
    assert clock.now() == 10
    assert not clock.is_in_strand


def test_coroutines_run_while_others_stand_still(clock: SimulatedClock) -> None:
    loops = Loops()
    seen: list[tuple[str, int]] = []

    async def handler(name: str, until: int) -> str:
        await asyncio.sleep(0)
        clock.wait_until(until)
        await asyncio.sleep(0)
        task = asyncio.current_task()
        assert task is not None
        seen.append((name, clock.now()))
        return name

    results: list[str] = []
    clock.start(lambda: results.append(loops.run(handler("a", 20))))
    clock.start(lambda: results.append(loops.run(handler("b", 30))))
    clock.start(lambda: results.append(loops.run(handler("c", 10))))
    pass_time(clock, 100)
    loops.close()

    assert results == ["c", "a", "b"]
    assert seen == [("c", 10), ("a", 20), ("b", 30)]


def test_a_coroutine_of_the_test_may_let_time_pass(clock: SimulatedClock) -> None:
    loops = Loops()
    results: list[int] = []

    async def handler() -> int:
        await asyncio.sleep(0)
        return 7

    async def test() -> None:
        before = asyncio.current_task()
        clock.start(lambda: results.append(loops.run(handler())))
        clock.run()
        await asyncio.sleep(0)
        assert asyncio.current_task() is before

    asyncio.run(test())
    loops.close()
    assert results == [7]


@pytest.mark.parametrize("is_asynchronous", [False, True])
def test_a_coroutine_of_the_test_keeps_its_loop_while_a_strand_waits(
    clock: SimulatedClock, *, is_asynchronous: bool
) -> None:
    loops = Loops()

    async def coroutine(until: int) -> None:
        clock.wait_until(until)

    def begin(until: int) -> None:
        clock.start(lambda: loops.run(coroutine(until)) if is_asynchronous else clock.wait_until(until))

    async def test() -> None:
        before = asyncio.current_task()
        begin(20)
        for until in (10, 30):
            pass_time(clock, until)
            await asyncio.sleep(0)
            assert asyncio.current_task() is before
        begin(50)
        pass_time(clock, 40)
        clock.close()
        await asyncio.sleep(0)
        assert asyncio.current_task() is before

    asyncio.run(test())
    loops.close()


def test_a_task_that_a_coroutine_leaves_behind_goes_on_with_the_next_one_and_ends_with_the_loop() -> None:
    loops = Loops()
    seen: list[str] = []

    async def background() -> None:
        try:
            seen.append("began")
            await asyncio.sleep(3_600)
        finally:
            seen.append("cancelled")

    async def handler() -> None:
        tasks.append(asyncio.create_task(background()))

    tasks: list[asyncio.Task[None]] = []
    loops.run(handler())
    loops.run(asyncio.sleep(0))
    assert seen == ["began"]
    loops.close()
    assert seen == ["began", "cancelled"]
    assert tasks[0].cancelled()


def test_coroutines_one_after_the_other_share_one_loop() -> None:
    loops = Loops()

    async def loop() -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    assert loops.run(loop()) is loops.run(loop())
    loops.close()
