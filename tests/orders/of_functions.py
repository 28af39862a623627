"""Small worlds in which two functions work at once."""

from tests.fakes.notified import TOLD
from tests.fakes.policies import add_policy
from tests.fakes.world import NOON
from tests.orders.beginnings import at_hand, rested, sweeper, two_jobs
from tests.orders.engine import Actor, Scene, Steps
from tests.orders.stage import Stage

from sweephand.base.instants import MINUTE_MS, SECOND_MS
from sweephand.model.attempt import Answer


def two_sweepers(steps: Steps) -> Scene:
    stage = two_jobs(steps)
    return stage.scene(
        Actor("sweeper", stage.sweep), Actor("other sweeper", stage.sweep), judge=rested(stage)
    )


def late_sweeper(steps: Steps) -> Scene:
    """The lease of a sweeper that was stopped has ended by the clock of the other one."""
    stage = two_jobs(steps)
    late = Actor("late sweeper", lambda: stage.sweep(ahead_ms=45 * SECOND_MS))

    def judge(_: bool) -> None:  # noqa: FBT001 - as Scene has it
        stage.rest()
        stage.ledger.check(stage.clock.time)
        stage.consumers.attempts.clear()
        stage.consumers.times.clear()
        stage.run_until(stage.clock.time + 5 * MINUTE_MS)
        # A chain that doubled would go on sending everything twice.
        assert len(set(stage.consumers.ids)) == len(stage.consumers.ids), "a chain has doubled"

    return stage.scene(sweeper(stage), late, judge=judge)


def delivery_with_a_crash(steps: Steps) -> Scene:
    """SQS shows the message of a second attempt to two functions."""
    stage = Stage(steps)
    stage.consumers.answering = lambda _: Answer(succeeded=False, code=503)
    stage.deliver(at_hand(stage))
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


def pack_half_done(steps: Steps) -> Scene:
    """A sweeper commits after one timer of a pack, and does the others. The job of the first is deleted."""
    stage = Stage(steps)
    for number in range(3):
        stage.put(f"job-{number}", schedule="@every 100s", data=str(number))
    stage.clock.time += 4 * MINUTE_MS
    stage.sweep()
    stage.clock.time += 2 * MINUTE_MS
    [lease] = stage.leases.state().leases
    # After that many claims without a commit, a sweeper tries a single timer.
    stage.leases._leases[0] = lease._replace(tries=7)
    delete = Actor("delete", lambda: stage.delete("job-0"))
    return stage.scene(sweeper(stage), delete, judge=rested(stage))


def gate_with_two_holders(steps: Steps) -> Scene:
    """Two functions have a trigger each under a policy that lets one request be open."""
    stage = Stage(steps)
    add_policy(stage, 1)
    stage.takes_slots = True
    batch = at_hand(stage, policy="mailer")
    stage.consumers.answering = stage.answer_later

    def judge(has_crash: bool) -> None:  # noqa: FBT001 - as Scene has it
        rested(stage)(has_crash)
        assert stage.open_max <= 1, f"{stage.open_max} requests were open"

    return stage.scene(
        Actor("one function", lambda: stage.deliver(batch[:1])),
        Actor("other function", lambda: stage.deliver(batch[1:])),
        judge=judge,
    )


def end_of_a_batch(steps: Steps) -> Scene:
    """Two functions have the two triggers of a batch."""
    stage = Stage(steps)
    stage.put("job-0", dueTime="10s", batch={"count": 2}, onComplete=TOLD)
    stage.clock.time = NOON + 10 * SECOND_MS
    batch = stage.queue.take()

    def judge(has_crash: bool) -> None:  # noqa: FBT001 - as Scene has it
        stage.rest()
        stage.check_repetitions(may_repeat=has_crash)
        attempts = stage.consumers.attempts
        assert {each.trigger.index for each in attempts if each.ended_after is None} == {0, 1}, "one is lost"
        ends = {each.id for each in attempts if each.ends_batch}
        assert len(ends) == 1, f"the end of the batch was told as {ends}"

    return stage.scene(
        Actor("one function", lambda: stage.deliver(batch[:1])),
        Actor("other function", lambda: stage.deliver(batch[1:])),
        judge=judge,
    )
