"""A run ends once, although the delivery function crashes at any of its calls."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.fakes.deliveries import change, run_of
from tests.fakes.faults import kill_everywhere
from tests.fakes.world import NOON, World

from sweephand.model.attempt import Answer, Attempt
from sweephand.runs.flagged_list import RunFilter

MINUTE = 60_000
SUCCESS = Answer(succeeded=True, code=200)
FAILED = Answer(succeeded=False, code=503)
GONE = Answer(succeeded=False, code=410, is_final=True)

#: What is written of a job, and what its consumer says to each attempt; then it succeeds.
SCENES: dict[str, tuple[dict[str, Any], tuple[Answer, ...]]] = {
    "success": ({}, ()),
    "success, fully recorded": ({"history": "full"}, ()),
    "failure": ({}, (FAILED,)),
    "failure, fully recorded": ({"history": "full"}, (FAILED,)),
    "failure, failures recorded": ({"history": "failures"}, (FAILED,)),
    "given up": ({"retry": {"maxAttempts": 1}}, (FAILED,)),
    "given up and paused": ({"retry": {"maxAttempts": 1}, "onError": "pause"}, (FAILED,)),
    "gone": ({}, (GONE,)),
    "gone, fully recorded": ({"history": "full"}, (GONE,)),
}


def prepared(scene: str) -> Callable[[World], None]:
    """Bring a trigger to where its first delivery may begin."""
    written, given = SCENES[scene]

    def answer(attempt: Attempt) -> Answer:
        return given[attempt.number - 1] if attempt.number <= len(given) else SUCCESS

    def prepare(world: World) -> None:
        world.consumers.answering = answer
        world.put(dueTime="30s", **written)
        world.clock.time += 30_000

    return prepare


def check_end(world: World, scene: str) -> None:
    """The one run has come to its end, as its scene has it, and nothing more will come."""
    written, given = SCENES[scene]
    # The function that held the message is gone. The queue shows the message again.
    world.clock.time += 6 * MINUTE
    world.queue.reappear()
    world.run_until(world.clock.time + 30 * MINUTE)
    job = world.stored()
    assert (job.paused_at is not None) == (given == (GONE,) or "onError" in written)
    # A pause holds the copies of what caused it, too.
    change(world, paused_at=None)
    world.run_until(world.clock.time + 60 * MINUTE)
    change(world, paused_at=None)
    world.run_until(world.clock.time + 60 * MINUTE)
    assert not world.queue.waiting
    assert len(set(world.consumers.ids)) == 1
    is_given_up = given == (GONE,) or (bool(given) and "retry" in written)
    run = run_of(world)
    assert run.state == ("failed" if is_given_up else "succeeded")
    assert run.attempts == (1 if is_given_up else 1 + len(given))
    assert bool(world.queue.buried) == is_given_up
    listed = world.api().flagged.page(RunFilter("ns"), "", 10, world.clock.time)
    assert listed.items == ((run,) if is_given_up else ())


@pytest.mark.parametrize("scene", SCENES)
def test_a_killed_delivery_comes_to_the_same_end(scene: str) -> None:
    kill_everywhere(
        prepared(scene),
        lambda world: world.deliver(world.queue.take()),
        lambda world: check_end(world, scene),
    )


REDRIVEN = f"{NOON + 30_000}-0"


def given_up(world: World) -> None:
    """A job whose one trigger has been given up; then its consumer is well again."""
    prepared("given up")(world)
    world.deliver(world.queue.take())
    world.consumers.answering = lambda _: SUCCESS
    world.clock.time += MINUTE


def check_redriven(world: World) -> None:
    world.clock.time += 6 * MINUTE
    world.queue.reappear()
    world.redrive(REDRIVEN) if run_of(world).state == "failed" else None
    world.run_until(world.clock.time + 10 * MINUTE)
    assert (run_of(world).state, run_of(world).attempts) == ("succeeded", 2)
    assert not world.queue.waiting


def test_a_redrive_killed_anywhere_can_be_asked_for_again() -> None:
    kill_everywhere(given_up, lambda world: world.redrive(REDRIVEN), check_redriven)


def test_a_redriven_delivery_killed_anywhere_comes_to_its_end() -> None:
    def prepare(world: World) -> None:
        given_up(world)
        world.redrive(REDRIVEN)

    kill_everywhere(prepare, lambda world: world.deliver(world.queue.take()), check_redriven)
