"""Pausing, resuming and deleting many jobs."""

from collections.abc import Callable

import pytest
from tests.fakes.faults import failing, meanwhile, slow
from tests.fakes.world import NOON, World, key_of

from sweephand.base.errors import StoreError
from sweephand.base.limits import BULK_EXAMINED_MAX
from sweephand.base.timing import BULK_TIME_LIMIT_MS, REQUEST_TIME_LIMIT_MS
from sweephand.jobs.bulk import BulkResult
from sweephand.jobs.read import Filter

ALL = Filter("ns", prefix="job")


def with_jobs(count: int) -> World:
    world = World()
    for number in range(count):
        world.put(f"job-{number:04d}", schedule="@every 1h", labels={"half": str(number % 2)})
    world.put("other", schedule="@every 1h", labels={"half": "1"})
    return world


def paused(world: World) -> list[str]:
    jobs = world.jobs.page("ns", "", "", 10_000).items
    return [job.key.name for job in jobs if job.paused_at is not None]


def pause(world: World, wanted: Filter = ALL) -> BulkResult:
    return world.api().bulk.pause(wanted, reason="x", who="test")


def test_a_bulk_call_pauses_resumes_and_deletes_the_jobs_that_fit_its_filter() -> None:
    world = with_jobs(5)
    wanted = Filter("ns", "job", {"half": "1"})
    assert pause(world, wanted) == BulkResult(2, None)
    assert paused(world) == ["job-0001", "job-0003"]
    assert world.jobs.get(key_of("job-0001")).pause_reason == "x"  # type: ignore[union-attr]
    assert world.api().bulk.resume(ALL, mode="all", who="test") == BulkResult(2, None)
    assert paused(world) == []
    assert world.api().bulk.delete(wanted, who="test") == BulkResult(2, None)
    names = [job.key.name for job in world.jobs.page("ns", "", "", 10).items]
    assert names == ["job-0000", "job-0002", "job-0004", "other"]


def test_a_bulk_call_does_not_count_a_job_that_already_has_the_new_state() -> None:
    world = with_jobs(3)
    world.pause("job-0001")
    assert pause(world) == BulkResult(2, None)
    assert pause(world) == BulkResult(0, None)
    assert world.api().bulk.resume(ALL, mode=None, who="test") == BulkResult(3, None)
    assert world.api().bulk.resume(ALL, mode=None, who="test") == BulkResult(0, None)


def test_a_filter_may_have_labels_only_and_a_job_needs_all_of_them() -> None:
    world = with_jobs(3)
    assert pause(world, Filter("ns", labels={"half": "1"})) == BulkResult(2, None)
    assert pause(world, Filter("ns", labels={"half": "0", "team": "ops"})) == BulkResult(0, None)


def test_a_bulk_call_examines_a_thousand_jobs_and_the_next_call_continues() -> None:
    world = with_jobs(BULK_EXAMINED_MAX + 120)
    wanted = Filter("ns", "job", {"half": "1"})
    first = pause(world, wanted)
    assert first == BulkResult(BULK_EXAMINED_MAX // 2, f"job-{BULK_EXAMINED_MAX - 1:04d}")
    assert first.reached is not None
    assert pause(world, Filter("ns", "job", {"half": "1"}, first.reached)) == BulkResult(60, None)


VERBS: dict[str, Callable[[World, Filter], BulkResult]] = {
    "pause": pause,
    "resume": lambda world, wanted: world.api().bulk.resume(wanted, mode="none", who="test"),
    "delete": lambda world, wanted: world.api().bulk.delete(wanted, who="test"),
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_call_ends_in_time_and_the_next_ones_do_the_rest(verb: str) -> None:
    world = with_jobs(200)
    if verb == "resume":
        pause(world)
    slow(world, 200, "before jobs.put", "before jobs.delete")
    count, calls, after = 0, 0, ""
    while True:
        begun_at = world.clock.time
        done = VERBS[verb](world, Filter("ns", "job", after=after))
        assert world.clock.time - begun_at < BULK_TIME_LIMIT_MS + 4_000 < REQUEST_TIME_LIMIT_MS
        count, calls = count + done.count, calls + 1
        if done.reached is None:
            break
        after = done.reached
    assert (count, calls) == (200, 4)


def test_each_job_is_resumed_from_the_moment_at_which_its_turn_comes(world: World) -> None:
    for number in range(40):
        world.put(f"job-{number:02d}", schedule="@every 1s")
    pause(world)
    slow(world, 200, "before jobs.put")
    world.api().bulk.resume(ALL, mode="none", who="test")
    jobs = world.jobs.page("ns", "", "", 100).items
    assert all(job.cut - job.updated_at <= 200 for job in jobs)
    assert max(job.cut for job in jobs) > NOON + 7_000


def test_a_bulk_call_skips_a_job_that_is_deleted_during_the_call() -> None:
    world = with_jobs(3)
    meanwhile(world, "before jobs.get", lambda: world.delete("job-0000"))
    assert pause(world) == BulkResult(2, None)


def test_a_store_that_fails_ends_the_call_and_asking_again_does_the_rest() -> None:
    world = with_jobs(5)
    failing(world, "jobs.put", times=1)
    with pytest.raises(StoreError):
        pause(world)
    pause(world)
    assert len(paused(world)) == 5
