"""Production's thread pools run in simulated time, and threads that are left behind wait frozen."""

from collections.abc import Callable, Iterator

import pytest
from tests.simulation.world.faults import KINDS, CallFaults, RoleFaults, Troubles
from tests.simulation.world.processes import NEVER, Machine, Process, Scheduler
from tests.simulation.world.threads import in_strands

from sweephand.base.instants import HOUR_MS
from sweephand.runtime import machine as production

UNTROUBLED = RoleFaults("api", Troubles(dict.fromkeys(KINDS, 0.0)))

MACHINE = Machine("one")


def process_of(name: str, *, ends_at: int = NEVER) -> Process:
    return Process(name, "api", MACHINE, ends_at, lambda _: None, CallFaults(0, UNTROUBLED))


@pytest.fixture
def scheduler() -> Iterator[Scheduler]:
    scheduler = Scheduler(0)
    with in_strands(scheduler):
        yield scheduler
    scheduler.end()


def sleeping(scheduler: Scheduler, duration_ms: int, done: list[tuple[int, int]]) -> Callable[[], int]:
    def task() -> int:
        scheduler.sleep(duration_ms)
        done.append((scheduler.now, duration_ms))
        return duration_ms

    return task


def failing() -> int:
    raise ValueError("as the test asks")


def left_behind(scheduler: Scheduler, task: Callable[[], int]) -> None:
    """Begin a task in production's pool, and do not wait for it."""
    production.write_pool().submit(task)
    scheduler.sleep(1)


def test_tasks_that_production_runs_at_once_run_side_by_side_and_return_in_order(
    scheduler: Scheduler,
) -> None:
    returned: list[int] = []
    tasks = [sleeping(scheduler, each, []) for each in (30, 10, 20)]
    scheduler.start(process_of("many"), lambda: returned.extend(production.write_concurrently(tasks)))
    scheduler.run(30)
    assert returned == [30, 10, 20]


def test_deliveries_run_side_by_side(scheduler: Scheduler) -> None:
    done: list[tuple[int, int]] = []
    tasks = [sleeping(scheduler, each, done) for each in (30, 10, 20)]

    def body() -> None:
        production.deliver_concurrently(tasks)

    scheduler.start(process_of("batch"), body)
    scheduler.run(100)
    assert done == [(10, 10), (20, 20), (30, 30)]


def test_a_failure_is_raised_where_it_is_awaited(scheduler: Scheduler) -> None:
    raised: list[str] = []

    def body() -> None:
        try:
            production.write_concurrently([sleeping(scheduler, 10, []), failing])
        except ValueError as error:
            raised.append(str(error))

    scheduler.start(process_of("failing"), body)
    scheduler.run(10)
    assert raised == ["as the test asks"]


def test_a_thread_that_is_left_behind_is_frozen_until_its_environment_is_used_again(
    scheduler: Scheduler,
) -> None:
    done: list[tuple[int, int]] = []
    task = sleeping(scheduler, 20, done)
    scheduler.start(process_of("first"), lambda: left_behind(scheduler, task))
    scheduler.run(HOUR_MS)
    assert not done
    scheduler.start(process_of("second"), lambda: scheduler.sleep(1))
    scheduler.run(HOUR_MS)
    assert done == [(HOUR_MS, 20)]


def test_a_thread_that_is_left_behind_ends_with_the_invocation_that_thawed_it(scheduler: Scheduler) -> None:
    done: list[tuple[int, int]] = []

    def task() -> int:
        scheduler.sleep(20)
        return sleeping(scheduler, 20, done)()

    scheduler.start(process_of("first"), lambda: left_behind(scheduler, task))
    scheduler.run(HOUR_MS)
    late = process_of("second", ends_at=HOUR_MS + 10)
    scheduler.start(late, lambda: scheduler.sleep(30))
    scheduler.run(2 * HOUR_MS)
    assert late.is_dead
    scheduler.start(process_of("third"), lambda: scheduler.sleep(100))
    scheduler.run(3 * HOUR_MS)
    assert not done
