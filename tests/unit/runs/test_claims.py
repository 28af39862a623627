"""Claims of attempts that were not made are released, even if the job has changed in the meantime."""

from collections.abc import Callable

import pytest
from tests.fakes.acceptance import RUN
from tests.fakes.deliveries import FAILED, answers, crash_until, run_of
from tests.fakes.world import NOON, World, key_of

from sweephand.model.run import Run

MINUTE = 60_000
HOUR = 60 * MINUTE


def while_connecting(world: World, attempt: int, action: Callable[[], object]) -> None:
    """Do something while the connection of that attempt takes a second and a half."""
    connections = [0]

    def connecting() -> None:
        connections[0] += 1
        if connections[0] == attempt:
            world.clock.time += 1_500
            action()

    world.consumers.connecting = connecting


def runs_of(world: World) -> list[Run]:
    return list(world.runs.page(key_of(), None, "", 10).items)


@pytest.mark.parametrize(("attempt", "due"), [(1, "150s"), (2, "10s")])
def test_a_run_whose_job_is_deleted_while_an_attempt_connects_is_cancelled(attempt: int, due: str) -> None:
    world = World()
    answers(world, *[FAILED] * (attempt - 1))
    world.put(dueTime=due, history="full")
    while_connecting(world, attempt, world.delete)
    world.run_until(NOON + HOUR)
    run = run_of(world)
    assert (run.state, run.attempts, run.reason) == ("cancelled", attempt - 1, "Its job was deleted.")
    assert len(world.consumers.attempts) == attempt - 1
    assert not world.queue.waiting


def test_a_first_attempt_whose_job_is_deleted_and_comes_back_within_the_grace_is_made(world: World) -> None:
    world.put(dueTime="10s", history="full")
    job = world.stored()
    while_connecting(world, 1, world.delete)
    world.run_until(NOON + 30_000)
    assert not runs_of(world)
    # The SDK repeats the creation, after another client's deletion.
    assert world.jobs.put(job, None)
    world.run_until(NOON + HOUR)
    assert (run_of(world).state, run_of(world).attempts) == ("succeeded", 1)


def test_a_first_attempt_whose_job_stays_deleted_leaves_no_record_and_no_message(world: World) -> None:
    world.put(dueTime="10s", history="full")
    while_connecting(world, 1, world.delete)
    world.run_until(NOON + HOUR)
    assert not runs_of(world)
    assert not world.consumers.attempts
    assert not world.queue.waiting


def test_a_run_whose_job_is_replaced_while_an_attempt_connects_is_delivered_as_the_job_is_now() -> None:
    world = World()
    world.put(dueTime="10s", history="full", data='"before"')
    while_connecting(world, 1, lambda: world.patch(description="changed"))
    world.run_until(NOON + HOUR)
    assert [run.state for run in runs_of(world)] == ["succeeded"]


def test_a_redriven_run_whose_job_is_deleted_while_it_connects_is_cancelled(world: World) -> None:
    answers(world, FAILED)
    world.put(dueTime="10s", retry={"maxAttempts": 1})
    world.run_until(NOON + MINUTE)
    while_connecting(world, 1, world.delete)
    world.redrive(RUN)
    world.run_until(NOON + HOUR)
    assert (run_of(world).state, run_of(world).attempts) == ("cancelled", 1)


@pytest.mark.parametrize("attempt", [1, 2])
def test_a_claim_of_a_function_that_crashed_ends_when_its_job_is_deleted(world: World, attempt: int) -> None:
    answers(world, *[FAILED] * (attempt - 1))
    world.put(dueTime="10s", history="full", retry={"initialDelay": "1m"})
    if attempt > 1:
        world.run_until(NOON + 20_000)
    crash_until(world, NOON + 3 * MINUTE)
    assert run_of(world).state == "claimed"
    world.delete()
    world.run_until(NOON + HOUR)
    assert (run_of(world).state, run_of(world).attempts) == ("cancelled", attempt)
    assert not world.queue.waiting


def test_an_attempt_that_a_crashed_function_may_have_sent_keeps_its_claim_until_a_takeover() -> None:
    world = World()
    world.put(dueTime="10s", history="full")
    crash_until(world, NOON + MINUTE)
    while_connecting(world, 1, world.pause)
    world.run_until(NOON + HOUR)
    assert run_of(world).state == "claimed"
    world.resume()
    world.run_until(NOON + 2 * HOUR)
    assert run_of(world).state == "succeeded"
