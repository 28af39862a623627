"""Nothing is lost, although a process is killed at any of its calls."""

from itertools import takewhile
from typing import Any

import pytest
from tests.fakes.faults import kill_everywhere
from tests.fakes.world import NOON, World, key_of

from sweephand.model.attempt import Answer
from sweephand.model.definition import CatchUpMode

MINUTE = 60_000

#: Schedules that use every road: straight to the queue, through the wheel, and both.
DEFINITIONS: dict[str, dict[str, Any]] = {
    "soon": {"dueTime": "30s"},
    "at once": {"dueTime": "0s"},
    "beyond the direct window": {"dueTime": "270s"},
    "often": {"schedule": "@every 7s"},
    "seldom": {"schedule": "@every 290s"},
    "through an hour": {"schedule": "@every 61s", "dueTime": "100s"},
}


def owed(world: World, after: int, until: int, name: str = "job") -> set[int]:
    """The due times that the stored job owes, by its own schedule."""
    job = world.jobs.get(key_of(name))
    if job is None:
        return set()
    coming = job.series.occurrences(after)
    return {each.due_at for each in takewhile(lambda each: each.due_at <= until, coming)}


@pytest.mark.parametrize("written", DEFINITIONS.values(), ids=DEFINITIONS)
def test_a_client_that_asks_again_after_a_killed_create_gets_every_occurrence(
    written: dict[str, Any],
) -> None:
    def check(world: World) -> None:
        world.clock.time += 1_500
        job = world.put(**written).job
        world.run_until(NOON + 12 * MINUTE)
        assert world.consumers.dues >= owed(world, job.updated_at - 1, NOON + 12 * MINUTE)
        assert all(attempt.trigger.uid == job.uid for attempt in world.consumers.attempts)

    kill_everywhere(lambda _: None, lambda world: world.put(**written), check)


@pytest.mark.parametrize("written", DEFINITIONS.values(), ids=DEFINITIONS)
def test_a_killed_update_leaves_the_old_revision_or_the_new_one_and_neither_loses(
    written: dict[str, Any],
) -> None:
    def prepare(world: World) -> None:
        world.put(schedule="@every 11s")
        world.run_until(NOON + 3 * MINUTE)

    def check(world: World) -> None:
        before = world.clock.time
        world.run_until(NOON + 15 * MINUTE)
        assert world.consumers.dues >= owed(world, before, NOON + 15 * MINUTE)

    kill_everywhere(prepare, lambda world: world.put(**written), check)


@pytest.mark.parametrize("written", DEFINITIONS.values(), ids=DEFINITIONS)
def test_a_killed_tick_loses_nothing_and_the_next_ones_catch_up(written: dict[str, Any]) -> None:
    def prepare(world: World) -> None:
        for number in range(3):
            world.put(f"job-{number}", **written)
        world.run_until(NOON + 3 * MINUTE, ticking=False)

    def check(world: World) -> None:
        world.run_until(NOON + 20 * MINUTE)
        for number in range(3):
            key = key_of(f"job-{number}")
            attempts = world.consumers.attempts
            delivered = {each.trigger.due_at for each in attempts if each.trigger.key == key}
            assert delivered == owed(world, NOON - 1, NOON + 20 * MINUTE, key.name)

    kill_everywhere(prepare, lambda world: world.tick(), check)


FAILURES = {
    "success": Answer(succeeded=True, code=200),
    "failure": Answer(succeeded=False, code=503),
    "final failure": Answer(succeeded=False, code=400, is_final=True),
    "a retry beyond the queue's reach": Answer(succeeded=False, code=503, retry_after_at=NOON + 40 * MINUTE),
}


@pytest.mark.parametrize("first", FAILURES.values(), ids=FAILURES)
def test_a_killed_delivery_comes_again_and_its_chain_of_attempts_goes_on(first: Answer) -> None:
    def prepare(world: World) -> None:
        world.consumers.answering = lambda attempt: (
            first if attempt.number == 1 else Answer(succeeded=True, code=200)
        )
        world.put(dueTime="30s")
        world.clock.time += 30_000

    def check(world: World) -> None:
        # The first reader of the message is gone; the queue shows it again.
        world.clock.time += 6 * MINUTE
        world.queue.reappear()
        world.run_until(NOON + 60 * MINUTE)
        ids = {attempt.trigger.id for attempt in world.consumers.attempts}
        assert len(ids) == 1
        runs = world.runs.page(key_of(), None, "", 10).items
        assert len(runs) == 1
        assert runs[0].is_over
        assert not world.queue.waiting
        if first.is_final:
            assert world.queue.buried
        elif not first.succeeded:
            assert runs[0].state == "succeeded"

    kill_everywhere(prepare, lambda world: world.deliver(world.queue.take()), check)


def paused_in_the_wheel(world: World) -> None:
    """A job that was paused after some of its triggers, with others in the queue and in the wheel."""
    world.put(schedule="@every 11s")
    world.run_until(NOON + 3 * MINUTE)
    world.pause()
    world.run_until(NOON + 5 * MINUTE)


@pytest.mark.parametrize("mode", ["latest", "all", "none"])
def test_a_killed_resume_leaves_the_job_paused_or_going_on_and_asking_again_loses_nothing(
    mode: CatchUpMode,
) -> None:
    def check(world: World) -> None:
        world.clock.time += 1_500
        stored = world.stored()
        was_paused = stored.paused_at is not None
        job = world.resume(mode=mode)
        world.run_until(NOON + 20 * MINUTE)
        assert job.paused_at is None
        assert was_paused == (job.version != stored.version)
        assert world.consumers.dues >= owed(world, job.current.since, NOON + 20 * MINUTE)
        before = owed(world, NOON, NOON + 3 * MINUTE)
        assert world.consumers.dues >= before
        skipped = owed(world, NOON + 3 * MINUTE, job.current.since)
        assert not world.consumers.dues & skipped

    kill_everywhere(paused_in_the_wheel, lambda world: world.resume(mode=mode), check)


def test_a_killed_pause_leaves_the_job_active_or_paused_and_loses_no_trigger() -> None:
    def prepare(world: World) -> None:
        world.put(schedule="@every 11s")
        world.run_until(NOON + 3 * MINUTE)

    def check(world: World) -> None:
        before = len(world.consumers.ids)
        stored = world.stored()
        world.run_until(NOON + 6 * MINUTE)
        assert (len(world.consumers.ids) == before) == (stored.paused_at is not None)
        world.pause()
        world.resume(mode="all")
        world.run_until(NOON + 25 * MINUTE)
        assert world.consumers.dues >= owed(world, NOON, NOON + 20 * MINUTE)

    kill_everywhere(prepare, lambda world: world.pause(), check)
