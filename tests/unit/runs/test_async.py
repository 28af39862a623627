"""Asynchronous completion: a run ends by a report, a missed deadline or a cancel."""

import pytest
from tests.fakes.acceptance import ACCEPTED, RUN, due_async, running
from tests.fakes.deliveries import answers, due, handle, run_of
from tests.fakes.faults import calls_of
from tests.fakes.world import NOON, World

from sweephand.base.timing import DEADLINE_GRACE_MS
from sweephand.model.attempt import Answer
from sweephand.model.timer import DeadlineTimer

MINUTE = 60_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR


def test_a_run_whose_consumer_answers_202_goes_on_until_the_consumer_reports(world: World) -> None:
    worker = running(world)
    run = run_of(world)
    assert (run.attempts, run.response_code, run.ended_at) == (1, 202, None)
    assert (run.started_at, run.lateness_ms) == (NOON + 10_000, 0)
    assert run.heartbeat_by == NOON + 10_000 + 5 * MINUTE
    assert run.run_until == NOON + 10_000 + DAY
    world.clock.time += 2 * MINUTE
    assert worker.complete().state == "succeeded"
    run = run_of(world)
    assert (run.state, run.ended_at, run.heartbeat_by) == ("succeeded", NOON + 10_000 + 2 * MINUTE, None)
    assert run.lateness_ms == 0


@pytest.mark.parametrize("code", [200, 201, 204])
def test_any_other_success_ends_the_run_at_once(world: World, code: int) -> None:
    _, message = due_async(world)
    answers(world, Answer(succeeded=True, code=code))
    assert handle(world, message).name == "succeeded"
    assert run_of(world).state == "succeeded"
    assert not world.queue.waiting


def test_a_queue_without_a_status_accepts_the_run(world: World) -> None:
    _, message = due_async(world)
    answers(world, Answer(succeeded=True))
    assert handle(world, message).name == "running"


def test_an_answer_202_is_success_for_a_job_that_asks_for_no_reports(world: World) -> None:
    message = due(world)
    answers(world, ACCEPTED)
    assert handle(world, message).name == "succeeded"
    assert [attempt.run_token for attempt in world.consumers.attempts] == [None]


def test_a_first_attempt_takes_two_writes_and_one_message_that_checks_its_deadline(world: World) -> None:
    _, message = due_async(world)
    calls = [call for call in calls_of(world, lambda: handle(world, message)) if call.startswith("before")]
    assert calls == [
        "before jobs.get",
        "before runs.claim",
        "before consumers.deliver",
        "before queue.send",
        "before runs.record",
    ]


def test_a_retry_decided_by_a_clock_that_is_behind_is_not_early(world: World) -> None:
    worker = running(world, retry={"initialDelay": "1s"})
    world.delivery_clock.ahead_ms = world.api_clock.ahead_ms = -30_000
    worker.fail()
    world.run_until(NOON + 39_999, ticking=False)
    assert run_of(world).state == "retrying"
    assert run_of(world).next_attempt_at == NOON + 10_000
    world.run_until(NOON + 41_000, ticking=False)
    assert (run_of(world).state, run_of(world).attempts) == ("running", 2)


def test_a_heartbeat_moves_the_deadline_and_silence_lets_it_pass(world: World) -> None:
    worker = running(world, heartbeatTimeout="1m", retry={"initialDelay": "0s"})
    for _ in range(10):
        world.run_until(world.clock.time + 50_000)
        worker.heartbeat()
    beaten_at = world.clock.time
    assert run_of(world).heartbeat_by == beaten_at + MINUTE
    world.run_until(beaten_at + MINUTE + DEADLINE_GRACE_MS - 1)
    assert (run_of(world).state, run_of(world).attempts) == ("running", 1)
    world.run_until(beaten_at + MINUTE + DEADLINE_GRACE_MS + 5_000)
    assert (run_of(world).state, run_of(world).attempts) == ("running", 2)
    assert len(worker.tokens) == 2


def test_a_run_without_a_heartbeat_is_found_and_retried(world: World) -> None:
    running(world, heartbeatTimeout="2m")
    world.run_until(NOON + 10_000 + 2 * MINUTE + DEADLINE_GRACE_MS)
    run = run_of(world)
    assert (run.state, run.attempts) == ("retrying", 1)
    assert run.reason == "The consumer sent no heartbeat within heartbeatTimeout."
    assert (run.heartbeat_by, run.run_until, run.ended_at) == (None, None, None)
    world.consumers.answering = lambda _: Answer(succeeded=True, code=200)
    world.run_until(NOON + HOUR)
    assert (run_of(world).state, run_of(world).attempts) == ("succeeded", 2)


def test_a_deadline_beyond_the_queue_s_reach_waits_in_the_wheel(world: World) -> None:
    worker = running(world, heartbeatTimeout="40m")
    (timer,) = (each for each in world.timers.everything() if isinstance(each, DeadlineTimer))
    assert timer.due_at == NOON + 10_000 + 40 * MINUTE + DEADLINE_GRACE_MS
    assert not world.queue.waiting
    world.run_until(NOON + 30 * MINUTE)
    worker.heartbeat()
    world.run_until(NOON + 69 * MINUTE)
    assert run_of(world).state == "running"
    timers = {each.due_at for each in world.timers.everything() if isinstance(each, DeadlineTimer)}
    assert len(timers) == 2
    world.run_until(NOON + 80 * MINUTE)
    assert run_of(world).attempts == 2


def test_a_run_of_a_deleted_job_ends_as_failed_when_its_consumer_is_silent(world: World) -> None:
    running(world, heartbeatTimeout="40m")
    world.delete()
    world.run_until(NOON + HOUR)
    run = run_of(world)
    assert (run.state, run.attempts) == ("failed", 1)
    assert "deleted" in (run.reason or "")
    assert not world.queue.buried
    assert not world.queue.waiting


def test_a_run_of_a_deleted_job_can_still_be_completed(world: World) -> None:
    worker = running(world)
    world.delete()
    world.put(dueTime="1h")
    assert worker.heartbeat().state == "running"
    assert worker.complete().state == "succeeded"


def test_a_pause_holds_the_retry_of_a_run_and_not_the_run(world: World) -> None:
    worker = running(world, heartbeatTimeout="2m")
    world.pause()
    assert worker.heartbeat().state == "running"
    world.run_until(NOON + 10 * MINUTE)
    assert (run_of(world).state, run_of(world).attempts) == ("retrying", 1)
    world.resume()
    world.run_until(NOON + 40 * MINUTE)
    assert run_of(world).attempts > 1


def test_an_attempt_that_the_consumer_reports_as_failed_is_retried_by_the_policy(world: World) -> None:
    worker = running(world)
    world.clock.time += MINUTE
    assert worker.fail().state == "running"
    world.run_until(world.clock.time + 1, ticking=False)
    run = run_of(world)
    assert (run.state, run.attempts, run.reason) == ("retrying", 1, "out of paper")
    assert run.next_attempt_at == NOON + 10_000 + MINUTE + 3_750
    world.run_until(world.clock.time + 10_000, ticking=False)
    assert (run_of(world).state, run_of(world).attempts) == ("running", 2)


def test_a_run_that_the_consumer_reports_as_failed_for_good_is_given_up(world: World) -> None:
    worker = running(world, onError="pause")
    worker.fail(is_final=True)
    world.run_until(world.clock.time + 1, ticking=False)
    run = run_of(world)
    assert run.state == "failed"
    assert run.reason == "Attempt 1 failed for good: out of paper."
    assert len(world.queue.buried) == 1
    job = world.stored()
    assert job.paused_at is not None


def test_the_age_of_a_run_counts_from_its_first_attempt_however_long_each_takes(world: World) -> None:
    worker = running(world, retry={"maxAge": "10m", "initialDelay": "0s"})
    for _ in range(2):
        world.clock.time += 6 * MINUTE
        worker.fail()
        world.run_until(world.clock.time + 1, ticking=False)
    run = run_of(world)
    assert (run.state, run.attempts) == ("failed", 2)
    assert "maxAge" in (run.reason or "")


def test_a_redriven_run_goes_on_with_a_token_of_its_own(world: World) -> None:
    worker = running(world, retry={"maxAttempts": 1})
    worker.fail()
    world.run_until(world.clock.time + 1, ticking=False)
    assert run_of(world).state == "failed"
    world.clock.time = NOON + HOUR
    world.redrive(RUN)
    world.run_until(world.clock.time + 1, ticking=False)
    run = run_of(world)
    assert (run.state, run.attempts, run.round_at) == ("running", 2, NOON + HOUR)
    assert (run.started_at, run.lateness_ms) == (NOON + 10_000, 0)
    worker.fail()
    world.run_until(world.clock.time + 1, ticking=False)
    assert run_of(world).reason == "Attempt 2 failed, and the redrive allowed 1: out of paper."
    world.redrive(RUN)
    world.run_until(world.clock.time + 1, ticking=False)
    assert worker.complete().state == "succeeded"


def test_a_run_keeps_its_record_until_it_is_over_and_then_for_the_history_retention(world: World) -> None:
    worker = running(world, historyRetention="20d", maxRunTime="2d")
    assert run_of(world).expires_at == NOON + 10_000 + 20 * DAY
    world.clock.time += DAY
    assert worker.complete().expires_at == NOON + 10_000 + 21 * DAY


def test_a_job_stays_for_as_long_as_its_consumers_may_work_for_it() -> None:
    sync = World().put(dueTime="10s").job
    job = World().put(dueTime="10s", completion="async", maxRunTime="3d").job
    assert sync.expires_at is not None
    assert job.expires_at == sync.expires_at + 3 * DAY
