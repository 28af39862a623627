"""A notification tells of an end that was recorded, whatever fails, is killed or happens at once."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.fakes.acceptance import ACCEPTED, RUN, running
from tests.fakes.deliveries import FAILED, due, handle, meanwhile, run_of
from tests.fakes.faults import failing, kill_everywhere, working
from tests.fakes.interleave import every_interleaving
from tests.fakes.notified import TOLD, by_target, told
from tests.fakes.world import NOON, World, key_of

from sweephand.base.errors import ConflictError, GoneError, StoreError
from sweephand.base.timing import ATTEMPT_CLAIM_MS
from sweephand.model.attempt import Answer, Attempt
from sweephand.model.trigger import DeadlineMessage, NotifyMessage

MINUTE = 60_000
HOUR = 60 * MINUTE
FINAL = FAILED._replace(code=422, is_final=True)


def test_a_notification_waits_for_an_end_that_is_not_recorded_yet() -> None:
    world = World()
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


def test_a_notification_of_an_end_of_minutes_ago_waits_for_the_record_too() -> None:
    world = World()
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

    meanwhile(world, "before runs.move", tell)
    assert handle(world, check).name == "failed"
    assert outcomes == ["premature"]
    world.run_until(world.clock.time + MINUTE, ticking=False)
    assert [each["state"] for each in told(world)] == ["failed"]
    assert told(world)[0]["endedAt"] == "2026-11-21T12:02:00.000Z"


def test_no_notification_is_delivered_of_a_failure_that_was_not_recorded() -> None:
    world = World()
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


def test_no_notification_is_delivered_of_an_end_that_never_happened() -> None:
    world = World()
    worker = running(world, onComplete=TOLD)
    by_target(world, worker.accept)
    failing(world, "runs.move", times=1)
    with pytest.raises(StoreError):
        worker.complete()
    working(world)
    for _ in range(20):
        world.run_until(world.clock.time + 20_000)
        worker.heartbeat()
    assert world.clock.time - NOON > ATTEMPT_CLAIM_MS
    assert run_of(world).state == "running"
    assert not told(world)
    assert not any(isinstance(each, NotifyMessage) for _, each in world.queue.waiting)
    worker.complete()
    world.run_until(world.clock.time + MINUTE)
    assert [each["state"] for each in told(world)] == ["succeeded"]


SCENES: dict[str, tuple[dict[str, Any], Callable[[Attempt], Answer], str]] = {
    "success": ({}, lambda _: Answer(succeeded=True, code=200), "succeeded"),
    "success, fully recorded": ({"history": "full"}, lambda _: Answer(succeeded=True, code=200), "succeeded"),
    "given up": ({}, lambda _: FINAL, "failed"),
    "given up, fully recorded": ({"history": "full"}, lambda _: FINAL, "failed"),
}


@pytest.mark.parametrize("scene", SCENES)
def test_an_end_is_notified_wherever_a_function_is_killed(scene: str) -> None:
    written, answer, state = SCENES[scene]

    def prepare(world: World) -> None:
        by_target(world, answer)
        world.put(dueTime="30s", onComplete=TOLD, **written)
        world.clock.time += 30_000

    def check(world: World) -> None:
        world.clock.time += 6 * MINUTE
        world.queue.reappear()
        world.run_until(world.clock.time + HOUR)
        assert run_of(world).state == state
        assert {each["state"] for each in told(world)} == {state}
        assert not world.queue.waiting

    def act(world: World) -> None:
        world.deliver(world.queue.take())
        world.deliver(world.queue.take())

    kill_everywhere(prepare, act, check)


def test_a_completion_and_a_deadline_at_once_notify_of_the_end_that_was_recorded() -> None:
    def prepare() -> World:
        world = World()
        worker = running(world, onComplete=TOLD, retry={"maxAttempts": 1}, heartbeatTimeout="1m")
        by_target(world, lambda _: ACCEPTED)
        ((_, deadline),) = world.queue.waiting
        world.clock.time = deadline.not_before  # type: ignore[union-attr]
        world.queue.waiting = [(world.clock.time, deadline)]
        TOKENS[id(world)] = worker.tokens[0]
        return world

    def look(world: World) -> None:
        world.deliver(world.queue.take(1))

    def complete(world: World) -> None:
        try:
            world.callbacks().complete(key_of(), RUN, TOKENS[id(world)])
        except (ConflictError, GoneError):
            assert run_of(world).state == "failed" or run_of(world).is_ending

    def check(world: World) -> None:
        world.run_until(world.clock.time + HOUR)
        assert {each["state"] for each in told(world)} == {run_of(world).state}

    assert every_interleaving(prepare, look, complete, check) > 5


TOKENS: dict[int, str] = {}
