"""`onError` decides on the job when one of its triggers is given up."""

from dataclasses import replace

import pytest
from tests.fakes.deliveries import FAILED, answers, due, handle, run_of
from tests.fakes.faults import calls_of
from tests.fakes.world import NOON, World

from sweephand.model.attempt import Answer, Attempt

FINAL = FAILED._replace(code=422, is_final=True)
GONE = Answer(succeeded=False, code=410, is_final=True)


@pytest.mark.parametrize("on_error", [None, "continue"])
def test_a_job_goes_on_when_a_trigger_is_given_up(world: World, on_error: str | None) -> None:
    message = due(world, **({} if on_error is None else {"onError": on_error}))
    answers(world, FINAL)
    assert handle(world, message).name == "failed"
    assert world.stored().paused_at is None


def test_a_job_can_be_paused_when_a_trigger_is_given_up_and_not_before(world: World) -> None:
    message = due(world, onError="pause", retry={"maxAttempts": 2})
    answers(world, FAILED, FAILED)
    assert handle(world, message).name == "retrying"
    assert world.stored().paused_at is None
    world.run_until(NOON + 60_000, ticking=False)
    assert run_of(world).state == "failed"
    job = world.stored()
    assert job.paused_at == world.consumers.times[-1]
    assert job.pause_reason == f"Run {NOON + 10_000}-0 failed. Attempt 2 of 2 failed: Response 503."


def test_an_answer_410_pauses_the_job_whatever_on_error_says(world: World) -> None:
    message = due(world, onError="continue")
    answers(world, GONE)
    assert handle(world, message).name == "failed"
    assert len(world.queue.buried) == 1
    assert "the consumer is gone" in (world.stored().pause_reason or "")
    assert len(world.consumers.attempts) == 1


def test_an_answer_410_of_a_former_target_does_not_pause_the_job(world: World) -> None:
    message = due(world)

    def answer(_: Attempt) -> Answer:
        world.patch(target={"type": "http", "url": "https://consumer.example/new"})
        return GONE

    world.consumers.answering = answer
    assert handle(world, message).name == "failed"
    assert world.stored().paused_at is None


def test_a_job_with_on_error_pause_is_paused_though_its_target_was_replaced(world: World) -> None:
    message = due(world, onError="pause")

    def answer(_: Attempt) -> Answer:
        world.patch(target={"type": "http", "url": "https://consumer.example/new"})
        return GONE

    world.consumers.answering = answer
    handle(world, message)
    assert world.stored().paused_at is not None


def test_no_trigger_of_the_job_is_delivered_once_its_consumer_is_gone(world: World) -> None:
    world.put(schedule="@every 10s")
    answers(world, GONE)
    world.run_until(NOON + 5 * 60_000)
    assert len(world.consumers.attempts) == 1


def test_a_job_that_is_paused_already_keeps_its_reason(world: World) -> None:
    message = due(world, onError="pause")
    world.consumers.connecting = lambda: None
    answers(world, FINAL)

    def pausing(_: object) -> Answer:
        job = world.stored()
        paused = replace(job, version=world.ids.token(), paused_at=NOON, pause_reason="maintenance")
        assert world.jobs.put(paused, job.version)
        return FINAL

    world.consumers.answering = pausing
    handle(world, message)
    assert (world.stored().paused_at, world.stored().pause_reason) == (NOON, "maintenance")


def test_another_job_of_the_same_name_is_not_paused_for_it(world: World) -> None:
    message = due(world, onError="pause")

    def renewing(_: object) -> Answer:
        world.delete()
        world.put(dueTime="1h")
        return GONE

    world.consumers.answering = renewing
    handle(world, message)
    assert world.stored().paused_at is None


def test_the_dead_letter_and_the_pause_come_before_the_record_of_the_end(world: World) -> None:
    message = due(world, onError="pause")
    answers(world, FINAL)
    calls = calls_of(world, lambda: handle(world, message))
    assert calls.index("after queue.bury") < calls.index("after jobs.put") < calls.index("before runs.record")
