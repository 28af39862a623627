"""Jobs with `deleteAfterCompletion` lose no run and are deleted, although functions crash or stores fail."""

from tests.fakes.faults import calls_of, failing, killed_at
from tests.fakes.world import NOON, World

MINUTE = 60_000


def test_a_job_that_cannot_be_written_now_is_left_to_its_retention(world: World) -> None:
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
