"""Small worlds in which a client writes a job or a calendar while a function works."""

from typing import Final

from tests.orders.beginnings import at_hand, rested, sweeper, two_jobs
from tests.orders.engine import Actor, Scene, Steps
from tests.orders.stage import Stage
from tests.unit.jobs.test_calendars import DAILY, KEY, MONDAY, next_due, nine
from tests.unit.jobs.test_calendars import put as put_calendar

from sweephand.base.instants import MINUTE_MS, SECOND_MS

#: A delivery may have read its job this long before its request.
_READ_AGE_MS: Final = SECOND_MS + 1


def create_against_sweep(steps: Steps) -> Scene:
    stage = two_jobs(steps)
    create = Actor("create", lambda: stage.put("job-2", schedule="@every 70s"))
    return stage.scene(create, sweeper(stage), judge=rested(stage))


def update_against_sweep(steps: Steps) -> Scene:
    stage = two_jobs(steps, 6 * MINUTE_MS)
    update = Actor("update", lambda: stage.put("job-0", schedule="@every 35s", data='"new"'))
    return stage.scene(update, sweeper(stage), judge=rested(stage))


def delete(steps: Steps) -> Scene:
    stage = Stage(steps)
    batch = at_hand(stage)

    def remove() -> None:
        stage.delete("job-0")
        stage.pass_time(_READ_AGE_MS)

    deliver = Actor("delivery", lambda: stage.deliver(batch))
    return stage.scene(Actor("delete", remove), deliver, judge=rested(stage))


def pause_and_resume(steps: Steps) -> Scene:
    stage = Stage(steps)
    batch = at_hand(stage)

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


def calendar_that_changes(steps: Steps) -> Scene:
    """Monday becomes a closed day while another client creates a job that fires on Monday."""
    stage = Stage(steps)
    put_calendar(stage)
    stage.rest()
    stage.put("job-0", **DAILY)
    stage.clock.time = nine(2) - 10 * MINUTE_MS
    former = stage.calendars.get(KEY)

    def judge(_: bool) -> None:  # noqa: FBT001 - as Scene has it
        closes = stage.calendars.get(KEY) != former
        stage.rest()
        stage.check(may_repeat=False)
        for name in ("job-0", "job-1"):
            triggers = [each.trigger for each in stage.consumers.attempts]
            fired = {each.due_at for each in triggers if each.key.name == name}
            if stage.has_job(name):
                assert next_due(stage, name) == nine(3), f"{name} has not followed"
                assert fired == (set() if closes else {nine(2)}), f"{name} fired at {fired}"

    return stage.scene(
        Actor("calendar", lambda: put_calendar(stage, MONDAY)),
        Actor("create", lambda: stage.put("job-1", **DAILY)),
        judge=judge,
    )
