"""Jobs with `deleteAfterCompletion` lose no run and are deleted, whatever comes between."""

from typing import Any

import pytest
from tests.fakes.faults import calls_of, failing, killed_at, slow, working
from tests.fakes.world import NOON, World, key_of

from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS
from sweephand.base.timing import BULK_TIME_LIMIT_MS
from sweephand.model.attempt import Answer

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


LONG: dict[str, Any] = {"count": 6, "window": "6d"}
BRIEF: dict[str, Any] = {"retention": "1h", "retry": {"maxAge": "1m"}}


def interrupted(*updates: dict[str, Any]) -> World:
    """A job whose batch over six days has begun an hour before its updates, its pause and its resume."""
    world = World()
    world.put(dueTime="0s", batch=LONG, **BRIEF)
    world.clock.time += HOUR_MS
    for update in updates:
        world.patch(**update)
        world.clock.time += MINUTE_MS
    world.pause()
    world.clock.time += HOUR_MS
    world.resume()
    return world


@pytest.mark.parametrize(
    "updates",
    [
        [],
        [{"batch": {"count": 6, "window": "1m"}}],
        [{"description": "new"}, {"batch": {"count": 6, "window": "1m"}}, {"labels": {"a": "b"}}],
        [{"batch": None}, {"batch": {"count": 1}}],
    ],
)
def test_a_resumed_job_is_kept_until_a_batch_with_a_longer_window_than_its_own_is_over(
    updates: list[dict[str, Any]],
) -> None:
    expires_at = interrupted(*updates).stored().expires_at
    assert expires_at is not None
    assert expires_at >= NOON + 6 * DAY_MS + HOUR_MS


def test_a_resumed_job_is_kept_long_enough_if_it_was_updated_in_the_pause(world: World) -> None:
    world.put(dueTime="0s", batch=LONG, **BRIEF)
    world.clock.time += HOUR_MS
    world.pause()
    world.patch(batch={"count": 6, "window": "1m"})
    world.resume()
    expires_at = world.stored().expires_at
    assert expires_at is not None
    assert expires_at >= NOON + 6 * DAY_MS + 2 * HOUR_MS


@pytest.mark.parametrize("updates", [[], [{"history": "full"}]])
def test_a_job_without_a_batch_is_kept_no_longer_after_an_update_and_a_resume(
    world: World,
    updates: list[dict[str, Any]],
) -> None:
    world.put(dueTime="0s", **BRIEF)
    world.clock.time += MINUTE_MS
    for update in updates:
        world.patch(**update)
    world.pause()
    resumed = world.resume()
    assert resumed.expires_at == world.clock.time + MINUTE_MS + HOUR_MS


def test_a_job_with_more_changes_than_are_read_is_kept_for_the_longest_window(world: World) -> None:
    world.put(dueTime="0s", batch=LONG, **BRIEF)
    world.patch(batch={"count": 6, "window": "1m"})
    for number in range(100):
        world.patch(labels={"number": str(number)})
    world.pause()
    resumed = world.resume()
    assert resumed.expires_at == world.clock.time + 7 * DAY_MS + MINUTE_MS + HOUR_MS


def test_a_run_that_is_not_over_delays_the_deletion_of_its_job_behind_many_newer_runs(world: World) -> None:
    retry = {"maxAttempts": 2, "initialDelay": "10m", "multiplier": 1}
    world.put(schedule="@every 1s", repeats=90, deleteAfterCompletion=True, retry=retry)
    world.consumers.answering = lambda made: Answer(
        succeeded=made.trigger.sequence > 1 or made.number > 1, code=503
    )
    world.run_until(NOON + 2 * MINUTE)
    assert len(world.consumers.attempts) == 90
    assert world.has_job()
    world.run_until(NOON + 12 * MINUTE)
    assert not world.has_job()


def test_runs_of_earlier_jobs_of_its_name_are_not_read_again_and_again(world: World) -> None:
    world.put(schedule="R2500/PT1S")
    world.run_until(NOON + 2_600_000)
    world.delete()
    world.clock.time += 10 * MINUTE
    world.put(dueTime="10s", deleteAfterCompletion=True)
    pages = [0]

    def announce(call: str) -> None:
        pages[0] += call == "before runs.page"

    world.announce = announce
    world.run_until(world.clock.time + 11_000)
    assert not world.has_job()
    assert pages[0] == 1


def test_a_job_whose_runs_take_too_long_to_read_is_kept_for_its_retention(world: World) -> None:
    world.put(schedule="R1001/PT1S", deleteAfterCompletion=True)
    world.run_until(NOON + 999_000)
    slow(world, BULK_TIME_LIMIT_MS, "after runs.page")
    world.run_until(NOON + 1_100_000)
    assert world.has_job()


def crash_before_claim(call: str) -> None:
    """An announcement handler that ends the process before the claim of an attempt."""
    if call == "before runs.claim":
        raise KeyboardInterrupt


def test_a_job_whose_last_occurrence_is_skipped_stays_until_the_run_that_holds_the_line_is_over() -> None:
    world = World()
    world.put(dueTime="1m", deleteAfterCompletion=True, overlap="skip", history="failures")
    (timed,) = world.queue.waiting
    world.queue.waiting.clear()
    world.trigger()
    world.announce = crash_before_claim
    with pytest.raises(KeyboardInterrupt):
        world.deliver(world.queue.take())
    working(world)
    world.clock.time = NOON + MINUTE
    world.queue.waiting = [timed]
    world.run_until(NOON + MINUTE + 1_000, ticking=False)
    assert [each.reason for each in world.runs.page(key_of(), None, "", 10).items] == ["overlap"]
    assert world.has_job()
    world.queue.reappear()
    world.run_until(NOON + 10 * MINUTE, ticking=False)
    assert len(world.consumers.attempts) == 1
    assert not world.has_job()
