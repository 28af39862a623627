"""Sweeping with reads that may be stale: what they may decide, and what is read again strongly."""

import pytest
from tests.fakes.stale_jobs import StaleJobs
from tests.fakes.world import World, key_of

from sweephand.base.instants import MINUTE_MS
from sweephand.model.job import Job, JobKey


@pytest.fixture
def world() -> World:
    world = World(shards=1)
    world.jobs = StaleJobs()
    return world


def stale(world: World, job: Job | None) -> None:
    assert isinstance(world.jobs, StaleJobs)
    world.jobs.stale[key_of()] = job


def strong(world: World) -> list[JobKey]:
    assert isinstance(world.jobs, StaleJobs)
    return world.jobs.strong


def sent(world: World) -> int:
    return world.sweep().triggers


def test_a_job_that_rules_and_is_due_is_read_once_and_cheaply(world: World) -> None:
    world.put(dueTime="10m")
    world.clock.time += 8 * MINUTE_MS
    assert sent(world) == 1
    assert strong(world) == []


def test_a_job_that_a_stale_read_does_not_know_is_read_again(world: World) -> None:
    world.put(dueTime="10m")
    stale(world, None)
    world.clock.time += 8 * MINUTE_MS
    assert sent(world) == 1
    assert strong(world) == [key_of()]


def test_a_revision_that_a_stale_read_does_not_know_is_read_again(world: World) -> None:
    stale(world, world.put(dueTime="10m").job)
    world.put(dueTime="10m30s")
    world.clock.time += 9 * MINUTE_MS
    assert sent(world) == 1
    assert strong(world) == [key_of()]


def test_a_job_that_a_stale_read_shows_as_paused_is_read_again(world: World) -> None:
    world.put(schedule="@every 10m")
    stale(world, world.pause())
    world.resume()
    world.clock.time += 8 * MINUTE_MS
    assert sent(world) == 1
    assert strong(world) == [key_of()]


def test_a_late_timer_is_judged_by_a_strong_read(world: World) -> None:
    world.put(schedule="@every 10m")
    world.clock.time += 11 * MINUTE_MS
    sent(world)
    assert strong(world) == [key_of()]


def test_a_deleted_job_that_a_stale_read_shows_fires_into_the_void(world: World) -> None:
    stale(world, world.put(dueTime="10m").job)
    world.delete()
    world.clock.time += 8 * MINUTE_MS
    assert sent(world) == 1
    assert strong(world) == []
    world.clock.time += 3 * MINUTE_MS
    assert [each.outcome.name for each in world.deliver(world.queue.take())] == ["dropped"]
    assert world.consumers.attempts == []
