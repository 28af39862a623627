"""No run of a deleted job stays in a state that promises another attempt."""

from contextlib import suppress
from typing import Any

import pytest
from tests.fakes.deliveries import FAILED, answers, due, handle, run_of, waiting
from tests.fakes.faults import crashing, working
from tests.fakes.world import NOON, World, key_of

from sweephand.model.trigger import TriggerMessage
from sweephand.runs.faults import CRASHES_MAX

MINUTE = 60_000
HOUR = 60 * MINUTE
FAR = "2099-01-01T00:00:00Z"


def failed_once(**written: Any) -> World:
    """A job whose run is to be tried again."""
    world = World()
    message = due(world, **written)
    answers(world, FAILED)
    assert handle(world, message).name == "retrying"
    return world


def come_back_after_crashes(world: World, message: TriggerMessage, *, recreated: bool) -> None:
    """Delete the job, perhaps for another of its name, and receive a trigger that has crashed its most."""
    world.delete()
    if recreated:
        world.put(dueTime=FAR)
        world.queue.waiting.clear()
    world.clock.time += HOUR
    world.queue.send([(message._replace(crashes=CRASHES_MAX), 0)])
    world.deliver(world.queue.take())


@pytest.mark.parametrize("delay", ["5s", "1h"])
def test_a_run_to_be_retried_is_cancelled_when_its_retry_comes(delay: str) -> None:
    world = failed_once(retry={"initialDelay": delay})
    world.delete()
    world.run_until(NOON + 2 * HOUR)
    run = run_of(world)
    assert (run.state, run.reason, run.attempts) == ("cancelled", "Its job was deleted.", 1)
    assert run.next_attempt_at is None
    assert run.ended_at is not None
    assert len(world.consumers.attempts) == 1


def test_a_retry_of_a_deleted_job_is_cancelled_at_once_however_young_the_job_was() -> None:
    world = failed_once()
    ((at_ms, retry),) = waiting(world)
    world.delete()
    world.clock.time = NOON + at_ms
    assert handle(world, retry).name == "dropped"
    assert run_of(world).state == "cancelled"


def test_a_run_of_a_deleted_job_is_cancelled_though_there_is_a_new_job_of_its_name() -> None:
    world = failed_once()
    world.delete()
    world.put(dueTime=FAR)
    world.run_until(NOON + HOUR)
    assert run_of(world).state == "cancelled"


def test_a_later_copy_of_the_retry_leaves_the_cancelled_run_as_it_is() -> None:
    world = failed_once()
    ((_, retry),) = waiting(world)
    world.delete()
    world.clock.time += HOUR
    assert handle(world, retry).name == "dropped"
    ended = run_of(world)
    world.clock.time += MINUTE
    assert handle(world, retry).name == "dropped"
    assert run_of(world) == ended


def test_a_run_that_has_succeeded_or_is_at_a_later_attempt_stays_as_it_is() -> None:
    world = failed_once()
    ((_, retry),) = waiting(world)
    world.clock.time += MINUTE
    assert handle(world, retry).name == "succeeded"
    world.delete()
    world.clock.time += HOUR
    assert handle(world, retry).name == "dropped"
    assert run_of(world).state == "succeeded"


def test_a_retry_that_crashes_functions_ends_its_run_too() -> None:
    world = failed_once()
    ((_, retry),) = waiting(world)
    world.queue.waiting.clear()
    world.delete()
    world.clock.time += HOUR
    world.queue.send([(retry._replace(crashes=CRASHES_MAX), 0)])
    world.deliver(world.queue.take())
    assert run_of(world).state == "cancelled"


@pytest.mark.parametrize("recreated", [False, True])
def test_a_trigger_that_crashed_functions_leaves_no_run_of_a_missing_job(*, recreated: bool) -> None:
    world = World()
    message = due(world)
    come_back_after_crashes(world, message, recreated=recreated)
    assert not world.queue.waiting
    assert not world.runs.page(key_of(), None, "", 10).items


@pytest.mark.parametrize("recreated", [False, True])
def test_a_run_whose_claiming_functions_crashed_fails_though_its_job_is_deleted(*, recreated: bool) -> None:
    world = World()
    message = due(world, history="full", onComplete={"type": "http", "url": "https://example.com/ends"})
    world.announce = crashing
    with suppress(KeyboardInterrupt):
        handle(world, message)
    working(world)
    come_back_after_crashes(world, message, recreated=recreated)
    assert run_of(world).state == "failed"
    assert not world.queue.waiting
