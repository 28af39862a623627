"""Notifications: each recorded end of a run is notified at least once, and no end that was not recorded."""

import json
from dataclasses import replace

import pytest
from tests.fakes.acceptance import ACCEPTED, RUN, cancel, running
from tests.fakes.deliveries import FAILED, due, handle, run_of
from tests.fakes.faults import calls_of, failing, meanwhile, working
from tests.fakes.notified import TOLD, by_target, told
from tests.fakes.world import NOON, World, key_of

from sweephand.base.errors import StoreError
from sweephand.base.timing import ATTEMPT_CLAIM_MS
from sweephand.model.attempt import Answer
from sweephand.model.trigger import DeadlineMessage, NotifyMessage
from sweephand.model.wire import decode
from sweephand.runs.notification import body_of, notification_of

MINUTE = 60_000
HOUR = 60 * MINUTE
FINAL = FAILED._replace(code=422, is_final=True)


def delivered(world: World) -> list[int]:
    """The numbers of the attempts at the trigger."""
    return [each.number for each in world.consumers.attempts if each.ended_after is None]


@pytest.mark.parametrize("history", ["outcome", "full", "failures"])
def test_the_notification_of_a_success_has_all_its_fields(world: World, history: str) -> None:
    message = due(world, onComplete=TOLD, history=history)
    assert handle(world, message).name == "succeeded"
    world.run_until(NOON + 11_000, ticking=False)
    assert (
        told(world)
        == [
            {
                "namespace": "ns",
                "job": "job",
                "runId": RUN,
                "triggerId": message.trigger.id,
                "state": "succeeded",
                "dueAt": "2026-11-21T12:00:10.000Z",
                "startedAt": "2026-11-21T12:00:10.000Z",
                "endedAt": "2026-11-21T12:00:10.000Z",
                "attempts": 1,
                "responseCode": 200 if world.consumers.attempts[0].number == 1 else None,
                "reason": None,
            }
        ]
        or told(world)[0]["responseCode"] == 204
    )
    (telling,) = (each for each in world.consumers.attempts if each.ended_after is not None)
    assert telling.spec == TOLD
    assert telling.id == f"{message.trigger.id}-end-1"


def test_a_failure_is_notified_when_retrying_ends_and_not_before(world: World) -> None:
    message = due(world, onComplete=TOLD, retry={"maxAttempts": 2})
    by_target(world, lambda _: FAILED)
    handle(world, message)
    assert not told(world)
    world.run_until(NOON + MINUTE, ticking=False)
    (end,) = told(world)
    assert (end["state"], end["attempts"], end["responseCode"]) == ("failed", 2, 503)
    assert end["reason"] == "Attempt 2 of 2 failed: Response 503."


def test_a_job_without_on_complete_sends_no_notification(world: World) -> None:
    message = due(world)
    assert "before queue.send" not in calls_of(world, lambda: handle(world, message))


def test_the_notification_is_sent_before_the_end_is_recorded() -> None:
    for answer in (Answer(succeeded=True, code=200), FINAL):
        world = World()
        message = due(world, onComplete=TOLD)
        by_target(world, lambda _, answer=answer: answer)  # type: ignore[misc]
        calls = calls_of(world, lambda: handle(world, message))  # noqa: B023 - called within this turn
        assert calls.index("after queue.send") < calls.index("before runs.record")


@pytest.mark.parametrize("end", ["complete", "cancel", "fail", "silence"])
def test_the_end_of_an_asynchronous_run_is_notified(world: World, end: str) -> None:
    worker = running(world, onComplete=TOLD, retry={"maxAttempts": 1}, heartbeatTimeout="1m")
    by_target(world, worker.accept)
    if end == "complete":
        worker.complete()
    elif end == "cancel":
        cancel(world)
    elif end == "fail":
        worker.fail()
    world.run_until(NOON + 10 * MINUTE)
    (notice,) = told(world)
    expected = {"complete": "succeeded", "cancel": "cancelled", "fail": "failed", "silence": "failed"}
    assert notice["state"] == expected[end] == run_of(world).state


def test_each_end_of_a_redriven_run_has_a_notification_with_an_id_of_its_own(world: World) -> None:
    message = due(world, onComplete=TOLD, retry={"maxAttempts": 1})
    by_target(world, lambda attempt: FAILED if attempt.number == 1 else Answer(succeeded=True, code=200))
    handle(world, message)
    world.run_until(NOON + MINUTE, ticking=False)
    world.redrive(RUN)
    world.run_until(NOON + 2 * MINUTE, ticking=False)
    assert [(each["state"], each["attempts"]) for each in told(world)] == [("failed", 1), ("succeeded", 2)]
    ids = [each.id for each in world.consumers.attempts if each.ended_after is not None]
    assert ids == [f"{message.trigger.id}-end-1", f"{message.trigger.id}-end-2"]


def test_a_failure_that_is_redriven_before_its_notification_is_notified_all_the_same(world: World) -> None:
    message = due(world, onComplete=TOLD, retry={"maxAttempts": 1})
    by_target(world, lambda attempt: FAILED if attempt.number == 1 else Answer(succeeded=True, code=200))
    handle(world, message)
    ((at, notice),) = world.queue.waiting
    world.queue.waiting.clear()
    world.redrive(RUN)
    world.run_until(NOON + MINUTE, ticking=False)
    world.queue.waiting = [(at, notice)]
    world.run_until(NOON + 2 * MINUTE, ticking=False)
    assert [each["state"] for each in told(world)] == ["succeeded", "failed"]


@pytest.mark.parametrize("redrives", [1, 2])
def test_no_notification_is_delivered_of_a_round_that_went_on_after_it_was_given_up(redrives: int) -> None:
    world = World()
    message = due(world, onComplete=TOLD, retry={"maxAttempts": 2, "initialDelay": "1s"})
    by_target(world, lambda attempt: FAILED if attempt.number < 5 else Answer(succeeded=True, code=200))
    handle(world, message)
    world.run_until(NOON + MINUTE, ticking=False)
    (end,) = (each for each in world.consumers.attempts if each.ended_after is not None)
    # The function that made the first attempt gave up, sent a notification, and crashed.
    given_up = NotifyMessage(message.trigger, "failed", 1, NOON, NOON + 1, 503, "gave up", NOON + 1)
    for round_number in range(1, redrives + 1):
        world.redrive(RUN)
        world.run_until(NOON + (1 + round_number) * MINUTE, ticking=False)
    world.queue.send([(given_up, 0), (given_up._replace(attempts=2), 0)])
    world.run_until(NOON + 5 * MINUTE, ticking=False)
    assert end.ended_after == 2
    assert 1 not in [each["attempts"] for each in told(world)]
    assert [each["attempts"] for each in told(world)].count(2) == 2


def test_a_notification_is_retried_by_the_default_policy_and_becomes_a_dead_letter(world: World) -> None:
    message = due(world, onComplete=TOLD, retry={"maxAttempts": 1})
    by_target(world, lambda _: Answer(succeeded=True, code=200), lambda _: FAILED)
    handle(world, message)
    world.run_until(NOON + 24 * HOUR, ticking=False)
    assert len(told(world)) == 10
    assert delivered(world) == [1]
    ((letter, _),) = world.queue.buried
    assert (
        letter.reason == "The onComplete target could not be notified. Attempt 10 of 10 failed: Response 503."
    )
    assert isinstance(decode(letter.body), NotifyMessage)
    assert run_of(world).state == "succeeded"


def test_a_notified_consumer_that_is_gone_gets_no_retry_and_the_job_goes_on(world: World) -> None:
    message = due(world, onComplete=TOLD)
    by_target(
        world,
        lambda _: Answer(succeeded=True, code=200),
        lambda _: Answer(succeeded=False, code=410, is_final=True),
    )
    handle(world, message)
    world.run_until(NOON + HOUR, ticking=False)
    assert len(told(world)) == 1
    job = world.stored()
    assert job.paused_at is None


def test_a_pause_does_not_hold_back_the_notification_of_its_cause(world: World) -> None:
    message = due(world, onComplete=TOLD, onError="pause")
    by_target(world, lambda _: FINAL)
    handle(world, message)
    world.run_until(NOON + MINUTE, ticking=False)
    assert [each["state"] for each in told(world)] == ["failed"]


@pytest.mark.parametrize("becomes", ["deleted", "another", "silent"])
def test_a_notification_of_a_job_that_is_gone_or_has_no_on_complete_is_dropped(becomes: str) -> None:
    world = World()
    message = due(world, onComplete=TOLD)
    handle(world, message)
    if becomes == "silent":
        world.put(dueTime="5h")
    else:
        world.delete()
    if becomes == "another":
        world.put(dueTime="5h", onComplete=TOLD)
    world.queue.waiting = [each for each in world.queue.waiting if isinstance(each[1], NotifyMessage)]
    world.run_until(NOON + MINUTE, ticking=False)
    assert not told(world)


def test_no_notification_is_sent_for_a_job_that_is_deleted_while_the_connection_is_made(world: World) -> None:
    handle(world, due(world, onComplete=TOLD))

    def slow() -> None:
        world.clock.time += 2_000
        world.delete()

    world.consumers.connecting = slow
    (handled,) = world.deliver(world.queue.take())
    assert handled.outcome.name == "dropped"
    assert not told(world)


def test_the_body_of_a_notification_is_always_small(world: World) -> None:
    worker = running(world, onComplete=TOLD, retry={"maxAttempts": 1})
    by_target(world, worker.accept)
    worker.fail(reason="\x00\ud800\U0001f600" * 150)
    world.run_until(NOON + 12_000, ticking=False)
    run = replace(run_of(world), key=key_of("x" * 128)._replace(namespace="y" * 128))
    body = body_of(notification_of(run, world.clock.time))
    assert len(body) < 2_048
    json.loads(body)


def test_the_notification_carries_the_result_byte_for_byte_or_null() -> None:
    for result in ('{"price":1.50,"rows":12}', None):
        world = World()
        worker = running(world, onComplete=TOLD)
        by_target(world, lambda _: ACCEPTED)
        world.callbacks().complete(key_of(), RUN, worker.tokens[0], result=result)
        world.run_until(NOON + MINUTE)
        (attempt,) = (each for each in world.consumers.attempts if each.ended_after is not None)
        assert f'"result":{result or "null"}}}'.encode() in attempt.body


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
