"""The limits of a namespace: the size of data, and the number of stored jobs under concurrent writes."""

from collections.abc import Sequence
from typing import Any

import pytest
from tests.fakes.faults import failing, meanwhile, slow
from tests.fakes.flow_memory import MemoryNamespaces
from tests.fakes.stale_jobs import StaleJobs
from tests.fakes.world import NOON, World, definition, key_of
from tests.unit.jobs.limited import count, limit, names, settle, world_with

from sweephand.base.errors import InvalidError, NotFoundError, QuotaError, StoreError, UnavailableError
from sweephand.base.instants import MINUTE_MS
from sweephand.base.timing import NAMESPACE_AGE_MAX_MS, RECOUNT_AFTER_MS, REQUEST_TIME_LIMIT_MS
from sweephand.jobs.bulk import JobToWrite, Written
from sweephand.jobs.namespace_settings import WantedSettings
from sweephand.jobs.write import WriteResult
from sweephand.model.namespace import NamespaceLimits


def put_many(world: World, names: Sequence[str], **written: Any) -> Sequence[Written]:
    wanted = [JobToWrite(key_of(each), definition(**({"dueTime": "9h"} | written))) for each in names]
    return world.api().bulk_writer.put(wanted, caller="test", requested_at=world.api_clock.now())


def test_a_namespace_stores_as_many_jobs_as_its_limit_allows() -> None:
    world = world_with(jobs_max=2)
    settle(world)
    world.put("a", dueTime="9h")
    world.put("b", dueTime="9h")
    with pytest.raises(QuotaError, match="may store 2 jobs"):
        world.put("c", dueTime="9h")
    assert names(world) == ["a", "b"]
    assert world.put("a", dueTime="8h").outcome == "replaced"
    assert world.put("a", dueTime="8h").outcome == "unchanged"


def test_a_refused_job_is_not_armed() -> None:
    world = world_with(jobs_max=1)
    settle(world)
    world.put("a", dueTime="9h")
    with pytest.raises(QuotaError):
        world.put("c", dueTime="1s")
    assert not world.queue.waiting


def test_a_deletion_makes_room_at_once() -> None:
    world = world_with(jobs_max=1)
    settle(world)
    for name in ("a", "b", "c"):
        world.put(name, dueTime="9h")
        world.delete(name)
    assert count(world).used == 0


def test_a_deletion_of_no_job_makes_no_room() -> None:
    world = world_with(jobs_max=1)
    settle(world)
    world.put("a", dueTime="9h")
    with pytest.raises(NotFoundError):
        world.delete("b")
    assert count(world).used == 1


def test_jobs_from_before_the_limit_count(world: World) -> None:
    world.limits_namespaces = True
    for name in ("a", "b", "c"):
        world.put(name, dueTime="9h")
    limit(world, jobs_max=4)
    world.put("d", dueTime="9h")
    with pytest.raises(QuotaError):
        world.put("e", dueTime="9h")


def test_another_namespace_and_one_without_a_limit_count_nothing() -> None:
    world = world_with(jobs_max=1, payload_bytes_max=500)
    world.put("a", dueTime="9h")
    limit(world, payload_bytes_max=500)
    for number in range(5):
        world.put(f"b-{number}", dueTime="9h")
    assert len(names(world)) == 6


def test_a_limit_that_is_set_again_counts_what_was_created_meanwhile() -> None:
    world = world_with(jobs_max=1)
    settle(world)
    limit(world)
    for number in range(5):
        world.put(f"b-{number}", dueTime="9h")
    limit(world, jobs_max=6)
    world.put("a", dueTime="9h")
    with pytest.raises(QuotaError):
        world.put("c", dueTime="9h")


def test_a_process_that_does_not_know_the_limit_yet_is_corrected_by_the_next_count(world: World) -> None:
    world.limits_namespaces = True
    unaware = world.api()
    unaware.writer.put(key_of("a"), definition(dueTime="9h"), caller="t", requested_at=NOON)
    wanted = WantedSettings(NamespaceLimits(jobs_max=3))
    unaware.namespaces.put("ns", wanted, who="admin", requested_at=NOON)
    for name in ("b", "c"):
        unaware.writer.put(key_of(name), definition(dueTime="9h"), caller="t", requested_at=NOON)
    assert count(world).used == 1
    settle(world)
    with pytest.raises(QuotaError):
        world.put("d", dueTime="9h")
    assert count(world).used == 3


def test_expired_jobs_make_room_after_the_next_count() -> None:
    world = world_with(jobs_max=2)
    settle(world)
    for name in ("a", "b"):
        world.put(name, dueTime="1s", retention="1h", retry={"maxAge": "1s"})
    world.clock.time += 2 * 3_600_000
    with pytest.raises(QuotaError):  # it begins a new count
        world.put("c", dueTime="9h")
    world.clock.time += RECOUNT_AFTER_MS
    with pytest.raises(QuotaError):  # a creation from before the mark could still be committed
        world.put("c", dueTime="9h")
    world.clock.time += 1
    world.put("c", dueTime="9h")
    assert count(world).used == 1


def test_a_creation_between_the_mark_and_the_count_is_never_missed() -> None:
    world = world_with(jobs_max=10)
    settle(world)
    for number in range(9):
        world.put(f"a-{number}", dueTime="9h")
    world.clock.time += RECOUNT_AFTER_MS + 1
    world.put("b", dueTime="9h")  # the mark; then this job is counted
    assert (count(world).marked_at, count(world).since_mark) == (world.clock.time, 1)
    world.clock.time += RECOUNT_AFTER_MS + 1
    with pytest.raises(QuotaError):
        world.put("c", dueTime="9h")
    # The job b is stored, and was created since the mark. It counts once.
    assert count(world).used == 10


def test_two_processes_that_begin_the_first_count_at_once_lose_no_place() -> None:
    world = world_with(jobs_max=1)
    world.namespaces._counts.clear()
    other = world.api().namespaces._quotas
    # The job of the other process is not stored yet.
    meanwhile(world, "after namespaces.job_count", lambda: other.reserve("ns"))
    with pytest.raises(QuotaError):
        world.put("a", dueTime="9h")
    assert count(world).used == 1


def test_a_deletion_during_a_new_count_frees_no_place_twice() -> None:
    world = world_with(jobs_max=10)
    settle(world)
    for number in range(9):
        world.put(f"a-{number}", dueTime="9h")
    world.clock.time += RECOUNT_AFTER_MS + 1

    def count_anew() -> None:
        world.put("b", dueTime="9h")  # the mark
        world.clock.time += RECOUNT_AFTER_MS + 1
        world.put("c", dueTime="9h")  # the new count, without the deleted job

    meanwhile(world, "after jobs.delete", count_anew)
    world.delete("a-0")
    assert count(world).used == len(names(world)) == 10


def test_a_bulk_call_creates_as_many_jobs_as_there_is_room_for() -> None:
    world = world_with(jobs_max=5)
    settle(world)
    world.put("old", dueTime="9h")
    results = put_many(world, [f"job-{number}" for number in range(7)])
    assert [isinstance(each, WriteResult) for each in results] == [True] * 4 + [False] * 3
    assert all(isinstance(each, QuotaError) for each in results[4:])
    assert count(world).used == len(names(world)) == 5


def test_a_bulk_call_of_a_full_namespace_replaces_jobs_that_a_stale_read_does_not_know_yet() -> None:
    world = World()
    world.jobs = jobs = StaleJobs()
    world.namespaces = MemoryNamespaces(jobs)
    world.limits_namespaces = True
    limit(world, jobs_max=3)
    settle(world)
    for name in ("a", "b", "c"):
        world.put(name, dueTime="9h")
    jobs.stale = {key_of("a"): None, key_of("b"): None}
    replaced, also, refused = put_many(world, ["a", "b", "d"], description="new")
    assert [each.outcome for each in (replaced, also) if isinstance(each, WriteResult)] == ["replaced"] * 2
    assert isinstance(refused, QuotaError)
    assert count(world).used == len(names(world)) == 3


def test_a_bulk_call_that_creates_nothing_of_a_job_frees_its_place() -> None:
    world = world_with(jobs_max=10)
    settle(world)
    world.put("first", dueTime="9h")
    meanwhile(world, "before jobs.put", lambda: world.put("job-0", dueTime="1h"))
    results = put_many(world, ["job-0", "job-1", "job-2"])
    assert [each.outcome for each in results if isinstance(each, WriteResult)] == [
        "replaced",
        "created",
        "created",
    ]
    assert count(world).used == len(names(world)) == 4


def test_a_bulk_call_that_cannot_arm_its_jobs_frees_their_places() -> None:
    world = world_with(jobs_max=10)
    settle(world)
    world.put("first", dueTime="9h")
    failing(world, "timers.put")
    results = put_many(world, ["job-0", "job-1", "job-2"])
    assert all(isinstance(each, StoreError) for each in results)
    # The jobs were written one by one afterwards, and each of these writes may have been applied.
    assert count(world).used == 4


def test_a_creation_that_loses_or_comes_too_late_frees_its_place() -> None:
    world = world_with(jobs_max=10)
    settle(world)
    world.put("first", dueTime="9h")
    meanwhile(world, "before jobs.put", lambda: world.put("a", dueTime="1h"))
    assert world.put("a", dueTime="9h").outcome == "replaced"
    slow(world, REQUEST_TIME_LIMIT_MS + 1, "after timers.put")
    with pytest.raises(UnavailableError):
        world.put("b", dueTime="9h")
    assert count(world).used == len(names(world)) == 2


def test_a_creation_whose_write_may_have_been_applied_keeps_its_place() -> None:
    world = world_with(jobs_max=10)
    settle(world)
    world.put("first", dueTime="9h")
    failing(world, "jobs.put", after=True)
    with pytest.raises(StoreError):
        world.put("a", dueTime="9h")
    assert count(world).used == len(names(world)) == 2


def test_a_job_that_comes_back_after_its_deletion_is_corrected_by_the_next_count() -> None:
    world = world_with(jobs_max=2)
    settle(world)
    world.put("a", dueTime="9h")
    stored = world.stored("a")
    world.delete("a")
    assert world.jobs.put(stored, None)  # the SDK repeats the creation, whose answer was lost
    world.put("b", dueTime="9h")
    world.put("c", dueTime="9h")
    assert (count(world).used, len(names(world))) == (2, 3)
    world.clock.time += RECOUNT_AFTER_MS + 1
    for _ in range(2):  # the first begins a new count, and the second ends it
        with pytest.raises(QuotaError):
            world.put("d", dueTime="9h")
        world.clock.time += RECOUNT_AFTER_MS + 1
    assert count(world).used == 3


def test_an_invalid_job_takes_no_place() -> None:
    world = world_with(jobs_max=10)
    settle(world)
    world.put("first", dueTime="9h")
    with pytest.raises(InvalidError):
        world.put("a", dueTime="2020-01-01T00:00:00Z")
    assert count(world).used == 1


def test_a_store_that_fails_at_the_release_leaves_the_place_taken_and_the_deletion_done() -> None:
    world = world_with(jobs_max=10)
    settle(world)
    world.put("a", dueTime="9h")
    failing(world, "namespaces.put_job_count")
    world.delete("a")
    assert (names(world), count(world).used) == ([], 1)


def test_data_over_the_limit_is_refused_with_the_number_and_stored_data_stays(world: World) -> None:
    world.limits_namespaces = True
    large = '"' + "x" * 100 + '"'
    world.put("old", dueTime="9h", data=large)
    limit(world, payload_bytes_max=101)
    for write in (
        lambda: world.put("new", dueTime="9h", data=large),
        lambda: world.put("old", dueTime="8h", data=large),
        lambda: world.trigger("old", data=large),
    ):
        with pytest.raises(InvalidError) as refused:
            write()
        (violation,) = refused.value.violations
        assert violation.pointer == "/data"
        assert "allows 101" in violation.detail
    assert world.patch("old", description="as before").outcome == "replaced"
    assert world.put("new", dueTime="9h", data=large[:-2] + '"').outcome == "created"
    world.trigger("old")
    results = put_many(world, ["a", "b"], data=large)
    assert all(isinstance(each, InvalidError) for each in results)


def test_limits_are_read_once_a_minute_and_stay_known_while_the_store_does_not_answer() -> None:
    world = world_with(jobs_max=5, payload_bytes_max=7)
    limits = world.api().namespaces._settings
    reads: list[str] = []

    def announce(call: str) -> None:
        if call == "before namespaces.with_windows":
            reads.append(call)
            if len(reads) > 1:
                raise StoreError("down")

    world.announce = announce
    for _ in range(3):
        assert limits.of("ns") == NamespaceLimits(5, 7)
    world.clock.time += NAMESPACE_AGE_MAX_MS
    assert limits.of("ns") == NamespaceLimits(5, 7)
    assert len(reads) == 2
    with pytest.raises(StoreError):
        limits.of("unknown")


def test_a_namespace_without_settings_has_no_limits(world: World) -> None:
    world.limits_namespaces = True
    limits = world.api().namespaces._settings
    assert limits.of("ns") == NamespaceLimits()
    assert limits.triggers_per_minute("ns") == 0


def test_triggers_beyond_the_limit_of_their_namespace_wait_for_the_next_minutes() -> None:
    world = world_with(triggers_per_minute=10)
    assert world.clock.time == NOON + MINUTE_MS
    for number in range(25):
        world.put(f"job-{number}", dueTime="5s")
    world.run_until(NOON + 9 * MINUTE_MS)
    minutes = [(each.sent_at - NOON) // MINUTE_MS for each in world.consumers.attempts]
    assert [minutes.count(each) for each in (1, 2, 3)] == [10, 10, 5]
