"""Jobs and runs are kept for as long as their triggers wait, even if their retention is short."""

from typing import Any

import pytest
from tests.fakes.acceptance import running
from tests.fakes.deliveries import FAILED, answers, crash_until, due, handle, run_of
from tests.fakes.faults import failing, working
from tests.fakes.lines import MINUTE, delivered, triggers
from tests.fakes.world import NOON, World, key_of

from sweephand.base.errors import StoreError
from sweephand.base.instants import DAY_MS, HOUR_MS, Instant
from sweephand.model.attempt import Answer, Attempt
from sweephand.model.trigger import TriggerMessage

RUN = f"{NOON + 10_000}-0"
BRIEFLY: dict[str, Any] = {"historyRetention": "1s"}
PATIENT: dict[str, Any] = {"retry": {"initialDelay": "4d", "maxDelay": "4d", "maxAge": "20d"}}


def forgetful(world: World, until: Instant) -> None:
    """Let time pass, minute by minute, in a world whose table removes what is past its time to live."""
    while world.clock.time < until:
        world.run_until(min(world.clock.time + MINUTE, until))
        runs = world.runs._runs
        for place in [place for place, run in runs.items() if (run.expires_at or 0) <= world.clock.time]:
            del runs[place]


def test_a_run_that_was_cancelled_is_not_delivered_though_its_record_was_to_be_kept_for_a_second() -> None:
    world = World()
    message = due(world, **BRIEFLY, **PATIENT)
    answers(world, FAILED)
    assert handle(world, message).name == "retrying"
    world.callbacks().cancel(key_of(), RUN, "k1")
    forgetful(world, NOON + 5 * DAY_MS)
    assert delivered(world) == [10]


def test_a_run_that_is_to_be_tried_again_can_be_cancelled_until_then(world: World) -> None:
    message = due(world, **BRIEFLY, **PATIENT)
    answers(world, FAILED)
    handle(world, message)
    forgetful(world, NOON + 2 * DAY_MS)
    assert run_of(world).state == "retrying"
    assert world.callbacks().cancel(key_of(), RUN, "k1").state == "cancelled"
    forgetful(world, NOON + 5 * DAY_MS)
    assert delivered(world) == [10]


def test_a_trigger_that_waits_is_delivered_once_though_its_record_was_to_be_kept_for_a_second() -> None:
    world = World()
    first, *others = triggers(world, "wait", 0, 1, 2, **BRIEFLY, retry={"initialDelay": "40s"})
    answers(world, FAILED)
    for message in (first, *others):
        world.clock.time = message.not_before
        handle(world, message)
    forgetful(world, NOON + 2 * HOUR_MS)
    assert delivered(world) == [0, 0, 1, 2]


def test_an_end_is_notified_though_its_record_was_to_be_kept_for_a_second(world: World) -> None:
    told = {"type": "http", "url": "https://consumer.example/told"}
    message = due(world, **BRIEFLY, onComplete=told, retry={"maxAttempts": 1})

    def answer(attempt: Attempt) -> Answer:
        is_up = world.clock.time > NOON + 3 * HOUR_MS and attempt.ended_after is not None
        return Answer(succeeded=True, code=200) if is_up else FAILED

    world.consumers.answering = answer
    handle(world, message)
    forgetful(world, NOON + DAY_MS)
    assert world.consumers.times[-1] > NOON + 3 * HOUR_MS


def test_a_job_and_its_name_stay_while_a_trigger_of_it_waits_for_its_turn(world: World) -> None:
    world.put(schedule="R3/PT1M", overlap="wait", completion="async", heartbeatTimeout="24h", retention="0s")
    world.consumers.answering = lambda _: Answer(succeeded=True, code=202)
    for number in range(3):
        world.run_until(world.clock.time + 22 * HOUR_MS, ticking=number == 0)
        job = world.stored()
        assert not job.is_gone(world.clock.time)
        attempt = world.consumers.attempts[-1]
        world.callbacks().complete(key_of(), attempt.trigger.run_id, attempt.run_token)
    assert len(set(world.consumers.ids)) == 3


def test_a_finished_run_is_not_repeated_after_a_pause_that_is_longer_than_its_record_is_kept() -> None:
    world = World()
    answers(world, FAILED)
    world.put(dueTime="10s", retry={"initialDelay": "10m"}, **BRIEFLY)
    world.run_until(NOON + MINUTE)
    world.pause()
    world.callbacks().cancel(key_of(), RUN, "k1")
    world.run_until(NOON + HOUR_MS, ticking=False)
    assert not world.queue.waiting
    world.runs._runs.clear()
    world.resume()
    world.run_until(NOON + 3 * HOUR_MS)
    assert len(world.consumers.attempts) == 1


def test_the_record_of_a_run_that_a_pause_holds_stays(world: World) -> None:
    world.put(dueTime="10s", history="full", **BRIEFLY)
    # A retry is given up at its `maxAge`, before its record expires. What a crashed function left waits on.
    crash_until(world, NOON + MINUTE)
    world.pause()
    for _ in range(40):
        world.clock.time += DAY_MS
        world.run_until(world.clock.time + 2 * HOUR_MS, ticking=False)
        run = run_of(world)
        assert run.state == "claimed"
        assert (run.expires_at or 0) > world.clock.time


@pytest.mark.parametrize("is_paused", [True, False])
def test_the_record_of_a_redriven_run_that_waits_stays(world: World, *, is_paused: bool) -> None:
    long: dict[str, Any] = {"completion": "async", "heartbeatTimeout": "30d", "maxRunTime": "30d"}
    world.put(schedule="R2/PT1M", overlap="wait", retry={"maxAttempts": 1}, **BRIEFLY, **long)
    answers(world, FAILED, Answer(succeeded=True, code=202))
    world.run_until(NOON + 2 * MINUTE)
    failed = world.runs.page(key_of(), None, "", 9).items[-1]
    assert failed.state == "failed"
    if is_paused:
        world.pause()
    world.redrive(failed.run_id)
    for _ in range(20):
        world.clock.time += DAY_MS
        world.run_until(world.clock.time + 2 * HOUR_MS, ticking=False)
        world.runs.expire(world.clock.time)
        stored = world.runs.get(key_of(), failed.run_id)
        assert stored is not None
        assert (stored.state, stored.attempts) == ("failed", 1)


def test_a_line_and_the_places_in_it_stay_however_long_a_pause_is(world: World) -> None:
    world.put(schedule="R3/PT1M", overlap="wait", completion="async", heartbeatTimeout="24h")
    world.consumers.answering = lambda _: Answer(succeeded=True, code=202)
    world.run_until(NOON + 3 * MINUTE)
    world.pause()
    for _ in range(100):
        world.clock.time += DAY_MS
        world.run_until(world.clock.time + 1_000_000, ticking=False)
        stored_line = world.lines.get(key_of())
        assert stored_line is not None
        assert stored_line.line.waiting
        assert (stored_line.expires_at or 0) > world.clock.time


def test_a_lost_heartbeat_is_found_within_ten_seconds_of_its_time(world: World) -> None:
    running(world, heartbeatTimeout="1m")
    world.run_until(NOON + 10_000 + MINUTE)
    assert run_of(world).last_failure is None
    world.run_until(NOON + 10_000 + MINUTE + 10_000)
    failure = run_of(world).last_failure
    assert failure is not None
    assert failure.reason == "The consumer sent no heartbeat within heartbeatTimeout."


def test_a_job_stays_until_the_claim_of_a_crashed_function_is_over(world: World) -> None:
    message = due(world, history="full", retention="1s", retry={"maxAge": "30s"})
    failing(world, "consumers.deliver", times=1)
    with pytest.raises(StoreError):
        handle(world, message)
    working(world)
    assert handle(world, message).name == "claimed"
    claimed_until, job = run_of(world).claimed_until, world.jobs.get(key_of())
    assert claimed_until is not None
    assert job is not None
    # The attempt is made again then, and may have to be tried again.
    assert (job.expires_at or 0) >= claimed_until + 30_000


def test_a_job_stays_for_an_hour_after_the_instant_of_a_retry_which_may_begin_late(world: World) -> None:
    answers(world, FAILED)
    message = due(world, retention="1s", retry={"maxAge": "30s", "initialDelay": "5s"})
    assert handle(world, message).name == "retrying"
    retry_at, job = run_of(world).next_attempt_at, world.jobs.get(key_of())
    assert retry_at is not None
    assert job is not None
    assert (job.expires_at or 0) >= retry_at + HOUR_MS


ONCE: dict[str, Any] = {"dueTime": "0s", "retention": "0s", "retry": {"maxAge": "1s"}}


def test_a_shorter_definition_does_not_expire_a_job_whose_run_goes_on(world: World) -> None:
    worker = running(world, maxRunTime="5d", heartbeatTimeout="5d", retention="0s")
    world.put(**ONCE)
    job = world.stored()
    assert (job.expires_at or 0) >= (run_of(world).run_until or 0) + HOUR_MS
    assert worker.complete().state == "succeeded"


def test_a_resumed_job_stays_while_a_run_of_a_longer_definition_goes_on(world: World) -> None:
    worker = running(world, maxRunTime="5d", heartbeatTimeout="5d", retention="0s")
    world.put(**ONCE)
    world.pause()
    world.clock.time += HOUR_MS
    world.resume()
    assert (world.stored().expires_at or 0) >= (run_of(world).run_until or 0) + HOUR_MS
    assert worker.complete().state == "succeeded"


def test_a_job_without_waiting_triggers_expires_when_its_new_definition_says_so(world: World) -> None:
    former = world.put(dueTime="365d", retention="0s", retry={"maxAge": "1s"}).job
    job = world.put(dueTime="1d", retention="0s", retry={"maxAge": "1s"}).job
    assert former.expires_at == NOON + 365 * DAY_MS + 1_000 + HOUR_MS
    assert job.expires_at == NOON + DAY_MS + 1_000 + HOUR_MS


def test_a_name_stays_taken_until_the_message_of_a_crashed_function_has_come_again(world: World) -> None:
    first = world.put(dueTime="1s", retention="0s", retry={"maxAge": "60s"}).job
    ((_, message),) = world.queue.waiting
    world.queue.waiting.clear()
    assert isinstance(message, TriggerMessage)
    # The function crashed, and SQS shows its message again. By then the retries and the retention are over.
    world.clock.time += 5 * 3 * MINUTE
    assert handle(world, message).name == "succeeded"
    assert world.put(dueTime="1h").job.uid == first.uid
