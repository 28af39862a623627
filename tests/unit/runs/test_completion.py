"""Jobs that want to go with their last run: they do, and lose nothing by it."""

import pytest
from tests.fakes.faults import calls_of, failing, killed_at
from tests.fakes.world import NOON, World, key_of

from sweephand.errors import NotFoundError
from sweephand.jobs.read import Reader
from sweephand.ports import Answer

MINUTE = 60_000


def is_there(world: World) -> bool:
    reader = Reader(jobs=world.jobs, runs=world.runs, payloads=world.payloads)
    try:
        reader.get(key_of(), world.clock.time)
    except NotFoundError:
        return False
    return True


def test_a_one_off_goes_with_its_run() -> None:
    world = World()
    world.put(dueTime="10s", deleteAfterCompletion=True)
    world.run_until(NOON + 9_000)
    assert is_there(world)
    world.run_until(NOON + 11_000)
    assert not is_there(world)
    assert len(world.runs.page(key_of(), None, "", 10).items) == 1
    assert world.put(dueTime="10s").outcome == "created"


@pytest.mark.parametrize("history", ["outcome", "full", "failures"])
def test_a_series_goes_with_its_last_run_and_not_before(history: str) -> None:
    world = World()
    world.put(schedule="@every 10s", repeats=3, deleteAfterCompletion=True, history=history)
    for number in (1, 2):
        world.run_until(NOON + number * 10_000 + 1_000)
        assert is_there(world)
    world.run_until(NOON + 31_000)
    assert not is_there(world)


def test_without_being_asked_to_a_job_stays_for_its_retention() -> None:
    world = World()
    world.put(dueTime="10s")
    world.run_until(NOON + MINUTE)
    assert is_there(world)


def test_a_run_that_is_retried_is_not_over_and_one_that_is_given_up_is() -> None:
    world = World()
    world.put(dueTime="10s", deleteAfterCompletion=True, retry={"maxAttempts": 2, "initialDelay": "60s"})
    world.consumers.answering = lambda _: Answer(succeeded=False, code=503)
    world.run_until(NOON + 20_000)
    assert is_there(world)
    world.run_until(NOON + 3 * MINUTE)
    assert len(world.consumers.ids) == 2
    assert not is_there(world)
    assert world.queue.buried


def test_an_earlier_run_that_is_still_retried_keeps_the_job_until_it_is_over() -> None:
    world = World()
    world.put(schedule="@every 10s", repeats=2, deleteAfterCompletion=True, retry={"initialDelay": "60s"})
    world.consumers.answering = lambda attempt: Answer(
        succeeded=attempt.trigger.sequence == 2 or attempt.number > 1, code=503
    )
    world.run_until(NOON + 21_000)
    assert is_there(world)
    world.run_until(NOON + 3 * MINUTE)
    assert len(world.consumers.ids) == 3
    assert not is_there(world)


def test_a_last_run_that_is_over_before_an_earlier_one_has_begun_loses_nothing() -> None:
    world = World()
    world.put(schedule="@every 10s", repeats=2, deleteAfterCompletion=True)
    world.clock.time = NOON + 21_000
    (first, second) = world.queue.take()
    world.deliver([second])
    world.deliver([first])
    assert {each.trigger.sequence for each in world.consumers.attempts} == {1, 2}
    assert not is_there(world)


def test_a_paused_job_stays() -> None:
    world = World()
    world.put(schedule="@every 10s", repeats=2, deleteAfterCompletion=True)
    world.run_until(NOON + 15_000)
    world.pause()
    world.trigger()
    world.run_until(NOON + MINUTE)
    assert is_there(world)
    world.resume()
    world.run_until(NOON + 20 * MINUTE)
    assert not is_there(world)


def test_a_trigger_by_hand_that_ends_first_does_not_take_the_job_along() -> None:
    world = World()
    world.put(dueTime="10s", deleteAfterCompletion=True)
    world.clock.time = NOON + 10_000
    world.trigger()
    (scheduled, manual) = world.queue.take()
    world.deliver([manual])
    assert is_there(world)
    world.deliver([scheduled])
    assert not is_there(world)


def test_a_job_that_was_given_more_to_do_meanwhile_stays() -> None:
    world = World()
    world.put(dueTime="10s", deleteAfterCompletion=True)
    world.clock.time = NOON + 10_000
    world.consumers.connecting = lambda: world.patch(dueTime="1h")
    world.run_until(NOON + 11_000)
    assert is_there(world)


def test_a_job_that_cannot_be_written_now_is_left_to_its_retention() -> None:
    world = World()
    world.put(dueTime="10s", deleteAfterCompletion=True)
    world.clock.time = NOON + 10_000
    failing(world, "jobs.put")
    world.run_until(NOON + 11_000)
    assert len(world.consumers.ids) == 1
    assert is_there(world)


def test_a_delivery_that_is_killed_anywhere_comes_again_and_the_job_goes() -> None:
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
        assert not is_there(world), calls[number]


@pytest.mark.parametrize("report", ["complete", "fail", "cancel"])
def test_a_run_that_its_consumer_works_on_keeps_the_job_until_it_is_over(report: str) -> None:
    world = World()
    world.put(dueTime="10s", deleteAfterCompletion=True, completion="async", heartbeatTimeout="1h")
    world.consumers.answering = lambda _: Answer(succeeded=True, code=202)
    world.run_until(NOON + 20_000)
    assert is_there(world)
    run_id, reporter = f"{NOON + 10_000}-0", world.reporter()
    if report == "complete":
        reporter.complete(key_of(), run_id, None)
    elif report == "fail":
        reporter.fail(key_of(), run_id, None, reason="no", is_final=True)
    else:
        reporter.cancel(key_of(), run_id, "test")
    world.run_until(NOON + 30_000)
    assert not is_there(world)
