"""Reports on asynchronous runs: which callers may make them, when they count, and which writes they meet."""

import pytest
from tests.fakes.acceptance import ACCEPTED, RUN, cancel, due_async, running
from tests.fakes.deliveries import FAILED, answers, due, handle, run_of, waiting
from tests.fakes.faults import failing, meanwhile, working
from tests.fakes.world import NOON, World, key_of

from sweephand.base.errors import ConflictError, GoneError, NotFoundError, StoreError
from sweephand.base.timing import ATTEMPT_CLAIM_MS, DEADLINE_GRACE_MS
from sweephand.model.attempt import Answer, Attempt
from sweephand.model.trigger import DeadlineMessage

MINUTE = 60_000
HOUR = 60 * MINUTE


def test_a_repeated_report_is_accepted(world: World) -> None:
    worker = running(world)
    assert worker.complete() == worker.complete()
    world = World()
    worker = running(world, retry={"initialDelay": "10m"})
    worker.fail()
    worker.fail()
    world.run_until(world.clock.time + 1, ticking=False)
    assert worker.fail().state == "retrying"
    assert len(waiting(world)) == 1


def test_a_report_that_contradicts_an_earlier_one_is_refused(world: World) -> None:
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
def test_a_token_that_is_not_the_runs_changes_nothing_and_reveals_nothing(world: World, token: str) -> None:
    running(world)
    reporter = world.callbacks()
    for run_id in (RUN, f"{NOON}-0", "x"):
        with pytest.raises(GoneError) as one:
            reporter.complete(key_of(), run_id, token)
        with pytest.raises(GoneError) as other:
            reporter.heartbeat(key_of("none"), run_id, token)
        assert str(one.value) == str(other.value)
    assert run_of(world).state == "running"


def test_a_caller_who_may_write_the_job_reports_without_a_token(world: World) -> None:
    running(world)
    reporter = world.callbacks()
    assert reporter.heartbeat(key_of(), RUN, None).state == "running"
    assert reporter.complete(key_of(), RUN, None).state == "succeeded"
    with pytest.raises(NotFoundError):
        reporter.complete(key_of(), f"{NOON}-0", None)


def test_nothing_is_reported_on_a_run_that_is_not_asynchronous(world: World) -> None:
    handle(world, due(world))
    with pytest.raises(ConflictError, match="not async"):
        world.callbacks().complete(key_of(), RUN, None)
    with pytest.raises(GoneError):
        world.callbacks().complete(key_of(), RUN, "")


def test_a_report_may_be_faster_than_the_record_of_the_acceptance(world: World) -> None:
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


def test_the_deadline_of_an_acceptance_that_was_never_recorded_is_dropped(world: World) -> None:
    _, message = due_async(world, heartbeatTimeout="1s")
    failing(world, "runs.record", times=1)
    with pytest.raises(StoreError):
        handle(world, message)
    working(world)
    ((_, first),) = world.queue.waiting
    assert isinstance(first, DeadlineMessage)
    world.queue.waiting.clear()
    world.clock.time = first.not_before
    assert handle(world, first).name == "watched"
    assert [at - world.clock.time for at, _ in world.queue.waiting] == [
        (run_of(world).claimed_until or 0) - world.clock.time
    ]
    world.queue.waiting.clear()
    world.clock.time = run_of(world).claimed_until or 0
    assert handle(world, first).name == "watched"
    assert not world.queue.waiting
    assert handle(world, message).name == "running"
    world.queue.waiting.clear()
    assert handle(world, first).name == "watched"
    assert not world.queue.waiting, "another's acceptance has a deadline of its own"


def test_a_copy_of_an_attempt_that_its_consumer_works_on_is_not_delivered(world: World) -> None:
    worker, message = due_async(world)
    handle(world, message)
    world.clock.time += ATTEMPT_CLAIM_MS
    assert handle(world, message).name == "repeated"
    assert len(worker.tokens) == 1


def test_a_retry_of_an_attempt_that_was_completed_after_all_is_dropped(world: World) -> None:
    worker = running(world, heartbeatTimeout="1m", retry={"initialDelay": "0s"})
    deadline = world.queue.waiting.pop()[1]
    assert isinstance(deadline, DeadlineMessage)
    world.clock.time = deadline.not_before
    meanwhile(world, "before runs.move", worker.complete)
    assert handle(world, deadline).name == "watched"
    world.run_until(world.clock.time + 10 * MINUTE)
    assert (run_of(world).state, run_of(world).attempts) == ("succeeded", 1)
    assert not world.queue.waiting


def test_a_callback_after_the_longest_run_time_is_refused_though_the_check_of_the_deadline_is_late() -> None:
    world = World()
    worker = running(world, maxRunTime="20m", heartbeatTimeout="15m", retry={"maxAttempts": 1})
    ends_at = run_of(world).run_until
    assert ends_at is not None
    world.clock.time += 10 * MINUTE
    worker.heartbeat()
    # The clock of the function that wrote the deadline may have been behind by five seconds.
    world.clock.time = ends_at + DEADLINE_GRACE_MS - 1
    assert worker.heartbeat().run_until == ends_at
    world.clock.time += 1
    for callback in (worker.heartbeat, worker.complete, worker.fail):
        with pytest.raises(GoneError, match="maxRunTime is over"):
            callback()
    with pytest.raises(GoneError, match="maxRunTime is over"):
        world.callbacks().complete(key_of(), RUN, None)
    assert run_of(world).state == "running"
    world.run_until(world.clock.time + MINUTE)
    assert run_of(world).state == "failed"


def test_a_repeated_completion_is_accepted_after_the_longest_run_time(world: World) -> None:
    worker = running(world, maxRunTime="20m", heartbeatTimeout="15m")
    completed = worker.complete()
    world.clock.time += HOUR
    assert worker.complete() == completed


def test_a_run_that_its_consumer_works_on_can_be_cancelled_and_the_consumer_learns_of_it() -> None:
    world = World()
    worker = running(world)
    world.clock.time += MINUTE
    cancelled = cancel(world)
    assert (cancelled.state, cancelled.ended_at) == ("cancelled", NOON + 10_000 + MINUTE)
    assert cancelled.reason == "Cancelled with the key k1."
    with pytest.raises(ConflictError, match="cancelled already"):
        cancel(world)
    for report in (worker.heartbeat, worker.complete, worker.fail):
        with pytest.raises(GoneError, match="cancelled: stop"):
            report()
    world.run_until(NOON + HOUR)
    assert run_of(world).state == "cancelled"
    assert not world.queue.waiting


def test_a_run_that_is_to_be_tried_again_can_be_cancelled(world: World) -> None:
    message = due(world)
    answers(world, FAILED)
    handle(world, message)
    assert cancel(world).next_attempt_at is None
    world.run_until(NOON + HOUR, ticking=False)
    assert run_of(world).state == "cancelled"
    assert len(world.consumers.attempts) == 1
    assert not world.queue.waiting


@pytest.mark.parametrize("answer", [Answer(succeeded=True, code=200), FAILED._replace(is_final=True)])
def test_a_run_that_is_over_is_not_cancelled(world: World, answer: Answer) -> None:
    message = due(world)
    answers(world, answer)
    handle(world, message)
    with pytest.raises(ConflictError, match="can be cancelled"):
        cancel(world)
    with pytest.raises(NotFoundError):
        world.callbacks().cancel(key_of(), f"{NOON}-0", "k1")


def test_an_attempt_under_way_is_not_cancelled(world: World) -> None:
    _, message = due_async(world)
    refusals: list[str] = []

    def try_to_cancel() -> None:
        with pytest.raises(ConflictError) as refused:
            cancel(world)
        refusals.append(str(refused.value))

    meanwhile(world, "before consumers.deliver", try_to_cancel)
    handle(world, message)
    assert "claimed" in refusals[0]


def test_a_deadline_message_is_put_back_for_as_long_as_the_stores_fail(world: World) -> None:
    running(world, heartbeatTimeout="1m")
    deadline = world.queue.waiting.pop()[1]
    assert isinstance(deadline, DeadlineMessage)
    world.queue.send([(deadline._replace(faults=1_000), 0)])
    world.clock.time = deadline.not_before
    failing(world, "runs.of")
    (handled,) = world.deliver(world.queue.take())
    assert (handled.outcome.name, handled.is_done) == ("fault", True)
    working(world)
    world.run_until(world.clock.time + HOUR)
    assert run_of(world).attempts > 1
    assert not world.queue.buried
