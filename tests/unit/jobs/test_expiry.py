"""Jobs with `deleteAfterCompletion` are deleted after their last run, and lose no trigger."""

from dataclasses import replace

import pytest
from tests.fakes.world import NOON, World, key_of

from sweephand.base.errors import ConflictError
from sweephand.model.attempt import Answer, Attempt
from sweephand.model.run import Run

MINUTE = 60_000


def test_a_one_off_expires_with_its_run(world: World) -> None:
    world.put(dueTime="10s", deleteAfterCompletion=True)
    world.run_until(NOON + 9_000)
    assert world.has_job()
    world.run_until(NOON + 11_000)
    assert not world.has_job()
    assert len(world.runs.page(key_of(), None, "", 10).items) == 1
    assert world.put(dueTime="10s").outcome == "created"


@pytest.mark.parametrize("history", ["outcome", "full", "failures"])
def test_a_series_expires_with_its_last_run_and_not_before(world: World, history: str) -> None:
    world.put(schedule="@every 10s", repeats=3, deleteAfterCompletion=True, history=history)
    for number in (1, 2):
        world.run_until(NOON + number * 10_000 + 1_000)
        assert world.has_job()
    world.run_until(NOON + 31_000)
    assert not world.has_job()


def test_a_job_without_delete_after_completion_stays_for_its_retention(world: World) -> None:
    world.put(dueTime="10s")
    world.run_until(NOON + MINUTE)
    assert world.has_job()


def test_a_run_that_is_retried_is_not_over_and_one_that_is_given_up_is(world: World) -> None:
    world.put(dueTime="10s", deleteAfterCompletion=True, retry={"maxAttempts": 2, "initialDelay": "60s"})
    world.consumers.answering = lambda _: Answer(succeeded=False, code=503)
    world.run_until(NOON + 20_000)
    assert world.has_job()
    world.run_until(NOON + 3 * MINUTE)
    assert len(world.consumers.ids) == 2
    assert not world.has_job()
    assert world.queue.buried


def test_an_earlier_run_that_is_still_retried_keeps_the_job_until_it_is_over(world: World) -> None:
    world.put(schedule="@every 10s", repeats=2, deleteAfterCompletion=True, retry={"initialDelay": "60s"})
    world.consumers.answering = lambda attempt: Answer(
        succeeded=attempt.trigger.sequence == 2 or attempt.number > 1, code=503
    )
    world.run_until(NOON + 21_000)
    assert world.has_job()
    world.run_until(NOON + 3 * MINUTE)
    assert len(world.consumers.ids) == 3
    assert not world.has_job()


def test_a_last_run_that_is_over_before_an_earlier_one_has_begun_loses_nothing(world: World) -> None:
    world.put(schedule="@every 10s", repeats=2, deleteAfterCompletion=True)
    world.clock.time = NOON + 21_000
    (first, second) = world.queue.take()
    world.deliver([second])
    assert world.has_job()
    world.deliver([first])
    assert {each.trigger.sequence for each in world.consumers.attempts} == {1, 2}
    assert not world.has_job()


def test_the_last_success_is_recorded_and_the_job_expires_after_a_retry(world: World) -> None:
    world.put(
        schedule="@every 10s",
        repeats=2,
        deleteAfterCompletion=True,
        history="failures",
        retry={"initialDelay": "60s"},
    )
    world.consumers.answering = lambda attempt: Answer(
        succeeded=attempt.trigger.sequence == 2 or attempt.number > 1, code=503
    )
    world.run_until(NOON + 21_000)
    assert world.has_job()
    world.run_until(NOON + 3 * MINUTE)
    assert not world.has_job()


def test_an_earlier_run_that_ends_by_another_clock_does_not_expire_the_job(world: World) -> None:
    world.put(schedule="@every 10s", repeats=2, deleteAfterCompletion=True, history="failures")
    world.clock.time = NOON + 21_000
    (first, second) = world.queue.take()
    world.deliver([first])
    assert world.has_job()
    world.deliver([second])
    assert not world.has_job()


def test_a_job_that_outlives_the_records_of_its_runs_expires_all_the_same(world: World) -> None:
    world.put(schedule="@every 1h", repeats=4, deleteAfterCompletion=True, historyRetention="1h30m")
    for number in range(1, 5):
        world.run_until(NOON + number * 60 * MINUTE + 1_000)
        for place, run in list(world.runs._runs.items()):
            if run.expires_at is not None and run.expires_at <= world.clock.time:
                del world.runs._runs[place]
    assert len(world.consumers.ids) == 4
    assert not world.has_job()


def test_of_two_runs_that_end_at_once_the_later_record_expires_the_job(world: World) -> None:
    world.put(schedule="@every 10s", repeats=2, deleteAfterCompletion=True)
    world.clock.time = NOON + 21_000
    (first, second) = world.queue.take()
    is_second = False

    def end_the_other(_: Attempt) -> Answer:
        nonlocal is_second
        if not is_second:
            is_second = True
            world.deliver([second])
        return Answer(succeeded=True, code=200)

    world.consumers.answering = end_the_other
    world.deliver([first])
    assert not world.has_job()


def test_a_paused_job_stays(world: World) -> None:
    world.put(schedule="@every 10s", repeats=2, deleteAfterCompletion=True)
    world.run_until(NOON + 15_000)
    world.pause()
    world.trigger()
    world.run_until(NOON + MINUTE)
    assert world.has_job()
    world.resume()
    world.run_until(NOON + 20 * MINUTE)
    assert not world.has_job()


def test_a_trigger_by_hand_that_ends_first_does_not_expire_the_job(world: World) -> None:
    world.put(dueTime="10s", deleteAfterCompletion=True)
    world.clock.time = NOON + 10_000
    world.trigger()
    (scheduled, manual) = world.queue.take()
    world.deliver([manual])
    assert world.has_job()
    world.deliver([scheduled])
    assert not world.has_job()


def test_a_job_that_got_another_occurrence_in_the_meantime_is_not_deleted(world: World) -> None:
    world.put(dueTime="10s", deleteAfterCompletion=True)
    world.clock.time = NOON + 10_000
    world.consumers.connecting = lambda: world.patch(dueTime="1h")
    world.run_until(NOON + 11_000)
    assert world.has_job()


def test_a_refused_report_does_not_expire_the_job(world: World) -> None:
    world.put(dueTime="10s", deleteAfterCompletion=True, completion="async", heartbeatTimeout="20s")
    world.consumers.answering = lambda _: Answer(succeeded=True, code=202)
    world.run_until(NOON + 11_000)
    run_id, reporter = f"{NOON + 10_000}-0", world.callbacks()
    move = world.runs.move

    def beaten(run: Run, seen: Run) -> bool:
        # Its deadline passes in this very moment, and it is tried again.
        world.runs.move = move  # type: ignore[method-assign]
        retrying = replace(seen, state="retrying", next_attempt_at=NOON + MINUTE, version="deadline")
        assert move(retrying, seen)
        return move(run, seen)

    world.runs.move = beaten  # type: ignore[method-assign]
    with pytest.raises(ConflictError):
        reporter.complete(key_of(), run_id, None)
    assert world.has_job()


@pytest.mark.parametrize("report", ["complete", "fail", "cancel"])
def test_a_run_that_its_consumer_works_on_keeps_the_job_until_it_is_over(world: World, report: str) -> None:
    world.put(dueTime="10s", deleteAfterCompletion=True, completion="async", heartbeatTimeout="1h")
    world.consumers.answering = lambda _: Answer(succeeded=True, code=202)
    world.run_until(NOON + 20_000)
    assert world.has_job()
    run_id, reporter = f"{NOON + 10_000}-0", world.callbacks()
    if report == "complete":
        reporter.complete(key_of(), run_id, None)
    elif report == "fail":
        reporter.fail(key_of(), run_id, None, reason="no", is_final=True)
    else:
        reporter.cancel(key_of(), run_id, "test")
    world.run_until(NOON + 30_000)
    assert not world.has_job()


@pytest.mark.parametrize("mode", ["none", "latest"])
def test_a_job_whose_last_occurrences_a_sweep_skips_expires(world: World, mode: str) -> None:
    catchup = {"mode": mode, "window": "2m"}
    world.put(schedule="R3/PT10M", deleteAfterCompletion=True, catchup=catchup)
    world.run_until(NOON + MINUTE)
    world.run_until(NOON + 120 * MINUTE, ticking=False)
    world.run_until(NOON + 125 * MINUTE)
    assert not world.has_job()


def test_a_job_with_skipped_occurrences_stays_until_its_other_runs_are_over(world: World) -> None:
    world.put(schedule="R3/PT10M", deleteAfterCompletion=True, catchup={"mode": "none"}, completion="async")
    world.consumers.answering = lambda _: Answer(succeeded=True, code=202)
    world.run_until(NOON + MINUTE)
    world.pause()
    world.clock.time += 60 * MINUTE
    world.resume()
    world.run_until(world.clock.time + MINUTE)
    assert world.has_job()
    world.callbacks().complete(key_of(), f"{NOON}-0", None)
    assert not world.has_job()


def test_a_job_whose_last_run_ended_during_its_pause_expires_with_the_resume(world: World) -> None:
    world.put(dueTime="10s", deleteAfterCompletion=True, completion="async")
    world.consumers.answering = lambda _: Answer(succeeded=True, code=202)
    world.run_until(NOON + MINUTE)
    world.pause()
    world.callbacks().complete(key_of(), f"{NOON + 10_000}-0", None)
    assert world.has_job()
    world.resume()
    assert not world.has_job()
