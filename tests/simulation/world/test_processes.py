"""Processes hand over at every call, and the platform ends, stops and resumes them."""

from collections.abc import Callable

import pytest
from tests.simulation.world.faults import KINDS, CallFaults, RoleFaults, Troubles
from tests.simulation.world.processes import NEVER, Killed, Machine, MachineClock, Process, Scheduler

UNTROUBLED = RoleFaults("sweep", Troubles(dict.fromkeys(KINDS, 0.0)))


class Log(list[tuple[int, str]]):
    """Records which process was at which step, and when."""


def process_of(name: str, *, ends_at: int = NEVER, ahead_ms: int = 0) -> Process:
    return Process(name, "sweep", Machine(name, ahead_ms), ends_at, lambda _: None, CallFaults(0, UNTROUBLED))


def counting(scheduler: Scheduler, log: Log, name: str, every_ms: int) -> Callable[[], None]:
    def body() -> None:
        for _ in range(3):
            scheduler.sleep(every_ms)
            log.append((scheduler.now, name))

    return body


def test_processes_may_overtake_each_other() -> None:
    scheduler, log = Scheduler(0), Log()
    scheduler.start(process_of("slow"), counting(scheduler, log, "slow", 20))
    scheduler.start(process_of("fast"), counting(scheduler, log, "fast", 15))
    scheduler.run(100)
    assert log == [(15, "fast"), (20, "slow"), (30, "fast"), (40, "slow"), (45, "fast"), (60, "slow")]
    assert not scheduler.alive


def test_a_process_ends_at_its_limit() -> None:
    scheduler, log = Scheduler(0), Log()
    killed: list[str] = []
    late = process_of("late", ends_at=45)
    late.when_killed = killed.append
    scheduler.start(late, counting(scheduler, log, "late", 20))
    scheduler.run(100)
    assert log == [(20, "late"), (40, "late")]
    assert killed == ["time limit"]


def test_a_frozen_process_does_nothing_until_it_goes_on() -> None:
    scheduler, log = Scheduler(0), Log()

    def body() -> None:
        scheduler.freeze(100)
        for name in "ab":
            scheduler.spawn(counting(scheduler, log, name, 10))
        scheduler.sleep(150)

    scheduler.start(process_of("frozen"), body)
    scheduler.run(100)
    assert not log
    scheduler.run(120)
    assert log == [(110, "a"), (110, "b"), (120, "a"), (120, "b")]


def test_a_killed_process_changes_nothing_any_more() -> None:
    scheduler, log = Scheduler(0), Log()
    process = process_of("doomed")

    def body() -> None:
        try:
            counting(scheduler, log, "doomed", 10)()
        finally:
            with pytest.raises(Killed):
                scheduler.sleep(0)

    scheduler.start(process, body)
    scheduler.call_at(15, lambda: scheduler.kill(process, "the test asks"))
    scheduler.run(100)
    assert log == [(10, "doomed")]


def test_each_machine_has_a_clock_of_its_own() -> None:
    scheduler = Scheduler(1_000)
    process = process_of("ahead", ahead_ms=300)
    clock = MachineClock(scheduler, process.machine)
    scheduler.start(process, lambda: clock.wait_until(1_500))
    scheduler.run(1_199)
    assert scheduler.alive
    scheduler.run(1_200)
    assert not scheduler.alive
