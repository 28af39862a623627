"""After an attempt: its record, the next attempt or a dead letter; and copies of a message double nothing."""

import json

import pytest
from tests.fakes.deliveries import FAILED, answers, due, handle, run_of, waiting
from tests.fakes.faults import calls_of, failing, working
from tests.fakes.world import NOON, World, key_of

from sweephand.base.errors import StoreError
from sweephand.base.timing import ATTEMPT_CLAIM_MS, UNKNOWN_GRACE_MS
from sweephand.model.attempt import Answer
from sweephand.model.failed_attempt import FailedAttempt
from sweephand.model.timer import RetryTimer
from sweephand.model.trigger import Failure, TriggerMessage
from sweephand.model.wire import decode
from sweephand.runs.received import Outcome


def test_a_success_is_recorded_with_its_lateness_and_the_answer(world: World) -> None:
    message = due(world)
    world.clock.time += 1_234
    answers(world, Answer(succeeded=True, code=201, text="made"))
    assert handle(world, message) == Outcome("succeeded", 1_234)
    run = run_of(world)
    assert (run.state, run.attempts, run.lateness_ms) == ("succeeded", 1, 1_234)
    assert (run.response_code, run.answer) == (201, "made")
    assert (run.started_at, run.ended_at) == (NOON + 11_234, NOON + 11_234)
    assert run.run_id == f"{NOON + 10_000}-0"
    assert run.expires_at == NOON + 11_234 + 30 * 86_400_000
    assert (run.rev, run.sequence) == (message.trigger.rev, 1)


def test_a_failure_is_recorded_and_tried_again_after_its_delay_as_the_next_attempt(world: World) -> None:
    message = due(world)
    answers(world, FAILED)
    assert handle(world, message).name == "retrying"
    run = run_of(world)
    assert (run.state, run.attempts, run.next_attempt_at) == ("retrying", 1, NOON + 13_750)
    assert (run.response_code, run.answer) == (503, "busy")
    ((at, following),) = waiting(world)
    assert at == 13_000
    failure = Failure(1, "Response 503.", 503)
    assert following == message._replace(
        attempt=2,
        not_before=NOON + 13_750,
        first_attempt_at=NOON + 10_000,
        last_failure=failure,
        failed_attempts=(FailedAttempt(1, NOON + 10_000, 0, 503, "busy"),),
    )
    world.run_until(NOON + 20_000, ticking=False)
    run = run_of(world)
    assert (run.state, run.attempts, run.response_code) == ("succeeded", 2, 200)
    assert run.last_failure == failure
    assert (run.started_at, run.lateness_ms) == (NOON + 10_000, 0)
    assert [attempt.number for attempt in world.consumers.attempts] == [1, 2]
    assert len(set(world.consumers.ids)) == 1


def test_a_first_success_that_cannot_be_recorded_is_not_delivered_again(world: World) -> None:
    message = due(world)
    failing(world, "runs.record")
    assert handle(world, message).name == "unrecorded"
    assert not waiting(world)


def test_the_next_attempt_or_the_dead_letter_is_sent_before_the_run_is_recorded() -> None:
    for answer, sent in ((FAILED, "after queue.send"), (FAILED._replace(is_final=True), "after queue.bury")):
        world = World()
        message = due(world)
        answers(world, answer)
        calls = calls_of(world, lambda: handle(world, message))  # noqa: B023 - called within this turn
        assert calls.index(sent) < calls.index("before runs.record")


def test_the_age_of_a_trigger_counts_from_its_first_attempt_through_all_of_them(world: World) -> None:
    due_message = due(world, retry={"maxAge": "60s", "multiplier": 1, "initialDelay": "20s"})
    world.consumers.answering = lambda _: FAILED
    world.queue.send([(due_message, 0)])
    world.run_until(NOON + 600_000, ticking=False)
    # 15 s apart: at 10, 25, 40, 55 and 70 s; the next would come 75 s after the first.
    assert [at - NOON for at in world.consumers.times] == [10_000, 25_000, 40_000, 55_000, 70_000]
    assert run_of(world).state == "failed"


def test_a_retry_beyond_the_maximum_delay_of_the_queue_is_stored_as_a_timer_and_comes_back_on_time() -> None:
    world = World()
    world.put(dueTime="10s")
    answers(world, Answer(succeeded=False, code=429, retry_after_at=NOON + 40 * 60_000 + 123))
    world.run_until(NOON + 11_000)
    assert not world.queue.waiting
    (timer,) = world.timers.everything()
    assert isinstance(timer, RetryTimer)
    assert timer.shard == world.put(dueTime="10s").job.shard
    world.queue.waiting.clear()
    world.run_until(NOON + 60 * 60_000)
    _, second = world.consumers.attempts
    assert second.number == 2
    assert second.sent_at == NOON + 40 * 60_000 + 123
    assert run_of(world).state == "succeeded"


@pytest.mark.parametrize(("after_ms", "is_timer"), [(900_000, False), (900_001, True)])
def test_a_retry_up_to_900_s_ahead_goes_to_the_queue(world: World, after_ms: int, *, is_timer: bool) -> None:
    message = due(world)
    answers(world, Answer(succeeded=False, retry_after_at=NOON + 10_000 + after_ms))
    handle(world, message)
    assert bool(world.timers.everything()) == is_timer
    assert bool(world.queue.waiting) != is_timer


def test_the_last_failure_becomes_a_dead_letter_with_all_that_a_redrive_needs(world: World) -> None:
    message = due(
        world, retry={"maxAttempts": 2}, deadLetterQueue="https://sqs.eu-west-1.amazonaws.com/1/dead"
    )
    answers(world, FAILED, Answer(succeeded=False, code=500, text="broken"))
    handle(world, message)
    world.run_until(NOON + 60_000, ticking=False)
    ((letter, url),) = world.queue.buried
    assert url == "https://sqs.eu-west-1.amazonaws.com/1/dead"
    assert (letter.trigger, letter.attempts) == (message.trigger, 2)
    assert (letter.response_code, letter.answer) == (500, "broken")
    assert letter.reason == "Attempt 2 of 2 failed: Response 500."
    again = decode(letter.body)
    assert isinstance(again, TriggerMessage)
    assert again.trigger == message.trigger
    assert json.loads(letter.body)["attempt"] == 2
    run = run_of(world)
    assert (run.state, run.attempts, run.reason) == ("failed", 2, letter.reason)
    assert run.ended_at is not None


def test_a_final_answer_is_a_dead_letter_of_the_stack_after_one_attempt(world: World) -> None:
    message = due(world)
    answers(world, Answer(succeeded=False, code=400, is_final=True))
    assert handle(world, message) == Outcome("failed", 0)
    ((letter, url),) = world.queue.buried
    assert (url, letter.attempts) == (None, 1)
    assert run_of(world).state == "failed"


def test_with_history_of_failures_a_first_success_leaves_no_record_and_a_later_success_does() -> None:
    world = World()
    handle(world, due(world, history="failures"))
    assert not world.runs.page(key_of(), None, "", 10).items
    world = World()
    message = due(world, history="failures")
    answers(world, FAILED)
    handle(world, message)
    assert run_of(world).state == "retrying"
    world.run_until(NOON + 20_000, ticking=False)
    assert run_of(world).state == "succeeded"


def test_a_first_attempt_costs_one_write_and_no_claim(world: World) -> None:
    message = due(world)
    calls = [call for call in calls_of(world, lambda: handle(world, message)) if call.startswith("before")]
    assert calls == ["before jobs.get", "before consumers.deliver", "before runs.record"]


def retried(world: World) -> TriggerMessage:
    """A trigger whose first attempt has failed, at the time of its second: that one's message."""
    message = due(world)
    answers(world, FAILED)
    handle(world, message)
    ((_, following),) = waiting(world)
    world.queue.waiting.clear()
    world.clock.time = following.not_before
    return following


def test_of_two_copies_of_a_later_attempt_one_is_delivered(world: World) -> None:
    following = retried(world)
    assert handle(world, following).name == "succeeded"
    assert handle(world, following).name == "repeated"
    assert [attempt.number for attempt in world.consumers.attempts] == [1, 2]
    assert not world.queue.waiting


@pytest.mark.parametrize("left_ms", [1, 999, 1_000, 1_500])
def test_a_claim_about_to_end_is_waited_for_a_second_at_least(world: World, left_ms: int) -> None:
    following = retried(world)
    failing(world, "consumers.deliver", times=1)
    with pytest.raises(StoreError):
        handle(world, following)
    working(world)
    world.clock.time += ATTEMPT_CLAIM_MS - left_ms
    assert handle(world, following).name == "claimed"
    assert waiting(world) == [(world.clock.time + 1_000 - NOON, following)]


def test_an_attempt_whose_function_crashed_is_made_again_when_its_claim_is_over(world: World) -> None:
    following = retried(world)
    failing(world, "consumers.deliver", after=True, times=1)
    with pytest.raises(StoreError):
        handle(world, following)
    working(world)
    assert handle(world, following).name == "claimed"
    world.run_until(NOON + 600_000, ticking=False)
    assert [attempt.number for attempt in world.consumers.attempts] == [1, 2, 2]
    assert run_of(world).state == "succeeded"


def test_an_attempt_that_a_later_attempt_has_followed_is_not_made_again(world: World) -> None:
    following = retried(world)
    answers(world, FAILED)
    failing(world, "runs.record", times=1)
    with pytest.raises(StoreError):
        handle(world, following)
    working(world)
    world.run_until(NOON + 60_000, ticking=False)
    assert run_of(world).attempts == 3
    assert handle(world, following).name == "repeated"
    assert [attempt.number for attempt in world.consumers.attempts] == [1, 2, 3]


def test_a_first_attempt_that_is_made_twice_is_followed_by_one_retry(world: World) -> None:
    message = due(world)
    answers(world, FAILED, FAILED)
    handle(world, message)
    handle(world, message)
    assert len(world.queue.waiting) == 2
    world.run_until(NOON + 600_000, ticking=False)
    assert [attempt.number for attempt in world.consumers.attempts] == [1, 1, 2]
    assert run_of(world).state == "succeeded"
    assert not world.queue.waiting


def test_a_later_attempt_of_a_deleted_job_is_not_made(world: World) -> None:
    following = retried(world)
    world.delete()
    world.clock.time = NOON + UNKNOWN_GRACE_MS
    assert handle(world, following).name == "dropped"
    assert len(world.consumers.attempts) == 1


def test_a_later_attempt_outlives_its_revision_and_takes_the_present_definition(world: World) -> None:
    following = retried(world)
    for number in range(25):
        world.put(dueTime="1h", data=str(number))
    world.queue.waiting.clear()
    assert handle(world, following).name == "succeeded"
    assert world.consumers.attempts[-1].body == b"24"


def test_a_retry_in_the_wheel_outlasts_the_history_retention(world: World) -> None:
    world.put(dueTime="10s", retention="0s", retry={"maxAge": "30m", "initialDelay": "29m", "maxDelay": "1h"})
    answers(world, FAILED)
    world.clock.time = NOON + 12 * 60_000
    world.run_until(NOON + 60 * 60_000)
    assert [attempt.number for attempt in world.consumers.attempts] == [1, 2]
    assert run_of(world).state == "succeeded"
