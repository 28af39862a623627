"""Jobs with `deleteAfterCompletion` lose no run and are deleted, although functions crash or stores fail."""

from contextlib import suppress

import pytest
from tests.fakes.faults import calls_of, failing, killed_at
from tests.fakes.world import NOON, World, key_of

from sweephand.base.errors import ConflictError, NotFoundError
from sweephand.model.attempt import Answer

MINUTE = 60_000


def test_a_job_that_cannot_be_written_now_is_left_to_its_retention() -> None:
    world = World()
    world.put(dueTime="10s", deleteAfterCompletion=True)
    world.clock.time = NOON + 10_000
    failing(world, "jobs.put")
    world.run_until(NOON + 11_000)
    assert len(world.consumers.ids) == 1
    assert world.has_job()


def test_a_delivery_that_is_killed_anywhere_is_repeated_and_the_job_expires() -> None:
    def prepared() -> World:
        world = World()
        world.put(dueTime="10s", deleteAfterCompletion=True)
        world.clock.time = NOON + 10_000
        return world

    trial = prepared()
    calls = calls_of(trial, lambda: trial.deliver(trial.queue.take()))
    assert "before jobs.put" in calls
    for number in range(len(calls)):
        world = prepared()
        killed_at(world, number, lambda: world.deliver(world.queue.take()))  # noqa: B023 - called within this turn
        world.queue.reappear()
        world.run_until(NOON + MINUTE)
        assert len(set(world.consumers.ids)) == 1, calls[number]
        assert not world.has_job(), calls[number]


@pytest.mark.parametrize("report", ["complete", "cancel"])
def test_a_report_that_is_killed_anywhere_is_repeated_and_the_job_expires(report: str) -> None:
    run_id = f"{NOON + 10_000}-0"

    def prepared() -> World:
        world = World()
        world.put(dueTime="10s", deleteAfterCompletion=True, completion="async")
        world.consumers.answering = lambda _: Answer(succeeded=True, code=202)
        world.run_until(NOON + 11_000)
        return world

    def end(world: World) -> None:
        reporter = world.callbacks()
        if report == "complete":
            reporter.complete(key_of(), run_id, None)
        else:
            reporter.cancel(key_of(), run_id, "test")

    trial = prepared()
    calls = calls_of(trial, lambda: end(trial))
    for number in range(len(calls)):
        world = prepared()
        killed_at(world, number, lambda: end(world))  # noqa: B023 - called within this turn
        # Cancelled twice, it is refused; what follows the end is done all the same.
        with suppress(ConflictError):
            end(world)
        assert not world.has_job(), calls[number]


def test_a_resume_that_is_killed_anywhere_is_repeated_and_the_job_expires() -> None:
    def prepared() -> World:
        world = World()
        world.put(schedule="R3/PT10M", deleteAfterCompletion=True, catchup={"mode": "none"})
        world.run_until(NOON + MINUTE)
        world.pause()
        world.clock.time += 60 * MINUTE
        return world

    trial = prepared()
    calls = calls_of(trial, trial.resume)
    for number in range(len(calls)):
        world = prepared()
        killed_at(world, number, world.resume)
        with suppress(NotFoundError):
            world.resume()
        world.run_until(world.clock.time + 5 * MINUTE)
        assert not world.has_job(), calls[number]
