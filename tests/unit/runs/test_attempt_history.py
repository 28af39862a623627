"""What a run keeps of its attempts: when each was made, how long it took, and its answer in short."""

from typing import Any

import pytest
from tests.fakes.deliveries import run_of
from tests.fakes.world import NOON, World

from sweephand.base.limits import ATTEMPT_TEXT_MAX, ATTEMPTS_KEPT
from sweephand.model.attempt import Answer, Attempt
from sweephand.model.failed_attempt import FailedAttempt


def world_with(*answers: Answer, **written: Any) -> World:
    """A job that is due once at :10. Its consumer takes 300 ms for each answer: these, and then 204."""
    world = World()

    def answer(attempt: Attempt) -> Answer:
        world.clock.time += 300
        is_given = attempt.number <= len(answers)
        return answers[attempt.number - 1] if is_given else Answer(succeeded=True, code=204)

    world.consumers.answering = answer
    retry: dict[str, Any] = {"initialDelay": "10s", "multiplier": 1, "maxAttempts": 20}
    world.put(dueTime="10s", **{"retry": retry} | written)
    return world


BUSY = Answer(succeeded=False, code=503, text="busy " * 30)
SILENT = Answer(succeeded=False, error="No response within 15 s.")


def test_a_run_keeps_when_each_failed_attempt_was_made_how_long_it_took_and_its_answer() -> None:
    world = world_with(BUSY, SILENT)
    world.run_until(NOON + 60_000)
    run = run_of(world)
    first, second = run.failed_attempts
    assert first == FailedAttempt(1, NOON + 10_000, 300, 503, ("busy " * 30)[:ATTEMPT_TEXT_MAX])
    assert second == FailedAttempt(2, second.began_at, 300, None, "No response within 15 s.")
    assert NOON + 15_000 <= second.began_at - 300 <= NOON + 21_000
    assert (run.state, run.attempts) == ("succeeded", 3)
    assert run.attempt_began_at is not None
    assert second.began_at < run.attempt_began_at == (run.ended_at or 0) - 300


@pytest.mark.parametrize("history", ["outcome", "full"])
def test_a_first_attempt_that_succeeds_keeps_nothing_more(history: str) -> None:
    world = world_with(history=history)
    world.run_until(NOON + 60_000)
    run = run_of(world)
    assert (run.failed_attempts, run.attempt_at, run.attempt_began_at) == ((), None, run.started_at)


def test_the_newest_attempts_are_kept_and_a_redrive_goes_on_with_them() -> None:
    world = world_with(*[BUSY] * 15, retry={"initialDelay": "1s", "multiplier": 1, "maxAttempts": 12})
    world.run_until(NOON + 120_000)
    run = run_of(world)
    assert [each.attempt for each in run.failed_attempts] == list(range(3, 13))
    world.redrive(run.run_id)
    world.run_until(NOON + 240_000)
    run = run_of(world)
    assert (run.state, len(run.failed_attempts)) == ("succeeded", ATTEMPTS_KEPT)
    assert [each.attempt for each in run.failed_attempts] == list(range(6, 16))


def test_an_attempt_that_its_consumer_fails_later_took_until_its_callback() -> None:
    accepted = Answer(succeeded=True, code=202)
    world = world_with(accepted, accepted, completion="async")
    world.run_until(NOON + 11_000)
    run = run_of(world)
    world.clock.time = NOON + 15_000
    world.callbacks().fail(run.key, run.run_id, run.token, reason="out of paper", is_final=False)
    world.run_until(NOON + 60_000)
    run = run_of(world)
    assert run.failed_attempts == (FailedAttempt(1, NOON + 10_000, 5_000, None, "out of paper"),)
    assert (run.state, run.attempts) == ("running", 2)
    assert run.attempt_began_at is not None
    world.callbacks().fail(run.key, run.run_id, run.token, reason="still none", is_final=True)
    world.run_until(NOON + 61_000)
    assert [each.text for each in run_of(world).failed_attempts] == ["out of paper", "still none"]
