"""Triggers that crash the delivery function or that it fails to handle: they are counted, and they end."""

from contextlib import suppress
from functools import partial
from typing import Any

import pytest
from tests.fakes.deliveries import LARGE, due, handle, run_of, waiting
from tests.fakes.faults import crashing, failing, meanwhile, working
from tests.fakes.world import NOON, World, key_of

from sweephand.base.errors import ConflictError, StoreError
from sweephand.base.instants import MINUTE_MS
from sweephand.base.timing import ATTEMPT_CLAIM_MS
from sweephand.model.attempt import Answer
from sweephand.model.trigger import TriggerMessage
from sweephand.model.wire import decode, encode
from sweephand.runs.faults import CRASHES_MAX, FAULTS_MAX
from sweephand.runs.received import Received


def received_when_due(**written: Any) -> tuple[World, list[Received]]:
    """A world with a job that is due now, and the batch in which the queue shows it."""
    world = World()
    world.put("job", dueTime="10s", **written)
    world.clock.time = NOON + 10_000
    return world, world.queue.take()


def test_every_copy_of_a_trigger_carries_its_count_of_crashes() -> None:
    world, batch = received_when_due(history="full")
    failing(world, "runs.claim")
    world.deliver([batch[0]._replace(receives=3)])
    ((_, copy),) = world.queue.waiting
    assert isinstance(copy, TriggerMessage)
    assert copy.crashes == 2
    world.clock.time += 1_000
    (received,) = world.queue.take()
    world.deliver([received._replace(receives=2)])
    ((_, copy),) = world.queue.waiting
    assert isinstance(copy, TriggerMessage)
    assert (copy.crashes, decode(encode(copy))) == (3, copy)


def test_the_next_attempt_begins_with_no_crashes() -> None:
    world, batch = received_when_due()
    world.consumers.answering = lambda _: Answer(succeeded=False, code=503)
    world.deliver([batch[0]._replace(receives=3)])
    ((_, following),) = world.queue.waiting
    assert isinstance(following, TriggerMessage)
    assert (following.attempt, following.crashes) == (2, 0)


def test_the_claim_of_a_crashed_function_is_ended_though_the_job_claims_no_more() -> None:
    world, batch = received_when_due(history="full")
    world.announce = crashing
    with suppress(KeyboardInterrupt):
        world.deliver(batch)
    working(world)
    world.put("job", dueTime="10s", history="failures")
    world.clock.time += ATTEMPT_CLAIM_MS
    world.deliver([batch[0]._replace(receives=2)])
    run = world.runs.get(key_of(), f"{NOON + 10_000}-0")
    assert run is not None
    assert run.state == "succeeded"


def test_a_trigger_that_waits_for_days_is_not_given_up_for_crashes_of_other_messages() -> None:
    world, (received,) = received_when_due()
    world.pause()
    for _ in range(3 * CRASHES_MAX):
        # Its neighbours crash the function, or it is throttled: what is held comes round every quarter hour.
        world.deliver([received._replace(receives=2)])
        assert not world.queue.buried
        world.clock.time = max(at for at, _ in world.queue.waiting)
        (received,) = world.queue.take()
    world.resume()
    world.deliver([received])
    assert world.consumers.dues == {NOON + 10_000}


def test_a_trigger_that_was_held_still_ends_the_claim_of_a_crashed_function() -> None:
    world, batch = received_when_due(history="full")
    world.announce = crashing
    with suppress(KeyboardInterrupt):
        world.deliver(batch)
    working(world)
    world.pause()
    world.clock.time += ATTEMPT_CLAIM_MS
    world.deliver([batch[0]._replace(receives=2)])
    world.patch(history="failures")
    world.resume()
    world.run_until(world.clock.time + ATTEMPT_CLAIM_MS)
    run = world.runs.get(key_of(), f"{NOON + 10_000}-0")
    assert run is not None
    assert run.state == "succeeded"


def test_a_trigger_is_delivered_however_often_lambda_could_start_no_function_for_it() -> None:
    world, batch = received_when_due(history="outcome")
    world.deliver([batch[0]._replace(receives=40)])
    assert [attempt.number for attempt in world.consumers.attempts] == [1]
    assert not world.queue.buried
    run = world.runs.get(key_of(), f"{NOON + 10_000}-0")
    assert run is not None
    assert run.state == "succeeded"


def test_a_trigger_that_crashes_functions_is_given_up_though_lambda_often_started_none() -> None:
    world, batch = received_when_due()
    world.announce = crashing
    with suppress(KeyboardInterrupt):
        world.deliver([batch[0]._replace(receives=40)])
    working(world)
    world.clock.time += ATTEMPT_CLAIM_MS
    world.deliver([batch[0]._replace(receives=41)])
    assert len(world.queue.buried) == 1
    run = world.runs.get(key_of(), f"{NOON + 10_000}-0")
    assert run is not None
    assert run.state == "failed"


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
    job = world.stored()
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


def crashed_after_its_claim(**written: Any) -> tuple[World, list[Received]]:
    """A world with an asynchronous job, and its triggers. The first trigger has crashed its last function."""
    world, batch = received_when_due(completion="async", **written)
    world.announce = crashing
    with suppress(KeyboardInterrupt):
        world.deliver([batch[0]._replace(receives=CRASHES_MAX)])
    working(world)
    world.clock.time += ATTEMPT_CLAIM_MS
    return world, [batch[0]._replace(receives=CRASHES_MAX + 1), *batch[1:]]


def test_an_asynchronous_run_whose_trigger_crashes_functions_has_failed() -> None:
    world, (crasher,) = crashed_after_its_claim()
    token = run_of(world).token
    world.deliver([crasher])
    run = run_of(world)
    assert (run.state, run.reason) == (
        "failed",
        f"Sweephand failed to handle it: {CRASHES_MAX} functions crashed while handling it.",
    )
    assert token is not None
    with pytest.raises(ConflictError):
        world.callbacks().complete(run.key, run.run_id, token)
    assert len(world.queue.buried) == 1


def test_a_callback_that_comes_before_its_run_is_given_up_rules() -> None:
    world, (crasher,) = crashed_after_its_claim(onError="pause")
    run = run_of(world)
    assert run.token is not None
    completed = partial(world.callbacks().complete, run.key, run.run_id, run.token)
    meanwhile(world, "before runs.move", completed)
    world.deliver([crasher])
    assert (run_of(world).state, world.stored().paused_at) == ("succeeded", None)


def test_an_asynchronous_run_that_cannot_be_handled_has_failed() -> None:
    world, batch = received_when_due(completion="async", data=LARGE)
    failing(world, "payloads.get")
    while not world.queue.buried:
        world.deliver(batch)
        world.clock.time = max([world.clock.time, *(at for at, _ in world.queue.waiting)])
        batch = world.queue.take()
    assert run_of(world).state == "failed"


def test_a_batch_ends_although_one_of_its_asynchronous_triggers_crashed_functions() -> None:
    target = {"type": "http", "url": "https://ops.example/done"}
    world, (crasher, other) = crashed_after_its_claim(batch={"count": 2}, onComplete=target)
    world.deliver([other])
    world.deliver([crasher])
    world.run_until(world.clock.time + MINUTE_MS)
    assert [each.ends_batch for each in world.consumers.attempts][-1]
