"""No retry begins later than `maxAge` allows, whatever it waited for. A first attempt is always owed."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from tests.contract.builders import policy
from tests.fakes.acceptance import ACCEPTED, Worker
from tests.fakes.deliveries import FAILED, answers, due, handle, run_of, waiting
from tests.fakes.faults import crashing, kill_everywhere, working
from tests.fakes.notified import TOLD, told
from tests.fakes.world import NOON, World, key_of

from sweephand.base.errors import ConflictError
from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS
from sweephand.base.timing import ATTEMPT_CLAIM_MS, MAX_AGE_GRACE_MS
from sweephand.model.attempt import Answer, Attempt
from sweephand.model.policy import PolicyKey
from sweephand.model.trigger import NotifyMessage, TriggerMessage

BRIEF: dict[str, Any] = {"retry": {"maxAge": "10m", "initialDelay": "2m"}}
FIRST_AT = NOON + 10_000
LAST_AT = FIRST_AT + 10 * MINUTE_MS + MAX_AGE_GRACE_MS
REASON = (
    "Attempt 2 could not be made within retry.maxAge of the first one. The failure before it: Response 503."
)


def retrying(world: World, **written: Any) -> TriggerMessage:
    """A job whose first attempt has failed at FIRST_AT. Returns the message of the second attempt."""
    message = due(world, **BRIEF, **written)
    answers(world, FAILED)
    assert handle(world, message).name == "retrying"
    ((_, following),) = waiting(world)
    return following


def numbers(world: World) -> list[int]:
    """The numbers of the attempts at the trigger."""
    return [each.number for each in world.consumers.attempts if each.ended_after is None]


def switched_off(world: World, until: int) -> None:
    world.is_enabled = False
    world.run_until(until)
    world.is_enabled = True


def standing_still(world: World, until: int) -> None:
    world.clock.time = until


def behind_another_run(world: World, until: int) -> None:
    """The policy of the job lets one request leave at a time, and another job holds its permit."""
    world.namespaces.enlist("ns")
    world.flow_functions_max = 2
    assert world.policies.put(replace(policy(1), key=PolicyKey("ns", "mailer")), None)
    world.consumers.answering = lambda _: ACCEPTED
    held: dict[str, Any] = {"completion": "async", "heartbeatTimeout": "1d", "maxRunTime": "1d"}
    world.put("holder", dueTime="0s", policy="mailer", **held)
    world.patch(policy="mailer")
    world.run_until(until)
    [holder] = (each for each in world.consumers.attempts if each.trigger.key.name == "holder")
    world.callbacks().complete(key_of("holder"), holder.trigger.run_id, holder.run_token)
    world.consumers.attempts.remove(holder)


@pytest.mark.parametrize("waits", [switched_off, standing_still, behind_another_run])
@pytest.mark.parametrize("overlap", ["allow", "wait"])
def test_a_retry_that_comes_later_than_max_age_is_given_up_whatever_it_waited_for(
    world: World, waits: Callable[[World, int], None], overlap: str
) -> None:
    retrying(world, onError="pause", onComplete=TOLD, overlap=overlap)
    waits(world, NOON + 5 * HOUR_MS)
    world.run_until(world.clock.time + 30 * MINUTE_MS)
    assert numbers(world) == [1]
    run = run_of(world)
    assert (run.state, run.attempts, run.reason) == ("failed", 2, REASON)
    ((letter, _),) = world.queue.buried
    assert (letter.reason, letter.attempts, letter.response_code) == (REASON, 2, 503)
    job = world.stored()
    assert job.pause_reason == f"Run {run.run_id} failed. {REASON}"
    assert [(each["state"], each["attempts"], each["reason"]) for each in told(world)] == [
        ("failed", 2, REASON)
    ]


@pytest.mark.parametrize(("late_ms", "made"), [(0, [1, 2]), (1, [1])])
def test_a_retry_may_begin_a_minute_after_max_age_and_no_later(late_ms: int, made: list[int]) -> None:
    world = World()
    following = retrying(world)
    world.clock.time = LAST_AT + late_ms
    handle(world, following)
    assert numbers(world) == made


def test_a_retry_after_beyond_max_age_still_leads_to_a_last_attempt(world: World) -> None:
    message = due(world, **BRIEF)
    answers(world, FAILED._replace(retry_after_at=NOON + DAY_MS))
    handle(world, message)
    world.run_until(NOON + HOUR_MS)
    assert world.consumers.times[1] == FIRST_AT + 10 * MINUTE_MS
    assert run_of(world).state == "succeeded"


def test_a_first_attempt_is_made_however_late_it_is(world: World) -> None:
    message = due(world, **BRIEF)
    world.clock.time = NOON + 5 * DAY_MS
    assert handle(world, message).name == "succeeded"


def test_a_redrive_begins_a_new_age_and_its_first_attempt_is_made_however_late_it_is(world: World) -> None:
    following = retrying(world)
    world.clock.time = LAST_AT + 1
    assert handle(world, following).name == "failed"
    world.queue.waiting.clear()
    answers(world, FAILED)
    world.redrive(run_of(world).run_id)
    ((_, redriven),) = waiting(world)
    assert redriven.attempt == 3
    world.clock.time += 5 * DAY_MS
    assert handle(world, redriven).name == "retrying"
    assert numbers(world) == [1, 3]
    retry = next(each for _, each in waiting(world) if each.attempt == 4)
    world.clock.time += DAY_MS
    assert handle(world, retry).name == "failed"
    assert numbers(world) == [1, 3]
    assert "Attempt 4 could not be made" in str(run_of(world).reason)


def test_a_copy_of_a_retry_that_was_given_up_does_nothing(world: World) -> None:
    following = retrying(world)
    world.clock.time = LAST_AT + 1
    assert [handle(world, following).name for _ in range(2)] == ["failed", "repeated"]
    assert len(world.queue.buried) == 1


def test_a_retry_whose_max_age_ends_during_a_pause_is_given_up_then_and_pauses_nothing_later() -> None:
    world = World()
    retrying(world, schedule="R2/PT5H", onError="pause")
    world.pause()
    world.run_until(NOON + HOUR_MS)
    assert (run_of(world).state, run_of(world).reason) == ("failed", REASON)
    world.resume()
    world.run_until(NOON + 5 * HOUR_MS)
    job = world.stored()
    assert job.paused_at is None
    assert numbers(world) == [1]


def test_a_shorter_max_age_that_was_written_meanwhile_rules(world: World) -> None:
    following = retrying(world)
    world.patch(retry={"maxAge": "10s"})
    world.clock.time = following.not_before
    assert handle(world, following).name == "failed"
    assert numbers(world) == [1]


def crashed_over(world: World, following: TriggerMessage) -> TriggerMessage:
    """A function claims the second attempt and dies. Returns its message as it comes again, too late."""
    world.clock.time = following.not_before
    world.announce = crashing
    with suppress(KeyboardInterrupt):
        handle(world, following)
    working(world)
    world.clock.time = LAST_AT + ATTEMPT_CLAIM_MS
    return following._replace(crashes=1)


def test_a_function_that_crashes_while_it_gives_a_run_up_leaves_one_end() -> None:
    comes_again: list[TriggerMessage] = []

    def begin(world: World) -> None:
        comes_again[:] = [retrying(world, onComplete=TOLD)]
        world.clock.time = LAST_AT + 1

    def check(world: World) -> None:
        world.clock.time += ATTEMPT_CLAIM_MS
        handle(world, comes_again[0]._replace(crashes=1))
        world.run_until(world.clock.time + HOUR_MS)
        assert (run_of(world).state, run_of(world).attempts) == ("failed", 2)
        assert {each["attempts"] for each in told(world)} == {2}
        assert numbers(world) == [1]

    kill_everywhere(begin, lambda world: handle(world, comes_again[0]), check)


def test_while_another_function_makes_the_attempt_its_copy_gives_nothing_up(world: World) -> None:
    again = crashed_over(world, retrying(world))
    claimed_until = run_of(world).claimed_until
    assert claimed_until is not None
    world.clock.time = claimed_until - 1
    world.patch(retry={"maxAge": "1s"})
    assert handle(world, again).name == "claimed"
    assert not world.queue.buried


def accepting_retries(world: World) -> tuple[Worker, TriggerMessage]:
    """An asynchronous job whose first attempt fails. A function dies over the second one."""
    message = due(world, **BRIEF, completion="async")
    answers(world, FAILED)
    handle(world, message)
    ((_, following),) = waiting(world)
    worker = Worker(world)
    deliver = world.consumers.deliver

    def die(attempt: Attempt) -> Answer:
        deliver(attempt)
        raise KeyboardInterrupt

    world.consumers.deliver = die  # type: ignore[method-assign]
    world.clock.time = following.not_before
    with suppress(KeyboardInterrupt):
        handle(world, following)
    world.consumers.deliver = deliver  # type: ignore[method-assign]
    world.clock.time = LAST_AT + ATTEMPT_CLAIM_MS
    return worker, following._replace(crashes=1)


def test_the_consumer_of_a_crashed_function_is_told_that_its_attempt_was_given_up(world: World) -> None:
    worker, again = accepting_retries(world)
    assert handle(world, again).name == "failed"
    with pytest.raises(ConflictError):
        worker.complete()


def notified(world: World, number: int) -> str:
    """What becomes of a notification that is in the queue."""
    found = [message for _, message in world.queue.waiting if isinstance(message, NotifyMessage)]
    return handle(world, found[number]).name


@pytest.mark.parametrize(("late_ms", "is_made"), [(0, True), (1, False)])
def test_a_notification_is_not_tried_again_later_than_the_default_max_age(
    world: World, late_ms: int, *, is_made: bool
) -> None:
    message = due(world, onComplete=TOLD)
    assert handle(world, message).name == "succeeded"
    world.consumers.answering = lambda _: FAILED
    assert notified(world, 0) == "unnotified"
    world.consumers.attempts.clear()
    world.clock.time = FIRST_AT + DAY_MS + MAX_AGE_GRACE_MS + late_ms
    assert notified(world, 1) == "unnotified"
    assert bool(world.consumers.attempts) == is_made
    ((letter, _),) = world.queue.buried
    assert ("Attempt 2 could not be made within retry.maxAge" in letter.reason) != is_made
