"""Triggers that wait while their job is updated more often than it keeps revisions."""

import pytest
from tests.fakes.deliveries import answers, change, due, handle, run_of, waiting
from tests.fakes.faults import meanwhile
from tests.fakes.lines import FAILED, MINUTE, delivered, message_of, states, triggers
from tests.fakes.world import NOON, World

from sweephand.base.timing import REVISION_RETENTION_MS
from sweephand.model.job import Revision, RevisionName
from sweephand.runs.received import OutcomeName


def updated(world: World) -> None:
    """The job was updated so often, and fired so often between, that it filed its earlier revisions."""
    world.patch(description="the last of many updates")
    job = world.stored()
    for each in job.earlier:
        world.jobs.file(RevisionName(job.key, job.uid, each.rev), each)
    change(world, earlier=())


def test_a_trigger_that_waits_for_another_run_is_owed_however_often_its_job_is_updated(world: World) -> None:
    first, second = triggers(world, "wait", 0, 1, retry={"initialDelay": "40s", "multiplier": 1})
    answers(world, FAILED)
    for message in (first, second):
        world.clock.time = message.not_before
        handle(world, message)
    updated(world)
    world.run_until(NOON + 20 * MINUTE)
    assert delivered(world)[:3] == [0, 0, 1]
    assert states(world)[1] == "succeeded"


def test_a_trigger_that_was_woken_is_owed_though_its_job_was_updated_often(world: World) -> None:
    first, second = triggers(world, "wait", 0, 1)
    world.clock.time = NOON + 1_000
    meanwhile(world, "before consumers.deliver", lambda: handle(world, second))
    handle(world, first)
    updated(world)
    (woken,) = [each for at, each in waiting(world) if at <= world.clock.time - NOON and each.is_owed]
    assert handle(world, woken).name == "succeeded"


def test_a_trigger_that_a_pause_holds_is_owed_however_often_its_job_is_updated(world: World) -> None:
    message = due(world)
    world.pause()
    assert handle(world, message).name == "held"
    updated(world)
    world.resume()
    world.run_until(NOON + 20 * MINUTE)
    assert run_of(world).state == "succeeded"


def test_a_trigger_of_a_pause_is_not_owed_by_an_unknown_revision(world: World) -> None:
    message = due(world)
    change(world, paused_at=message.trigger.due_at - 1)
    assert handle(world, message).name == "held"
    ((_, held),) = waiting(world)
    world.queue.waiting.clear()
    world.resume(mode="none")
    updated(world)
    world.clock.time += 2 * MINUTE
    assert handle(world, held).name == "dropped"


def test_a_trigger_that_has_not_waited_is_not_owed_by_an_unknown_revision(world: World) -> None:
    message = due(world)
    updated(world)
    world.clock.time += 2 * MINUTE
    assert handle(world, message).name == "dropped"


@pytest.mark.parametrize(("ended_ms", "outcome"), [(-1, "dropped"), (0, "succeeded")])
def test_a_trigger_that_waited_is_judged_again_by_the_forgotten_revision(ended_ms: int, outcome: str) -> None:
    world = World()
    waited = due(world).waiting()
    trigger = waited.trigger
    until = trigger.due_at + ended_ms
    name = RevisionName(trigger.key, trigger.uid, trigger.rev)
    world.jobs.file(name, Revision(trigger.rev, trigger.due_at - MINUTE, until))
    world.patch(description="one of many updates")
    change(world, earlier=(Revision("2-x", until, trigger.due_at + MINUTE),))
    world.clock.time += 2 * MINUTE
    assert handle(world, waited).name == outcome


def _woken_after(world: World, *kept: str, waited_ms: int = 2 * MINUTE) -> OutcomeName:
    """The outcome of a trigger of revision 1 that waited. Its job is at revision 4 and keeps these."""
    waited = due(world).waiting()
    due_at = waited.trigger.due_at
    world.patch(description="one of many updates")
    change(
        world,
        current=Revision("4-d", due_at - 1),
        earlier=tuple(Revision(each, due_at - MINUTE, due_at + MINUTE) for each in kept),
    )
    world.clock.time += waited_ms
    return handle(world, waited).name


@pytest.mark.parametrize("kept", [("0-z",), ("0-z", "2-b"), ("2-b",)])
def test_a_trigger_that_waited_is_not_owed_by_a_revision_that_its_job_left_out(kept: tuple[str, ...]) -> None:
    assert _woken_after(World(), *kept) == "dropped"


def test_a_trigger_that_waited_longer_than_its_revision_is_filed_is_still_owed() -> None:
    assert _woken_after(World(), "2-b", waited_ms=REVISION_RETENTION_MS) == "succeeded"


def test_a_trigger_that_waits_is_not_owed_any_more_when_its_job_is_deleted(world: World) -> None:
    first, second = triggers(world, "wait", 0, 1, retry={"initialDelay": "40s", "multiplier": 1})
    answers(world, FAILED)
    for message in (first, second):
        world.clock.time = message.not_before
        handle(world, message)
    waits = message_of(world.stored(), 1)._replace(is_owed=True)
    world.delete()
    world.clock.time += 2 * MINUTE
    assert handle(world, waits).name == "dropped"
