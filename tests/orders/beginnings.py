"""The beginnings of small worlds, and the judge of most."""

from collections.abc import Callable
from typing import Any

from tests.fakes.world import NOON
from tests.orders.engine import Actor, Steps
from tests.orders.stage import Stage

from sweephand.base.instants import MINUTE_MS, SECOND_MS
from sweephand.runs.received import Received


def two_jobs(steps: Steps, after_ms: int = 4 * MINUTE_MS) -> Stage:
    """Two jobs whose next triggers lie in the wheel, within a sweep's reach."""
    stage = Stage(steps)
    for number in range(2):
        stage.put(f"job-{number}", schedule=f"@every {50 + number}s", data=str(number))
    stage.clock.time += after_ms
    return stage


def at_hand(stage: Stage, **written: Any) -> list[Received]:
    """Bring the triggers of two jobs to where their delivery may begin. Returns their messages."""
    for number in range(2):
        stage.put(f"job-{number}", **{"dueTime": "10s", "data": str(number), **written})
    stage.clock.time = NOON + 10 * SECOND_MS
    return stage.queue.take()


def sweeper(stage: Stage) -> Actor:
    return Actor("sweeper", stage.sweep)


def rested(stage: Stage) -> Callable[[bool], None]:
    """The judge of a world in which nothing but a crash sends a request twice."""

    def judge(has_crash: bool) -> None:  # noqa: FBT001 - as Scene has it
        stage.rest()
        stage.check(may_repeat=has_crash)

    return judge
