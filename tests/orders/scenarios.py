"""The small worlds: two jobs, two actors, and the mutation that each world must catch."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from tests.fakes.world import NOON
from tests.orders.engine import Actor, Scene, Steps
from tests.orders.stage import Stage

from sweephand.base.instants import MINUTE_MS, SECOND_MS
from sweephand.model.attempt import Answer
from sweephand.runs.received import Received

Build = Callable[[Steps], Scene]

#: A delivery may have read its job this long before its request.
_READ_AGE_MS: Final = SECOND_MS + 1


@dataclass(frozen=True, slots=True)
class Scenario:
    """A small world. `mutation` names the way to break production code that it catches."""

    build: Build
    mutation: str


def _two_jobs(steps: Steps, after_ms: int = 4 * MINUTE_MS) -> Stage:
    """Two jobs whose next triggers lie in the wheel, within a sweep's reach."""
    stage = Stage(steps)
    for number in range(2):
        stage.put(f"job-{number}", schedule=f"@every {50 + number}s", data=str(number))
    stage.clock.time += after_ms
    return stage


def _sweep(stage: Stage) -> Actor:
    return Actor("sweeper", stage.sweep)


def _rested(stage: Stage) -> Callable[[bool], None]:
    """The judge of a world in which nothing but a crash sends a request twice."""

    def judge(has_crash: bool) -> None:  # noqa: FBT001 - as Scene has it
        stage.rest()
        stage.check(may_repeat=has_crash)

    return judge


def create_against_sweep(steps: Steps) -> Scene:
    stage = _two_jobs(steps)
    create = Actor("create", lambda: stage.put("job-2", schedule="@every 70s"))
    return stage.scene(create, _sweep(stage), judge=_rested(stage))


def update_against_sweep(steps: Steps) -> Scene:
    stage = _two_jobs(steps, 6 * MINUTE_MS)
    update = Actor("update", lambda: stage.put("job-0", schedule="@every 35s", data='"new"'))
    return stage.scene(update, _sweep(stage), judge=_rested(stage))


def _at_hand(stage: Stage, **written: Any) -> list[Received]:
    """Bring the triggers of two jobs to where their delivery may begin. Returns their messages."""
    for number in range(2):
        stage.put(f"job-{number}", **{"dueTime": "10s", "data": str(number), **written})
    stage.clock.time = NOON + 10 * SECOND_MS
    return stage.queue.take()


def delete(steps: Steps) -> Scene:
    stage = Stage(steps)
    batch = _at_hand(stage)

    def remove() -> None:
        stage.delete("job-0")
        stage.pass_time(_READ_AGE_MS)

    deliver = Actor("delivery", lambda: stage.deliver(batch))
    return stage.scene(Actor("delete", remove), deliver, judge=_rested(stage))


def pause_and_resume(steps: Steps) -> Scene:
    stage = Stage(steps)
    batch = _at_hand(stage)

    def pause() -> None:
        stage.pause("job-0")
        stage.pass_time(_READ_AGE_MS)
        stage.resume("job-0", mode="all")

    def judge(has_crash: bool) -> None:  # noqa: FBT001 - as Scene has it
        if stage.stored("job-0").paused_at is not None:
            stage.resume("job-0", mode="all")
        stage.rest(minutes=20)
        stage.check(may_repeat=has_crash)

    deliver = Actor("delivery", lambda: stage.deliver(batch))
    return stage.scene(Actor("client", pause), deliver, judge=judge)


def two_sweepers(steps: Steps) -> Scene:
    stage = _two_jobs(steps)
    return stage.scene(
        Actor("sweeper", stage.sweep), Actor("other sweeper", stage.sweep), judge=_rested(stage)
    )


def late_sweeper(steps: Steps) -> Scene:
    """The lease of a sweeper that was stopped has ended by the clock of the other one."""
    stage = _two_jobs(steps)
    late = Actor("late sweeper", lambda: stage.sweep(ahead_ms=45 * SECOND_MS))

    def judge(_: bool) -> None:  # noqa: FBT001 - as Scene has it
        stage.rest()
        stage.ledger.check(stage.clock.time)
        stage.consumers.attempts.clear()
        stage.consumers.times.clear()
        stage.run_until(stage.clock.time + 5 * MINUTE_MS)
        # A chain that doubled would go on sending everything twice.
        assert len(set(stage.consumers.ids)) == len(stage.consumers.ids), "a chain has doubled"

    return stage.scene(_sweep(stage), late, judge=judge)


def delivery_with_a_crash(steps: Steps) -> Scene:
    """SQS shows the message of a second attempt to two functions."""
    stage = Stage(steps)
    stage.consumers.answering = lambda _: Answer(succeeded=False, code=503)
    stage.deliver(_at_hand(stage))
    stage.clock.time += 4 * SECOND_MS
    stage.queue.waiting = [(stage.clock.time, message) for _, message in stage.queue.waiting]
    stage.queue.copy()
    batch = stage.queue.take()
    stage.consumers.answering = lambda attempt: (
        Answer(succeeded=False, code=503) if attempt.number == 2 else Answer(succeeded=True, code=200)
    )

    def judge(has_crash: bool) -> None:  # noqa: FBT001 - as Scene has it
        stage.rest()
        stage.check(may_repeat=has_crash)
        for number in range(2):
            [run] = stage.runs.page(stage.stored(f"job-{number}").key, None, "", 10).items
            assert run.state == "succeeded", f"the run of job-{number} is {run.state}"

    return stage.scene(
        Actor("one function", lambda: stage.deliver(batch[:2])),
        Actor("other function", lambda: stage.deliver(batch[2:])),
        judge=judge,
    )


SCENARIOS: Final = {
    "create against sweep": Scenario(create_against_sweep, "commits_before_arming"),
    "update against sweep": Scenario(update_against_sweep, "commits_before_arming"),
    "pause and resume": Scenario(pause_and_resume, "drops_what_is_held"),
    "delete": Scenario(delete, "trusts_old_reads"),
    "two sweepers": Scenario(two_sweepers, "claims_what_is_held"),
    "late sweeper": Scenario(late_sweeper, "commits_before_succeeding"),
    "delivery with a crash": Scenario(delivery_with_a_crash, "records_before_retrying"),
}
