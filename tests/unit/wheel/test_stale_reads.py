"""Sweeping with eventually consistent reads: what they may decide, and what is read again strongly."""

from collections.abc import Mapping, Sequence
from itertools import count

import pytest
from tests.fakes.faults import calls_of
from tests.fakes.stale_jobs import StaleJobs
from tests.fakes.timers import first_timer
from tests.fakes.world import NOON, World, key_of

from sweephand.base.concurrency import one_by_one
from sweephand.base.errors import StoreError
from sweephand.base.instants import MINUTE_MS
from sweephand.model.job import Job, JobBrief, JobKey
from sweephand.model.timer import Chunk, Cursor, Lease, Place, PlacedTimer
from sweephand.schedules import Occurrence
from sweephand.wheel import shard_visit
from sweephand.wheel.shard_visit import DueJobReads


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


def test_a_job_whose_present_revision_rules_is_read_once_and_eventually_consistent(world: World) -> None:
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


def test_triggers_of_a_deleted_job_that_a_stale_read_shows_are_dropped(world: World) -> None:
    stale(world, world.put(dueTime="10m").job)
    world.delete()
    world.clock.time += 8 * MINUTE_MS
    assert sent(world) == 1
    assert strong(world) == []
    world.clock.time += 3 * MINUTE_MS
    assert [each.outcome.name for each in world.deliver(world.queue.take())] == ["dropped"]
    assert world.consumers.attempts == []


def brief(world: World) -> list[int]:
    assert isinstance(world.jobs, StaleJobs)
    return world.jobs.brief


def test_a_brief_is_kept_for_the_next_turn_of_a_page(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shard_visit, "TRIGGERS_MAX", 4)
    for number in range(3):
        world.put(f"job-{number}", schedule="@every 10s", dueTime="10m", repeats=6)
    world.clock.time += 8 * MINUTE_MS
    assert sent(world) == 18
    assert brief(world) == [3], "the page has 18 triggers, so five turns"
    assert strong(world) == []


def test_a_timer_of_a_chunk_that_was_judged_later_than_now_is_read_strongly(world: World) -> None:
    """The clock of the sweeper that began the chunk was ahead."""
    job = world.put(dueTime="10m").job
    timer = first_timer(job)._replace(first=Occurrence(NOON + 10 * MINUTE_MS, 1))
    placed = [PlacedTimer(Place(timer.sort_key), timer)]
    for judged_at, is_strong in ((NOON, False), (NOON + 11 * MINUTE_MS, True)):
        cursor = Cursor(chunk=Chunk(placed[0].place, judged_at))
        found = DueJobReads(world.jobs, one_by_one).of(placed, Lease(0, cursor, judged_at=NOON), {})
        assert (key_of() in found.whole) is is_strong
        assert (key_of() in found.briefs) is not is_strong


@pytest.fixture
def in_portions(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """A shard with five timers, of which two go between two commits."""
    monkeypatch.setattr(shard_visit, "PAGE_TIMERS_MAX", 2)
    for number in range(5):
        world.put(f"job-{number}", dueTime="10m")
    world.clock.time += 8 * MINUTE_MS
    return world


def test_the_briefs_for_the_next_triggers_are_read_before_the_commit(in_portions: World) -> None:
    calls = calls_of(in_portions, in_portions.sweep)
    steps = ("before jobs.briefs", "before queue.send", "before leases.commit", "before leases.release")
    turn = ["before queue.send", "before jobs.briefs", "before leases.commit"]
    assert [call for call in calls if call in steps] == [
        "before jobs.briefs",
        *turn,
        *turn,
        "before queue.send",
        "before leases.release",
    ]
    assert brief(in_portions) == [2, 2, 1]
    assert strong(in_portions) == []


def test_if_reading_ahead_fails_the_next_turn_reads(in_portions: World) -> None:
    briefs, asked = in_portions.jobs.briefs, count()

    def failing(keys: Sequence[JobKey]) -> Mapping[JobKey, JobBrief]:
        if next(asked) == 1:
            raise StoreError("throttled")
        return briefs(keys)

    in_portions.jobs.briefs = failing  # type: ignore[method-assign]
    assert sent(in_portions) == 5
    assert brief(in_portions) == [2, 2, 1]
