"""Of two reports on one attempt, the one that is recorded first counts."""

from contextlib import suppress

import pytest
from tests.fakes.acceptance import ACCEPTED, RUN, Worker, cancel, running
from tests.fakes.deliveries import due, run_of
from tests.fakes.faults import failing, killed_at
from tests.fakes.world import NOON, World, key_of

from sweephand.base.errors import ConflictError, GoneError
from sweephand.model.attempt import Answer, Attempt
from sweephand.model.trigger import Failure, FailureMessage
from sweephand.model.wire import encode
from sweephand.runs.received import Received

HOUR = 3_600_000


def test_a_run_that_was_reported_as_failed_takes_no_completion_heartbeat_or_cancellation() -> None:
    world = World()
    worker = running(world)
    worker.fail()
    assert run_of(world).is_ending
    with pytest.raises(ConflictError, match=r"failed already\. This callback came too late"):
        worker.complete()
    with pytest.raises(GoneError, match="failed: stop"):
        worker.heartbeat()
    with pytest.raises(ConflictError, match="has just failed"):
        cancel(world)
    world.run_until(NOON + 11_000)
    assert run_of(world).state == "retrying"


def test_a_failure_is_repeated_safely_before_and_after_it_is_settled_and_another_is_refused() -> None:
    world = World()
    worker = running(world)
    worker.fail(reason="out of paper")
    worker.fail(reason="out of paper")
    for reason, is_final in (("out of ink", False), ("out of paper", True)):
        with pytest.raises(ConflictError):
            worker.fail(reason=reason, is_final=is_final)
    world.run_until(NOON + 11_000)
    assert run_of(world).last_failure == Failure(1, "out of paper")
    assert worker.fail(reason="out of paper").state == "retrying"
    with pytest.raises(ConflictError):
        worker.fail(reason="out of ink")


def test_a_completion_is_repeated_safely_and_a_failure_after_it_is_refused(world: World) -> None:
    worker = running(world)
    assert worker.complete().state == "succeeded"
    assert worker.complete().state == "succeeded"
    with pytest.raises(ConflictError):
        worker.fail()
    world.run_until(NOON + HOUR)
    assert run_of(world).state == "succeeded"


@pytest.mark.parametrize("answer", [ACCEPTED, Answer(succeeded=True, code=200), Answer(succeeded=False)])
def test_a_failure_that_is_reported_before_the_answer_to_the_request_counts(answer: Answer) -> None:
    world = World()
    worker = Worker(world)

    def fail_at_once(attempt: Attempt) -> Answer:
        worker.accept(attempt)
        worker.fail(is_final=True)
        return answer

    world.consumers.answering = fail_at_once
    world.put(dueTime="10s", completion="async", retry={"maxAttempts": 1})
    world.run_until(NOON + HOUR)
    run = run_of(world)
    assert (run.state, run.last_failure) == ("failed", Failure(1, "out of paper", None, is_final=True))
    assert [letter.reason for letter, _ in world.queue.buried] == [run.reason]


def test_a_run_that_was_completed_is_not_attempted_again_after_a_fault_though_its_job_claims_no_more(
    world: World,
) -> None:
    def answering(attempt: Attempt) -> Answer:
        if attempt.run_token is None:
            return Answer(succeeded=False, code=400, is_final=True)
        world.callbacks().complete(key_of(), attempt.trigger.run_id, attempt.run_token)
        world.patch(completion="sync")
        failing(world, "runs.record", times=1)
        return Answer(succeeded=False, error="The answer was lost.")

    message = due(world, completion="async", retry={"maxAttempts": 1})
    world.consumers.answering = answering
    (handled,) = world.deliver([Received("1", "1", 1, encode(message))])
    assert handled.outcome.name == "fault"
    world.run_until(NOON + HOUR)
    assert (run_of(world).state, world.queue.buried) == ("succeeded", [])
    assert len(world.consumers.attempts) == 1


def test_a_run_that_was_completed_is_not_attempted_by_a_copy_though_its_job_claims_no_more() -> None:
    world = World()
    message = due(world, completion="async", history="failures", retry={"maxAttempts": 1})
    world.consumers.answering = lambda _: ACCEPTED
    world.deliver([Received("1", "1", 1, encode(message))])
    (attempt,) = world.consumers.attempts
    world.callbacks().complete(key_of(), attempt.trigger.run_id, attempt.run_token)
    world.patch(completion="sync")
    world.consumers.answering = lambda _: Answer(succeeded=False, error="No answer in time.")
    # A sweeper sent the trigger, crashed before its commit, and the next one sends it again.
    (handled,) = world.deliver([Received("2", "2", 1, encode(message))])
    assert handled.outcome.name == "repeated"
    assert (run_of(world).state, world.queue.buried) == ("succeeded", [])
    assert len(world.consumers.attempts) == 1


@pytest.mark.parametrize("state", ["running", "claimed"])
def test_a_failure_that_was_recorded_ends_the_attempt_though_its_message_is_lost(state: str) -> None:
    world = World()
    worker = running(world)
    if state == "claimed":
        run = run_of(world)
        place = (run.key, run.run_id, run.uid)
        world.runs._runs[place] = claimed = run.__class__(
            **{name: getattr(run, name) for name in run.__slots__}
            | {"state": "claimed", "heartbeat_by": None, "run_until": None}
        )
        assert claimed.claimed_until is not None
    worker.fail(reason="out of paper")
    world.queue.waiting = [each for each in world.queue.waiting if type(each[1]).__name__ != "FailureMessage"]
    world.run_until(NOON + 10 * 60_000)
    assert run_of(world).last_failure == Failure(1, "out of paper")
    assert [attempt.number for attempt in world.consumers.attempts] == [1, 2]


def test_a_function_that_stood_still_buries_no_failure_that_another_one_has_settled(
    world: World,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    worker = running(world, retry={"maxAge": "1m", "initialDelay": "1s"})
    worker.fail()
    (failure,) = (each[1] for each in world.queue.waiting if isinstance(each[1], FailureMessage))
    # The function has read the run before it stands still.
    seen = [run_of(world)]
    world.run_until(NOON + 5 * 60_000 - 1)
    worker.complete()
    of = world.runs.of
    monkeypatch.setattr(world.runs, "of", lambda trigger: seen.pop() if seen else of(trigger))
    world.deliver([Received("9", "9", 1, encode(failure))])
    assert not seen
    assert (run_of(world).state, world.queue.buried) == ("succeeded", [])


def test_a_failure_whose_settling_is_killed_anywhere_is_settled_when_its_message_comes_again() -> None:
    def prepared() -> World:
        world = World()
        running(world, retry={"maxAttempts": 1}).fail()
        return world

    for number in range(12):
        world = prepared()
        with suppress(IndexError):
            killed_at(world, number, lambda: world.deliver(world.queue.take()))  # noqa: B023 - called now
        world.queue.reappear()
        world.run_until(NOON + HOUR)
        assert run_of(world).state == "failed"
        assert {letter.reason for letter, _ in world.queue.buried} == {run_of(world).reason}


def test_the_last_failure_stays_known_when_a_later_attempt_succeeds_and_when_it_is_redriven() -> None:
    world = World()
    world.put(dueTime="10s", retry={"maxAttempts": 2, "initialDelay": "1s"})
    codes = iter((500, 503, 200))
    world.consumers.answering = lambda _: Answer(succeeded=(code := next(codes)) < 300, code=code)
    world.run_until(NOON + 20_000)
    assert run_of(world).last_failure == Failure(2, "Response 503.", 503)
    world.redrive(RUN)
    world.run_until(NOON + 30_000)
    run = run_of(world)
    assert (run.state, run.attempts, run.last_failure) == ("succeeded", 3, Failure(2, "Response 503.", 503))
