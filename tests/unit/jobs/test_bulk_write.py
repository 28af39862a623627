"""Writing many jobs in one call: the number of requests, and the promises to each job of the call."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from tests.fakes.deliveries import change, put_repeated_after
from tests.fakes.faults import failing, slow
from tests.fakes.stale_jobs import StaleJobs
from tests.fakes.world import NOON, World, definition, key_of

from sweephand.base.errors import InvalidError, StoreError, UnavailableError
from sweephand.base.timing import REQUEST_TIME_LIMIT_MS
from sweephand.jobs.bulk import JobToWrite, Written
from sweephand.jobs.commit import SEND_AT_ONCE
from sweephand.jobs.write import WriteResult
from sweephand.model.timer import Cursor, OccurrenceTimer, placed_timers

HOUR_MS = 3_600_000


class Crash(BaseException):
    """The function ends."""


def job(name: str, **written: Any) -> JobToWrite:
    return JobToWrite(key_of(name), definition(**(written or {"schedule": "@every 1h"})))


def write(world: World, *jobs: JobToWrite) -> Sequence[Written]:
    return world.api().bulk_writer.put(jobs, caller="test", requested_at=world.api_clock.now())


def outcomes(results: Sequence[Written]) -> list[str]:
    return [each.outcome if isinstance(each, WriteResult) else type(each).__name__ for each in results]


def counting(world: World) -> Counter[str]:
    """The calls of the ports, counted from now on."""
    calls: Counter[str] = Counter()

    def announce(call: str) -> None:
        when, _, name = call.partition(" ")
        if when == "before":
            calls[name] += 1

    world.announce = announce
    return calls


def timers_of(world: World) -> set[str]:
    """The names of the jobs that have a timer a day ahead."""
    pages = [world.timers.page(each, Cursor(), NOON + 25 * HOUR_MS, 1_000) for each in range(world.shards)]
    found = [each.timer for page in pages for each in placed_timers(page, Cursor())]
    return {timer.key.name for timer in found if isinstance(timer, OccurrenceTimer)}


def test_a_hundred_new_jobs_take_few_requests_and_one_commit_each(world: World) -> None:
    calls = counting(world)
    results = write(world, *(job(f"job-{number}") for number in range(100)))
    assert outcomes(results) == ["created"] * 100
    assert calls == {"jobs.get_many": 1, "timers.put": 1, "jobs.put": 100}


def test_jobs_that_are_due_soon_are_sent_together(world: World) -> None:
    calls = counting(world)
    write(world, *(job(f"job-{number}", dueTime="10s") for number in range(20)))
    assert calls == {"jobs.get_many": 1, "queue.send": 1, "jobs.put": 20}


def test_a_queue_that_takes_its_time_makes_no_trigger_of_many_jobs_late(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each job has a trigger a second. Ten thousand messages take seconds."""
    send = world.queue.send
    late_ms: list[int] = []

    def delayed(messages: Sequence[tuple[Any, int]]) -> None:
        now = world.api_clock.now()
        world.clock.time += len(messages)
        late_ms.extend(world.api_clock.now() + delay - each.not_before for each, delay in messages if delay)
        assert all(each.not_before >= now + delay for each, delay in messages if delay)
        send(messages)

    monkeypatch.setattr(world.queue, "send", delayed)
    write(world, *(job(f"job-{number}", schedule="* * * * * *") for number in range(100)))
    assert len(late_ms) > 5_000
    assert max(late_ms) <= SEND_AT_ONCE


def test_all_new_jobs_of_a_call_share_a_shard() -> None:
    world = World(shards=7)
    results = write(world, *(job(f"job-{number}") for number in range(20)))
    assert len({each.job.shard for each in results if isinstance(each, WriteResult)}) == 1


def test_calls_spread_over_the_shards() -> None:
    world = World(shards=7)
    shards = set()
    for call in range(40):
        for each in write(world, job(f"a-{call}"), job(f"b-{call}")):
            assert isinstance(each, WriteResult)
            shards.add(each.job.shard)
    assert shards == set(range(7))


def test_a_single_new_job_is_written_as_by_put(world: World) -> None:
    calls = counting(world)
    assert outcomes(write(world, job("a"))) == ["created"]
    assert calls == {"jobs.get": 1, "timers.put": 1, "jobs.put": 1}


def test_existing_jobs_are_replaced_or_left_unchanged_beside_new_ones(world: World) -> None:
    write(world, job("a"), job("b"))
    results = write(world, job("a"), job("b", schedule="@every 2h"), job("c"), job("d"))
    assert outcomes(results) == ["unchanged", "replaced", "created", "created"]


def test_a_job_with_data_of_its_own_object_is_written_beside_the_others(world: World) -> None:
    large = JobToWrite(key_of("large"), definition(data='"' + "x" * 3_000 + '"', schedule="@every 1h"))
    assert outcomes(write(world, job("a"), large, job("b"))) == ["created"] * 3
    stored = world.stored("large")
    payload = stored.definition.payload
    assert payload is not None
    assert payload.ref is not None
    assert world.payloads.get(stored.uid, payload.ref) is not None


def test_a_job_with_impossible_times_does_not_stop_the_others(world: World) -> None:
    never = job("never", schedule="0 0 30 2 *")
    assert outcomes(write(world, job("a"), never, job("b"))) == ["created", InvalidError.__name__, "created"]
    assert world.jobs.get(key_of("never")) is None


def stale_world() -> tuple[World, StaleJobs]:
    world = World()
    world.jobs = jobs = StaleJobs()
    return world, jobs


def test_jobs_that_a_stale_read_does_not_know_yet_are_left_or_replaced() -> None:
    world, jobs = stale_world()
    write(world, job("a"), job("b"))
    jobs.stale = {key_of("a"): None, key_of("b"): None}
    results = write(world, job("a"), job("b", schedule="@every 2h"), job("c"))
    assert outcomes(results) == ["unchanged", "replaced", "created"]


def test_a_job_that_must_be_new_replaces_none_though_a_stale_read_does_not_know_it() -> None:
    world, jobs = stale_world()
    write(world, job("a"), job("b"))
    jobs.stale = {key_of("a"): None, key_of("b"): None}
    changed = [job(name, schedule="@every 2h")._replace(if_absent=True) for name in ("a", "b", "c")]
    assert outcomes(write(world, *changed)) == ["PreconditionError", "PreconditionError", "created"]


def test_a_job_that_must_have_a_revision_is_not_created(world: World) -> None:
    wanted = [job(name)._replace(if_match=("1-a",)) for name in ("a", "b")]
    assert outcomes(write(world, *wanted, job("c"))) == ["PreconditionError", "PreconditionError", "created"]


def test_a_job_that_a_stale_read_still_knows_is_created() -> None:
    world, jobs = stale_world()
    write(world, job("a"), job("b"))
    jobs.stale = {key_of("a"): world.jobs.get(key_of("a"))}
    world.delete("a")
    assert outcomes(write(world, job("a"), job("b"), job("c"))) == ["created", "unchanged", "created"]


def test_a_creation_that_is_repeated_after_an_update_is_made_once_though_its_revision_is_forgotten() -> None:
    world = World()

    def updated() -> None:
        world.patch(description="another client's")
        change(world, earlier=())

    # If the call were made again, the one-off would begin again and be due a second time.
    put_repeated_after(world, updated)
    assert outcomes(write(world, job("job", dueTime="1h"), job("b", dueTime="1h"))) == ["created", "created"]
    stored = world.stored()
    assert (stored.rev[:2], stored.definition.written["description"]) == ("2-", "another client's")


@pytest.mark.parametrize("call", ["jobs.get_many", "timers.put"])
def test_jobs_that_cannot_be_written_together_are_written_one_by_one(world: World, call: str) -> None:
    failing(world, call, times=1)
    assert outcomes(write(world, job("a"), job("b"))) == ["created", "created"]


def test_a_store_that_fails_throughout_fails_each_job(world: World) -> None:
    failing(world, "timers.put")
    assert outcomes(write(world, job("a"), job("b"))) == [StoreError.__name__] * 2
    assert world.jobs.get_many([key_of("a"), key_of("b")]) == {}


def test_a_commit_that_fails_does_not_stop_the_others(world: World) -> None:
    failing(world, "jobs.put", times=1)
    results = write(world, job("a"), job("b"))
    assert outcomes(results) == [StoreError.__name__, "created"]


@pytest.mark.parametrize(
    "call", ["before jobs.get_many", "after jobs.get_many", "before timers.put", "after timers.put"]
)
def test_a_call_that_is_thawed_late_commits_nothing(world: World, call: str) -> None:
    slow(world, REQUEST_TIME_LIMIT_MS + 1, call)
    results = write(world, job("a"), job("b"))
    assert outcomes(results) == [UnavailableError.__name__] * 2
    assert world.jobs.get_many([key_of("a"), key_of("b")]) == {}


def test_a_commit_that_is_thawed_late_is_not_sent(world: World) -> None:
    slow(world, REQUEST_TIME_LIMIT_MS + 1, "before jobs.put")
    results = write(world, job("a"), job("b"))
    assert outcomes(results) == [StoreError.__name__, UnavailableError.__name__]
    assert world.jobs.get_many([key_of("a"), key_of("b")]) == {}


@pytest.mark.parametrize("at", range(1, 13))
def test_each_job_that_can_be_read_after_a_crash_is_armed(world: World, at: int) -> None:
    left = [at]

    def announce(_: str) -> None:
        left[0] -= 1
        if not left[0]:
            world.announce = lambda _: None
            raise Crash

    world.announce = announce
    jobs = [job("a", schedule="@every 24h"), job("b", schedule="@every 24h"), job("c", schedule="@every 24h")]
    try:
        write(world, *jobs)
    except Crash:
        stored = set(world.jobs.get_many([each.key for each in jobs]))
        assert {key.name for key in stored} <= timers_of(world)
