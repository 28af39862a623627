"""A notification tells of an end that was recorded, whatever fails, is killed or happens at once."""

import pytest
from tests.fakes.acceptance import running
from tests.fakes.deliveries import FAILED, due, handle, meanwhile, run_of
from tests.fakes.faults import failing, working
from tests.fakes.notified import TOLD, by_target, told
from tests.fakes.world import NOON, World

from sweephand.base.errors import StoreError
from sweephand.base.timing import ATTEMPT_CLAIM_MS
from sweephand.model.attempt import Answer
from sweephand.model.trigger import DeadlineMessage, NotifyMessage

MINUTE = 60_000
HOUR = 60 * MINUTE


def test_a_notification_waits_for_an_end_that_is_not_recorded_yet(world: World) -> None:
    worker = running(world, onComplete=TOLD)
    by_target(world, worker.accept)
    outcomes: list[str] = []

    def tell() -> None:
        (notice,) = (each for _, each in world.queue.waiting if isinstance(each, NotifyMessage))
        outcomes.append(handle(world, notice).name)

    meanwhile(world, "before runs.move", tell)
    worker.complete()
    assert outcomes == ["premature"]
    assert not told(world)
    world.run_until(NOON + MINUTE, ticking=False)
    assert {each["state"] for each in told(world)} == {"succeeded"}


def test_a_notification_of_an_end_of_minutes_ago_waits_for_the_record_too(world: World) -> None:
    worker = running(world, onComplete=TOLD, retry={"maxAttempts": 1}, heartbeatTimeout="1m")
    by_target(world, worker.accept)
    ((_, check),) = world.queue.waiting
    assert isinstance(check, DeadlineMessage)
    world.queue.waiting.clear()
    world.clock.time = NOON + 2 * MINUTE
    failing(world, "queue.send", times=1)
    with pytest.raises(StoreError):
        handle(world, check)
    working(world)
    assert run_of(world).is_ending
    world.clock.time += ATTEMPT_CLAIM_MS + MINUTE
    outcomes: list[str] = []

    def tell() -> None:
        (notice,) = (each for _, each in world.queue.waiting if isinstance(each, NotifyMessage))
        world.queue.waiting.clear()
        outcomes.append(handle(world, notice).name)

    # The first write closes the run to callbacks, and the notification is sent after that.
    meanwhile(world, "before runs.move", lambda: meanwhile(world, "before runs.move", tell))
    assert handle(world, check).name == "failed"
    assert outcomes == ["premature"]
    world.run_until(world.clock.time + MINUTE, ticking=False)
    assert [each["state"] for each in told(world)] == ["failed"]
    assert told(world)[0]["endedAt"] == "2026-11-21T12:02:00.000Z"


def test_no_notification_is_delivered_of_a_failure_that_was_not_recorded(world: World) -> None:
    message = due(world, onComplete=TOLD, retry={"maxAttempts": 1})
    by_target(world, lambda _: FAILED)
    failing(world, "runs.record", times=1)
    with pytest.raises(StoreError):
        handle(world, message)
    working(world)
    world.run_until(NOON + 30_000, ticking=False)
    assert not told(world)
    by_target(world, lambda _: Answer(succeeded=True, code=200))
    assert handle(world, message).name == "succeeded"
    world.run_until(NOON + HOUR, ticking=False)
    assert [each["state"] for each in told(world)] == ["succeeded"]
