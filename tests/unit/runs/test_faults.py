"""Triggers that Sweephand has claimed and then fails to handle."""

import pytest
from tests.fakes.deliveries import LARGE, due, handle, run_of, waiting
from tests.fakes.faults import failing, working
from tests.fakes.world import NOON, World, key_of

from sweephand.base.errors import StoreError
from sweephand.model.trigger import TriggerMessage
from sweephand.model.wire import encode
from sweephand.runs.faults import FAULTS_MAX
from sweephand.runs.received import Received

RUN = f"{NOON + 10_000}-0"


def test_a_trigger_is_not_given_up_while_another_function_holds_its_claim(world: World) -> None:
    message = due(world, history="full")
    failing(world, "consumers.deliver", times=1)
    with pytest.raises(StoreError):
        handle(world, message)
    working(world)
    held = run_of(world)
    world.announce = unreadable
    world.queue.waiting.clear()
    (handled,) = world.deliver([Received("1", "1", 1, encode(message._replace(faults=FAULTS_MAX)))])
    assert (handled.outcome.name, world.queue.buried) == ("fault", [])
    assert run_of(world) == held
    ((at, again),) = waiting(world)
    assert NOON + at == held.claimed_until
    world.clock.time = NOON + at - 1_000
    assert world.deliver(received_of(again))[0].outcome.name == "claimed"
    assert run_of(world) == held


def test_a_trigger_that_was_claimed_before_each_fault_is_given_up_and_can_be_redriven(world: World) -> None:
    batch = received_of(due(world, history="full", data=LARGE, onError="pause"))
    failing(world, "payloads.get")
    while not world.queue.buried:
        world.deliver(batch)
        world.clock.time = max([world.clock.time, *(at for at, _ in world.queue.waiting)])
        batch = world.queue.take()
    run = run_of(world)
    assert run.state == "failed"
    assert f"handling it failed {FAULTS_MAX + 1} times" in (run.reason or "")
    job = world.jobs.get(key_of())
    assert job is not None
    assert job.pause_reason is not None
    working(world)
    world.redrive(RUN)
    world.run_until(world.clock.time + 20_000, ticking=False)
    assert run_of(world).state == "succeeded"


def unreadable(call: str) -> None:
    """Jobs cannot be read."""
    if call.startswith("before jobs."):
        raise StoreError("throttled")


def received_of(message: TriggerMessage) -> list[Received]:
    return [Received("1", "1", 1, encode(message))]
