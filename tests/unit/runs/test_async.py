"""Asynchronous completion: a run goes on until its consumer reports, is silent too long, or is stopped."""

import pytest
from tests.fakes.acceptance import ACCEPTED, RUN, cancel, due_async, running
from tests.fakes.deliveries import FAILED, UNREAD, answers, due, handle, meanwhile, run_of, waiting
from tests.fakes.faults import calls_of, failing, working
from tests.fakes.world import NOON, World, key_of

from sweephand.errors import ConflictError, GoneError, NotFoundError, StoreError
from sweephand.ports import Answer, Attempt
from sweephand.runs.settle import deadline_of
from sweephand.timing import ATTEMPT_CLAIM_MS, DEADLINE_GRACE_MS, TIMER_RETENTION_MS
from sweephand.wheel.timer import DeadlineTimer
from sweephand.wheel.trigger import DeadlineMessage, FailureMessage

MINUTE = 60_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR


def test_a_consumer_that_answers_202_has_the_run_until_it_reports() -> None:
    world = World()
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
def test_any_other_success_is_one_at_once(code: int) -> None:
    world = World()
    _, message = due_async(world)
    answers(world, Answer(succeeded=True, code=code))
    assert handle(world, message).outcome == "succeeded"
    assert run_of(world).state == "succeeded"
    assert not world.queue.waiting


def test_a_queue_has_no_status_and_accepts() -> None:
    world = World()
    _, message = due_async(world)
    answers(world, Answer(succeeded=True))
    assert handle(world, message).outcome == "running"


def test_202_is_success_to_a_job_that_does_not_ask_for_reports() -> None:
    world = World()
    message = due(world)
    answers(world, ACCEPTED)
    assert handle(world, message).outcome == "succeeded"
    assert [attempt.run_token for attempt in world.consumers.attempts] == [None]


def test_a_first_attempt_is_claimed_and_accepted_in_two_writes_and_looked_at_by_one_message() -> None:
    world = World()
    _, message = due_async(world)
    calls = [call for call in calls_of(world, lambda: handle(world, message)) if call.startswith("before")]
    assert calls == [
        "before jobs.get",
        "before runs.claim",
        "before consumers.deliver",
        "before queue.send",
        "before runs.record",
    ]


def test_a_failure_is_retried_with_another_token() -> None:
    world = World()
    worker, message = due_async(world)
    tokens: list[str | None] = []

    def answer(attempt: Attempt) -> Answer:
        tokens.append(attempt.run_token)
        return FAILED if attempt.number == 1 else ACCEPTED

    world.consumers.answering = answer
    handle(world, message)
    world.run_until(NOON + 20_000, ticking=False)
    assert (run_of(world).state, run_of(world).attempts) == ("running", 2)
    assert len(set(tokens)) == 2
    with pytest.raises(GoneError):
        worker.complete(tokens[0])
    assert worker.complete(tokens[1]).state == "succeeded"


def test_a_retry_decided_by_a_clock_that_is_behind_is_not_early() -> None:
    world = World()
    worker = running(world, retry={"initialDelay": "1s"})
    world.delivery_clock.ahead_ms = world.api_clock.ahead_ms = -30_000
    worker.fail()
    world.run_until(NOON + 39_999, ticking=False)
    assert run_of(world).state == "retrying"
    assert run_of(world).next_attempt_at == NOON + 10_000
    world.run_until(NOON + 41_000, ticking=False)
    assert (run_of(world).state, run_of(world).attempts) == ("running", 2)


def test_a_heartbeat_moves_the_deadline_and_silence_lets_it_pass() -> None:
    world = World()
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


def test_a_consumer_that_dies_is_found_by_its_heartbeat_and_the_run_retried() -> None:
    world = World()
    running(world, heartbeatTimeout="2m")
    world.run_until(NOON + 10_000 + 2 * MINUTE + DEADLINE_GRACE_MS)
    run = run_of(world)
    assert (run.state, run.attempts) == ("retrying", 1)
    assert run.reason == "Its consumer sent no heartbeat within heartbeatTimeout."
    assert (run.heartbeat_by, run.run_until, run.ended_at) == (None, None, None)
    world.consumers.answering = lambda _: Answer(succeeded=True, code=200)
    world.run_until(NOON + HOUR)
    assert (run_of(world).state, run_of(world).attempts) == ("succeeded", 2)


def test_a_consumer_that_never_ends_is_ended_by_the_longest_run_time_whatever_its_heartbeats() -> None:
    world = World()
    worker = running(world, maxRunTime="20m", retry={"maxAttempts": 1})
    while world.clock.time < NOON + 10_000 + 20 * MINUTE + DEADLINE_GRACE_MS:
        worker.heartbeat()
        world.run_until(world.clock.time + MINUTE)
    run = run_of(world)
    assert run.state == "failed"
    assert run.reason == "Attempt 1 of 1 failed: It was not complete within maxRunTime."
    assert len(world.queue.buried) == 1
    with pytest.raises(GoneError):
        worker.heartbeat()


def test_a_deadline_beyond_the_queue_s_reach_waits_in_the_wheel() -> None:
    world = World()
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


def test_a_run_of_a_deleted_job_ends_as_failed_when_its_consumer_is_silent() -> None:
    world = World()
    running(world, heartbeatTimeout="40m")
    world.delete()
    world.run_until(NOON + HOUR)
    run = run_of(world)
    assert (run.state, run.attempts) == ("failed", 1)
    assert "deleted" in (run.reason or "")
    assert not world.queue.buried
    assert not world.queue.waiting


def test_a_run_of_a_deleted_job_can_still_be_completed() -> None:
    world = World()
    worker = running(world)
    world.delete()
    world.put(dueTime="1h")
    assert worker.heartbeat().state == "running"
    assert worker.complete().state == "succeeded"


def test_a_pause_holds_the_retry_of_a_run_and_not_the_run() -> None:
    world = World()
    worker = running(world, heartbeatTimeout="2m")
    world.pause()
    assert worker.heartbeat().state == "running"
    world.run_until(NOON + 10 * MINUTE)
    assert (run_of(world).state, run_of(world).attempts) == ("retrying", 1)
    world.resume()
    world.run_until(NOON + 40 * MINUTE)
    assert run_of(world).attempts > 1


def test_what_the_consumer_reports_as_failed_is_retried_by_the_policy() -> None:
    world = World()
    worker = running(world)
    world.clock.time += MINUTE
    assert worker.fail().state == "running"
    world.run_until(world.clock.time + 1, ticking=False)
    run = run_of(world)
    assert (run.state, run.attempts, run.reason) == ("retrying", 1, "out of paper")
    assert run.next_attempt_at == NOON + 10_000 + MINUTE + 3_750
    world.run_until(world.clock.time + 10_000, ticking=False)
    assert (run_of(world).state, run_of(world).attempts) == ("running", 2)


def test_what_the_consumer_reports_as_failed_for_good_is_given_up() -> None:
    world = World()
    worker = running(world, onError="pause")
    worker.fail(is_final=True)
    world.run_until(world.clock.time + 1, ticking=False)
    run = run_of(world)
    assert run.state == "failed"
    assert run.reason == "Attempt 1 failed for good: out of paper."
    assert len(world.queue.buried) == 1
    job = world.jobs.get(key_of())
    assert job is not None
    assert job.paused_at is not None


def test_the_age_of_a_run_counts_from_its_first_attempt_however_long_each_takes() -> None:
    world = World()
    worker = running(world, retry={"maxAge": "10m", "initialDelay": "0s"})
    for _ in range(2):
        world.clock.time += 6 * MINUTE
        worker.fail()
        world.run_until(world.clock.time + 1, ticking=False)
    run = run_of(world)
    assert (run.state, run.attempts) == ("failed", 2)
    assert "maxAge" in (run.reason or "")


def test_a_redriven_run_goes_on_with_a_token_of_its_own() -> None:
    world = World()
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
    assert run_of(world).reason == "Attempt 1 of 1 failed: out of paper."
    world.redrive(RUN)
    world.run_until(world.clock.time + 1, ticking=False)
    assert worker.complete().state == "succeeded"


def test_a_run_is_not_forgotten_before_it_is_over_and_then_kept_as_asked() -> None:
    world = World()
    worker = running(world, historyRetention="36h", maxRunTime="2d")
    assert run_of(world).expires_at == NOON + 10_000 + 2 * DAY + TIMER_RETENTION_MS
    world.clock.time += DAY
    assert worker.complete().expires_at == NOON + 10_000 + DAY + 36 * HOUR


def test_a_job_stays_for_as_long_as_its_consumers_may_work_for_it() -> None:
    sync = World().put(dueTime="10s").job
    job = World().put(dueTime="10s", completion="async", maxRunTime="3d").job
    assert sync.expires_at is not None
    assert job.expires_at == sync.expires_at + 3 * DAY


def test_reports_that_are_repeated_are_taken_again() -> None:
    world = World()
    worker = running(world)
    assert worker.complete() == worker.complete()
    world = World()
    worker = running(world, retry={"initialDelay": "10m"})
    worker.fail()
    worker.fail()
    world.run_until(world.clock.time + 1, ticking=False)
    assert worker.fail().state == "retrying"
    assert len(waiting(world)) == 1


def test_reports_that_contradict_what_was_reported_come_too_late() -> None:
    world = World()
    worker = running(world, retry={"initialDelay": "10m"})
    worker.complete()
    with pytest.raises(ConflictError, match="succeeded already"):
        worker.fail()
    with pytest.raises(GoneError, match="succeeded: stop"):
        worker.heartbeat()
    world = World()
    worker = running(world, retry={"initialDelay": "10m"})
    worker.fail()
    world.run_until(world.clock.time + 1, ticking=False)
    with pytest.raises(ConflictError, match="retrying already"):
        worker.complete()
    with pytest.raises(GoneError, match="retrying: stop"):
        worker.heartbeat()


@pytest.mark.parametrize("token", ["shr_" + "x" * 43, "", "x"])
def test_a_token_that_is_not_the_run_s_opens_nothing_and_tells_nothing(token: str) -> None:
    world = World()
    running(world)
    reporter = world.reporter()
    for run_id in (RUN, f"{NOON}-0", "x"):
        with pytest.raises(GoneError) as one:
            reporter.complete(key_of(), run_id, token)
        with pytest.raises(GoneError) as other:
            reporter.heartbeat(key_of("none"), run_id, token)
        assert str(one.value) == str(other.value)
    assert run_of(world).state == "running"


def test_whoever_may_write_reports_without_a_token() -> None:
    world = World()
    running(world)
    reporter = world.reporter()
    assert reporter.heartbeat(key_of(), RUN, None).state == "running"
    assert reporter.complete(key_of(), RUN, None).state == "succeeded"
    with pytest.raises(NotFoundError):
        reporter.complete(key_of(), f"{NOON}-0", None)


def test_nothing_is_reported_on_a_run_that_is_not_asynchronous() -> None:
    world = World()
    handle(world, due(world))
    with pytest.raises(ConflictError, match="not async"):
        world.reporter().complete(key_of(), RUN, None)
    with pytest.raises(GoneError):
        world.reporter().complete(key_of(), RUN, "")


def test_a_report_may_be_faster_than_the_record_of_the_acceptance() -> None:
    world = World()
    worker, message = due_async(world)

    def complete_at_once(attempt: Attempt) -> Answer:
        worker.accept(attempt)
        assert worker.heartbeat().state == "claimed"
        assert worker.complete().state == "succeeded"
        return ACCEPTED

    world.consumers.answering = complete_at_once
    handle(world, message)
    assert run_of(world).state == "succeeded"
    world.run_until(NOON + HOUR)
    assert (run_of(world).state, run_of(world).attempts) == ("succeeded", 1)
    assert not world.queue.waiting


def test_a_failure_may_be_reported_before_the_acceptance_is_recorded() -> None:
    world = World()
    worker, message = due_async(world)

    def fail_at_once(attempt: Attempt) -> Answer:
        worker.accept(attempt)
        if attempt.number == 1:
            worker.fail()
            ((_, failure),) = (
                (at, each) for at, each in world.queue.waiting if isinstance(each, FailureMessage)
            )
            assert world.deliverer().handle(failure, UNREAD).outcome == "retrying"
            world.queue.waiting = [each for each in world.queue.waiting if each[1] != failure]
        return ACCEPTED

    world.consumers.answering = fail_at_once
    handle(world, message)
    assert run_of(world).state == "retrying"
    world.run_until(NOON + 20_000, ticking=False)
    assert (run_of(world).state, run_of(world).attempts) == ("running", 2)


def test_an_attempt_claimed_anew_keeps_its_token_so_that_either_copy_may_report() -> None:
    world = World()
    worker, message = due_async(world)
    failing(world, "queue.send", times=1)
    with pytest.raises(StoreError):
        handle(world, message)
    working(world)
    assert handle(world, message).outcome == "claimed"
    world.queue.waiting.clear()
    world.clock.time += ATTEMPT_CLAIM_MS
    assert handle(world, message).outcome == "running"
    assert len(world.consumers.attempts) == 2
    assert len(set(worker.tokens)) == 1
    assert worker.complete().state == "succeeded"


def test_the_deadline_of_an_acceptance_that_was_never_recorded_is_dropped() -> None:
    world = World()
    _, message = due_async(world, heartbeatTimeout="1s")
    failing(world, "runs.record", times=1)
    with pytest.raises(StoreError):
        handle(world, message)
    working(world)
    ((_, first),) = world.queue.waiting
    assert isinstance(first, DeadlineMessage)
    world.queue.waiting.clear()
    world.clock.time = first.not_before
    assert world.deliverer().handle(first, UNREAD).outcome == "watched"
    assert [at - world.clock.time for at, _ in world.queue.waiting] == [
        (run_of(world).claimed_until or 0) - world.clock.time
    ]
    world.queue.waiting.clear()
    world.clock.time = run_of(world).claimed_until or 0
    assert world.deliverer().handle(first, UNREAD).outcome == "watched"
    assert not world.queue.waiting
    assert handle(world, message).outcome == "running"
    world.queue.waiting.clear()
    assert world.deliverer().handle(first, UNREAD).outcome == "watched"
    assert not world.queue.waiting, "another's acceptance has a deadline of its own"


def test_a_copy_of_an_attempt_that_its_consumer_works_on_is_not_delivered() -> None:
    world = World()
    worker, message = due_async(world)
    handle(world, message)
    world.clock.time += ATTEMPT_CLAIM_MS
    assert handle(world, message).outcome == "repeated"
    assert len(worker.tokens) == 1


def test_a_retry_that_is_faster_than_the_record_of_the_failure_waits_for_it() -> None:
    world = World()
    worker = running(world, retry={"initialDelay": "0s"})
    world.queue.waiting.clear()
    worker.fail()
    ((_, failure),) = world.queue.waiting
    world.queue.waiting.clear()
    outcomes: list[str] = []

    def deliver_retry() -> None:
        ((_, retry),) = waiting(world)
        outcomes.append(handle(world, retry).outcome)

    meanwhile(world, "before runs.move", deliver_retry)
    assert world.deliverer().handle(failure, UNREAD).outcome == "retrying"
    assert outcomes == ["overtaken"]
    world.run_until(world.clock.time + 5_000, ticking=False)
    assert (run_of(world).state, run_of(world).attempts) == ("running", 2)


def test_a_retry_of_an_attempt_that_was_completed_after_all_is_dropped() -> None:
    world = World()
    worker = running(world, heartbeatTimeout="1m", retry={"initialDelay": "0s"})
    deadline = world.queue.waiting.pop()[1]
    assert isinstance(deadline, DeadlineMessage)
    world.clock.time = deadline.not_before
    meanwhile(world, "before runs.move", worker.complete)
    assert world.deliverer().handle(deadline, UNREAD).outcome == "watched"
    world.run_until(world.clock.time + 10 * MINUTE)
    assert (run_of(world).state, run_of(world).attempts) == ("succeeded", 1)
    assert not world.queue.waiting


def test_a_heartbeat_in_the_last_moment_saves_the_attempt() -> None:
    world = World()
    worker = running(world, heartbeatTimeout="1m", retry={"initialDelay": "0s"})
    deadline = world.queue.waiting.pop()[1]
    assert isinstance(deadline, DeadlineMessage)
    world.clock.time = deadline.not_before
    meanwhile(world, "before runs.move", worker.heartbeat)
    assert world.deliverer().handle(deadline, UNREAD).outcome == "watched"
    run = run_of(world)
    assert (run.state, run.heartbeat_by) == ("running", world.clock.time + MINUTE)
    (again,) = (each for _, each in world.queue.waiting if isinstance(each, DeadlineMessage))
    assert again == deadline_of(run, deadline.shard)
    while world.clock.time < NOON + HOUR:
        world.run_until(world.clock.time + 30_000)
        worker.heartbeat()
    assert len(worker.tokens) == 1
    worker.complete()
    world.run_until(NOON + 2 * HOUR)
    assert not world.queue.waiting


def test_a_run_that_its_consumer_works_on_can_be_cancelled_and_the_consumer_learns_of_it() -> None:
    world = World()
    worker = running(world)
    world.clock.time += MINUTE
    cancelled = cancel(world)
    assert (cancelled.state, cancelled.ended_at) == ("cancelled", NOON + 10_000 + MINUTE)
    assert cancelled.reason == "Cancelled with the key k1."
    assert cancel(world) == cancelled
    for report in (worker.heartbeat, worker.complete, worker.fail):
        with pytest.raises(GoneError, match="cancelled: stop"):
            report()
    world.run_until(NOON + HOUR)
    assert run_of(world).state == "cancelled"
    assert not world.queue.waiting


def test_a_run_that_is_to_be_tried_again_can_be_cancelled() -> None:
    world = World()
    message = due(world)
    answers(world, FAILED)
    handle(world, message)
    assert cancel(world).next_attempt_at is None
    world.run_until(NOON + HOUR, ticking=False)
    assert run_of(world).state == "cancelled"
    assert len(world.consumers.attempts) == 1
    assert not world.queue.waiting


@pytest.mark.parametrize("answer", [Answer(succeeded=True, code=200), FAILED._replace(is_final=True)])
def test_what_is_over_is_not_cancelled(answer: Answer) -> None:
    world = World()
    message = due(world)
    answers(world, answer)
    handle(world, message)
    with pytest.raises(ConflictError, match="can be cancelled"):
        cancel(world)
    with pytest.raises(NotFoundError):
        world.reporter().cancel(key_of(), f"{NOON}-0", "k1")


def test_an_attempt_under_way_is_not_cancelled() -> None:
    world = World()
    _, message = due_async(world)
    refusals: list[str] = []

    def try_to_cancel() -> None:
        with pytest.raises(ConflictError) as refused:
            cancel(world)
        refusals.append(str(refused.value))

    meanwhile(world, "before consumers.deliver", try_to_cancel)
    handle(world, message)
    assert "claimed" in refusals[0]


def test_a_deadline_is_put_back_for_as_long_as_the_stores_fail() -> None:
    world = World()
    running(world, heartbeatTimeout="1m")
    deadline = world.queue.waiting.pop()[1]
    assert isinstance(deadline, DeadlineMessage)
    world.queue.send([(deadline._replace(faults=1_000), 0)])
    world.clock.time = deadline.not_before
    failing(world, "runs.of")
    (handled,) = world.deliver(world.queue.take())
    assert (handled.delivered.outcome, handled.is_done) == ("fault", True)
    working(world)
    world.run_until(world.clock.time + HOUR)
    assert run_of(world).attempts > 1
    assert not world.queue.buried
