"""What becomes of one message: delivered on time and while it is owed, recorded, and followed up."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from tests.fakes.faults import calls_of, failing, working
from tests.fakes.world import NOON, World, key_of

from sweephand.errors import StoreError
from sweephand.ports import Answer
from sweephand.runs.deliver import READS_MAX, Delivered, JobRead
from sweephand.runs.run import Run
from sweephand.timing import ATTEMPT_CLAIM_MS, UNKNOWN_DELAY_MS, UNKNOWN_GRACE_MS
from sweephand.wheel.codec import decode
from sweephand.wheel.timer import RetryTimer
from sweephand.wheel.trigger import TriggerMessage

UNREAD = JobRead(None, 0)
FAILED = Answer(succeeded=False, code=503, text="busy")
LARGE = '"' + "x" * 3_000 + '"'


def waiting(world: World) -> list[tuple[int, TriggerMessage]]:
    """What is in the queue: in how many ms after noon it is to be received."""
    return [
        (at - NOON, message) for at, message in world.queue.waiting if isinstance(message, TriggerMessage)
    ]


def due(world: World, **written: Any) -> TriggerMessage:
    """Put a job that is due 10 s after noon and move the clock there; its message."""
    world.put(**{"dueTime": "10s", **written})
    ((_, message),) = waiting(world)
    world.queue.waiting.clear()
    world.clock.time = NOON + 10_000
    return message


def handle(world: World, message: TriggerMessage, read: JobRead = UNREAD) -> Delivered:
    return world.deliverer().handle(message, read)


def run_of(world: World) -> Run:
    (run,) = world.runs.page(key_of(), None, "", 10).items
    return run


def answers(world: World, *given: Answer) -> None:
    """Have the consumer give these answers, and succeed from then on."""
    left: Iterator[Answer] = iter(given)
    world.consumers.answering = lambda _: next(left, Answer(succeeded=True, code=200))


def change(world: World, **changes: Any) -> None:
    """Write a stored job as somebody else would."""
    job = world.jobs.get(key_of())
    assert job is not None
    assert world.jobs.put(replace(job, version=world.ids.token(), **changes), job.version)


def meanwhile(world: World, call: str, action: Callable[[], object]) -> None:
    """Do something from outside when a call is announced first."""

    def announce(announced: str) -> None:
        if announced == call:
            world.announce = lambda _: None
            action()

    world.announce = announce


@pytest.mark.parametrize("early_ms", [1_000, 1_001, 5_500, 240_000, 900_000, 5_000_000])
def test_a_message_a_second_early_or_more_is_sent_again_with_what_is_left(early_ms: int) -> None:
    world = World()
    message = due(world)
    world.clock.time -= early_ms
    assert handle(world, message).outcome == "early"
    assert waiting(world) == [(10_000 - early_ms + min(early_ms, 900_000) // 1_000 * 1_000, message)]
    assert not world.consumers.attempts


@pytest.mark.parametrize("early_ms", [1, 500, 999])
def test_less_than_a_second_is_waited_out(early_ms: int) -> None:
    world = World()
    message = due(world)
    world.clock.time -= early_ms
    assert handle(world, message) == Delivered("succeeded", 0)
    assert world.clock.time == NOON + 10_000


def test_a_wait_that_returns_too_soon_is_gone_on_with() -> None:
    world = World()
    message = due(world)
    world.clock.time -= 800
    waits: list[int] = []

    def sleepless(_: int) -> None:
        waits.append(world.clock.time)
        world.clock.time += 300

    world.delivery_clock.wait_until = sleepless  # type: ignore[assignment, method-assign]
    assert handle(world, message) == Delivered("succeeded", 100)
    assert len(waits) == 3


def test_an_attempt_carries_what_the_job_is_now_and_is_signed_for_its_namespace() -> None:
    world = World()
    message = due(world, data='{"a": 1}')
    world.put(dueTime="10s", data='{"a": 2}', target={"type": "http", "url": "https://consumer.example/new"})
    assert handle(world, message).outcome == "succeeded"
    (attempt,) = world.consumers.attempts
    assert attempt.body == b'{"a": 2}'
    assert attempt.spec["url"].endswith("/new")
    assert attempt.secrets == ("whsec_ns",)
    assert (attempt.number, attempt.sent_at) == (1, NOON + 10_000)
    assert attempt.trigger == message.trigger


def test_a_job_without_data_sends_null_and_one_with_much_sends_it_all() -> None:
    world = World()
    handle(world, due(world))
    world.put(dueTime="0s", data=LARGE)
    world.run_until(world.clock.time + 10)
    assert [attempt.body for attempt in world.consumers.attempts] == [b"null", LARGE.encode()]


def test_data_that_is_not_there_is_a_fault_of_ours_and_no_attempt() -> None:
    world = World()
    message = due(world, data=LARGE)
    job = world.jobs.get(key_of())
    assert job is not None
    assert job.definition.payload is not None
    assert job.definition.payload.ref is not None
    world.payloads.discard(job.uid, job.definition.payload.ref)
    world.payloads.expire()
    payload = replace(job.definition.payload, text=None)
    change(world, definition=replace(job.definition, payload=payload))
    with pytest.raises(StoreError):
        handle(world, message)
    assert not world.consumers.attempts


def test_an_unknown_revision_is_put_back_for_two_seconds_until_its_grace_is_over() -> None:
    world = World()
    message = due(world)
    world.delete()
    world.clock.time = NOON + UNKNOWN_GRACE_MS - 1
    assert handle(world, message).outcome == "unknown"
    assert waiting(world) == [((UNKNOWN_GRACE_MS - 1) + UNKNOWN_DELAY_MS, message)]
    world.queue.waiting.clear()
    world.clock.time += 1
    assert handle(world, message).outcome == "dropped"
    assert not world.queue.waiting


def test_a_commit_that_comes_late_finds_its_triggers_still_there() -> None:
    world = World()

    def overtaken() -> None:
        # The delivery function meets the message over and over before the job is there.
        world.announce = lambda _: None
        world.run_until(NOON + 19_000, ticking=False)
        assert not world.consumers.attempts

    meanwhile(world, "before jobs.put", overtaken)
    world.put(dueTime="0s")
    world.run_until(NOON + 30_000, ticking=False)
    assert world.consumers.dues == {NOON}


def test_a_dead_trigger_is_dropped() -> None:
    world = World()
    message = due(world)
    change(
        world,
        current=replace(
            world.put(dueTime="10s", data="1").job.current, rev=message.trigger.rev, since=NOON + 10_000
        ),
    )
    world.queue.waiting.clear()
    assert handle(world, message).outcome == "dropped"
    assert not world.queue.waiting


@pytest.mark.parametrize(
    ("lasted_ms", "delay_ms"),
    [(-5_000, 1_000), (0, 1_000), (30_000, 30_000), (900_000, 900_000), (90_000_000, 900_000)],
)
@pytest.mark.parametrize("attempt", [1, 2])
def test_what_a_paused_job_owes_is_held_for_as_long_as_the_pause_has_lasted(
    lasted_ms: int, delay_ms: int, attempt: int
) -> None:
    world = World()
    message = replace(due(world), attempt=attempt)
    change(world, paused_at=world.clock.time - lasted_ms)
    assert handle(world, message).outcome == "held"
    assert waiting(world) == [(10_000 + delay_ms, message)]
    assert not world.consumers.attempts


def test_a_held_trigger_is_delivered_when_the_job_goes_on() -> None:
    world = World()
    world.put(dueTime="10s")
    change(world, paused_at=NOON + 5_000)
    world.run_until(NOON + 60_000)
    assert not world.consumers.attempts
    change(world, paused_at=None)
    world.run_until(NOON + 180_000)
    assert world.consumers.dues == {NOON + 10_000}


def test_a_job_that_was_read_over_a_second_ago_is_read_again() -> None:
    world = World()
    message = due(world)
    read = JobRead(world.jobs.get(key_of()), NOON + 9_000)
    assert "before jobs.get" not in calls_of(world, lambda: handle(world, message, read))
    world.clock.time += 1
    assert "before jobs.get" in calls_of(world, lambda: handle(world, message, read))


@pytest.mark.parametrize("slow", ["after jobs.get", "after payloads.get", "after runs.claim"])
@pytest.mark.parametrize("attempt", [1, 2])
def test_a_job_that_is_deleted_before_the_request_leaves_gets_none(slow: str, attempt: int) -> None:
    world = World()
    message = replace(due(world, data=LARGE), attempt=attempt)
    job = world.jobs.get(key_of())
    assert job is not None
    payload = job.definition.payload
    assert payload is not None
    change(world, definition=replace(job.definition, payload=replace(payload, text=None)))

    def deleted() -> None:
        world.delete()
        world.clock.time += 1_001

    meanwhile(world, slow, deleted)
    world.clock.time = NOON + UNKNOWN_GRACE_MS
    handle(world, message)
    assert (len(world.consumers.attempts) == 0) == (slow != "after runs.claim" or attempt == 2)


def test_what_is_paused_or_changed_while_something_took_long_is_found_so() -> None:
    world = World()
    message = replace(due(world), attempt=2)

    def paused() -> None:
        change(world, paused_at=world.clock.time)
        world.clock.time += 1_001

    meanwhile(world, "after runs.claim", paused)
    assert handle(world, message).outcome == "held"
    assert not world.consumers.attempts


def test_a_change_while_something_took_long_is_what_is_delivered() -> None:
    world = World()
    message = replace(due(world, data="1"), attempt=2)

    def changed() -> None:
        world.put(dueTime="10s", data="2")
        world.clock.time += 1_001

    meanwhile(world, "after runs.claim", changed)
    # At its due time the one-off is completed, so the change begins it anew.
    handle(world, message)
    assert [attempt.body for attempt in world.consumers.attempts] == [b"2"]


def test_a_store_too_slow_to_promise_anything_by_is_a_fault_and_no_attempt() -> None:
    world = World()
    message = due(world)

    def slowly(announced: str) -> None:
        if announced == "after jobs.get":
            world.clock.time += 1_001
            assert world.clock.time < NOON + 60_000, "it reads for ever"

    world.announce = slowly
    with pytest.raises(StoreError):
        handle(world, message)
    assert not world.consumers.attempts
    assert world.clock.time <= NOON + 10_000 + (READS_MAX + 2) * 1_001


def test_a_success_is_recorded_with_its_lateness_and_the_answer() -> None:
    world = World()
    message = due(world)
    world.clock.time += 1_234
    answers(world, Answer(succeeded=True, code=201, text="made"))
    assert handle(world, message) == Delivered("succeeded", 1_234)
    run = run_of(world)
    assert (run.state, run.attempts, run.lateness_ms) == ("succeeded", 1, 1_234)
    assert (run.response_code, run.answer) == (201, "made")
    assert (run.started_at, run.ended_at) == (NOON + 11_234, NOON + 11_234)
    assert run.run_id == f"{NOON + 10_000}-0"
    assert run.expires_at == NOON + 11_234 + 30 * 86_400_000
    assert (run.rev, run.sequence) == (message.trigger.rev, 1)


def test_a_failure_is_recorded_and_tried_again_after_its_delay_as_the_next_attempt() -> None:
    world = World()
    message = due(world)
    answers(world, FAILED)
    assert handle(world, message).outcome == "retrying"
    run = run_of(world)
    assert (run.state, run.attempts, run.next_attempt_at) == ("retrying", 1, NOON + 13_750)
    assert (run.response_code, run.answer) == (503, "busy")
    ((at, following),) = waiting(world)
    assert at == 13_000
    assert following == replace(message, attempt=2, not_before=NOON + 13_750, first_attempt_at=NOON + 10_000)
    world.run_until(NOON + 20_000, ticking=False)
    run = run_of(world)
    assert (run.state, run.attempts, run.response_code) == ("succeeded", 2, 200)
    assert (run.started_at, run.lateness_ms) == (NOON + 10_000, 0)
    assert [attempt.number for attempt in world.consumers.attempts] == [1, 2]
    assert len(set(world.consumers.ids)) == 1


def test_the_next_attempt_is_sent_before_the_failure_is_recorded_and_a_letter_before_the_end_is() -> None:
    for answer, sent in ((FAILED, "after queue.send"), (replace(FAILED, is_final=True), "after queue.bury")):
        world = World()
        message = due(world)
        answers(world, answer)
        calls = calls_of(world, lambda: handle(world, message))  # noqa: B023 - called within this turn
        assert calls.index(sent) < calls.index("before runs.record")


def test_the_age_of_a_trigger_counts_from_its_first_attempt_through_all_of_them() -> None:
    world = World()
    due_message = due(world, retry={"maxAge": "60s", "multiplier": 1, "initialDelay": "20s"})
    world.consumers.answering = lambda _: FAILED
    world.queue.send([(due_message, 0)])
    world.run_until(NOON + 600_000, ticking=False)
    # 15 s apart: at 10, 25, 40, 55 and 70 s; the next would come 75 s after the first.
    assert [at - NOON for at in world.consumers.times] == [10_000, 25_000, 40_000, 55_000, 70_000]
    assert run_of(world).state == "failed"


def test_a_retry_beyond_the_queues_reach_goes_through_the_wheel_and_comes_back_on_time() -> None:
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
def test_the_queue_takes_what_is_up_to_a_quarter_of_an_hour_ahead(after_ms: int, *, is_timer: bool) -> None:
    world = World()
    message = due(world)
    answers(world, Answer(succeeded=False, retry_after_at=NOON + 10_000 + after_ms))
    handle(world, message)
    assert bool(world.timers.everything()) == is_timer
    assert bool(world.queue.waiting) != is_timer


def test_the_last_failure_becomes_a_dead_letter_with_all_that_is_needed_to_try_again() -> None:
    world = World()
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


def test_a_final_answer_is_a_dead_letter_of_the_stack_after_one_attempt() -> None:
    world = World()
    message = due(world)
    answers(world, Answer(succeeded=False, code=400, is_final=True))
    assert handle(world, message) == Delivered("failed", 0)
    ((letter, url),) = world.queue.buried
    assert (url, letter.attempts) == (None, 1)
    assert run_of(world).state == "failed"


def test_with_history_of_failures_a_success_at_once_leaves_nothing_and_a_later_one_its_end() -> None:
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


def test_a_first_attempt_costs_one_write_and_no_claim() -> None:
    world = World()
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


def test_of_two_copies_of_a_later_attempt_one_is_delivered() -> None:
    world = World()
    following = retried(world)
    assert handle(world, following).outcome == "succeeded"
    assert handle(world, following).outcome == "repeated"
    assert [attempt.number for attempt in world.consumers.attempts] == [1, 2]
    assert not world.queue.waiting


def test_a_copy_of_an_attempt_under_way_waits_for_the_end_of_its_claim() -> None:
    world = World()
    following = retried(world)
    outcomes: list[str] = []

    def meanwhile_again() -> None:
        outcomes.append(handle(world, following).outcome)

    meanwhile(world, "before consumers.deliver", meanwhile_again)
    outcomes.append(handle(world, following).outcome)
    assert outcomes == ["claimed", "succeeded"]
    assert [at + NOON for at, _ in waiting(world)] == [world.clock.time + ATTEMPT_CLAIM_MS]
    world.run_until(NOON + 600_000, ticking=False)
    assert len(world.consumers.attempts) == 2


@pytest.mark.parametrize("left_ms", [1, 999, 1_000, 1_500])
def test_a_claim_about_to_end_is_waited_for_a_second_at_least(left_ms: int) -> None:
    world = World()
    following = retried(world)
    failing(world, "consumers.deliver", times=1)
    with pytest.raises(StoreError):
        handle(world, following)
    working(world)
    world.clock.time += ATTEMPT_CLAIM_MS - left_ms
    assert handle(world, following).outcome == "claimed"
    assert waiting(world) == [(world.clock.time + 1_000 - NOON, following)]


def test_an_attempt_whose_holder_died_is_done_again_when_its_claim_is_over() -> None:
    world = World()
    following = retried(world)
    failing(world, "consumers.deliver", after=True, times=1)
    with pytest.raises(StoreError):
        handle(world, following)
    working(world)
    assert handle(world, following).outcome == "claimed"
    world.run_until(NOON + 600_000, ticking=False)
    assert [attempt.number for attempt in world.consumers.attempts] == [1, 2, 2]
    assert run_of(world).state == "succeeded"


def test_an_attempt_that_a_later_one_has_overtaken_is_not_done_again() -> None:
    world = World()
    following = retried(world)
    answers(world, FAILED)
    failing(world, "runs.record", times=1)
    with pytest.raises(StoreError):
        handle(world, following)
    working(world)
    world.run_until(NOON + 60_000, ticking=False)
    assert run_of(world).attempts == 3
    assert handle(world, following).outcome == "repeated"
    assert [attempt.number for attempt in world.consumers.attempts] == [1, 2, 3]


def test_a_first_attempt_done_twice_does_not_double_what_follows() -> None:
    world = World()
    message = due(world)
    answers(world, FAILED, FAILED)
    handle(world, message)
    handle(world, message)
    assert len(world.queue.waiting) == 2
    world.run_until(NOON + 600_000, ticking=False)
    assert [attempt.number for attempt in world.consumers.attempts] == [1, 1, 2]
    assert run_of(world).state == "succeeded"
    assert not world.queue.waiting


def test_a_later_attempt_of_a_deleted_job_is_not_made() -> None:
    world = World()
    following = retried(world)
    world.delete()
    world.clock.time = NOON + UNKNOWN_GRACE_MS
    assert handle(world, following).outcome == "dropped"
    assert len(world.consumers.attempts) == 1


def test_a_later_attempt_outlives_its_revision_and_takes_the_present_definition() -> None:
    world = World()
    following = retried(world)
    for number in range(25):
        world.put(dueTime="1h", data=str(number))
    world.queue.waiting.clear()
    assert handle(world, following).outcome == "succeeded"
    assert world.consumers.attempts[-1].body == b"24"


def test_the_wheel_outlasts_a_retention_that_is_over() -> None:
    world = World()
    world.put(dueTime="10s", retention="0s", retry={"maxAge": "30m", "initialDelay": "29m", "maxDelay": "1h"})
    answers(world, FAILED)
    world.clock.time = NOON + 12 * 60_000
    world.run_until(NOON + 60 * 60_000)
    assert [attempt.number for attempt in world.consumers.attempts] == [1, 2]
    assert run_of(world).state == "succeeded"
