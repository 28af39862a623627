"""What each call costs in capacity units, and that a page reads little more than it shows."""

from collections.abc import Callable

import pytest
from tests.contract.builders import NOON, job, next_revision, run, timer
from tests.fakes.engines import Dynamo, Stores
from tests.fakes.wire import capacity_counted, watched
from tests.fakes.world import World

from sweephand.base.concurrency import one_by_one
from sweephand.base.instants import HOUR_MS
from sweephand.jobs.read import Selection, view
from sweephand.model.job import JobKey
from sweephand.model.run import Flag
from sweephand.model.run_id import RunName
from sweephand.model.timer import Cursor, Heartbeat, Lease
from sweephand.runs.health import HEALTH_RUNS_MAX, HealthReader

OWNER = "owner00000000001"
NAMES = [f"job-{number}" for number in range(10)]


def held(stores: Stores) -> Lease:
    stores.leases.raise_shards(4)
    lease = stores.leases.claim(Lease(0, Cursor()), OWNER, NOON, NOON + 30_000)
    assert lease is not None
    return lease


def fill(stores: Stores) -> None:
    for name in ("backup", *NAMES):
        stores.jobs.put(job(name), replacing=None)
    for number in range(1, HEALTH_RUNS_MAX + 1):
        stores.runs.record(run(NOON - number))
    held(stores)


#: What one call costs, in write or read units, of items under 1 KB.
COSTS: dict[str, tuple[Callable[[Stores], object], float]] = {
    "a job created": (lambda stores: stores.jobs.put(job("other"), replacing=None), 1),
    "a job replaced": (
        lambda stores: stores.jobs.put(next_revision(job(), "version000000002"), replacing=job().version),
        1,
    ),
    "a job read": (lambda stores: stores.jobs.get(job().key), 1),
    "ten jobs read at once": (
        lambda stores: stores.jobs.get_many([JobKey("default", name) for name in NAMES]),
        10,
    ),
    "a timer written": (lambda stores: stores.timers.put([timer()]), 1),
    "25 timers written": (
        lambda stores: stores.timers.put([timer(NOON + number) for number in range(25)]),
        25,
    ),
    "the state of the wheel": (lambda stores: stores.leases.state(), 1),
    "a heartbeat": (lambda stores: stores.leases.beat(Heartbeat(NOON)), 1),
    "a shard claimed": (
        lambda stores: stores.leases.claim(Lease(1, Cursor()), OWNER, NOON, NOON + 30_000),
        1,
    ),
    "a cursor committed": (
        lambda stores: stores.leases.commit(Lease(0, Cursor(), fence=1), Cursor(timer().sort_key), NOON),
        1,
    ),
    "a shard released": (lambda stores: stores.leases.release(Lease(0, Cursor(), fence=1), 1, NOON), 1),
    "a cursor committed and its shard released": (
        lambda stores: stores.leases.release(
            Lease(0, Cursor(), fence=1), 1, NOON, cursor=Cursor(timer().sort_key)
        ),
        1,
    ),
    "a run recorded": (lambda stores: stores.runs.record(run()), 1),
    "ten newest runs of a job for its health": (
        lambda stores: stores.runs.page(job().key, None, "", HEALTH_RUNS_MAX, with_batches=False),
        1,
    ),
    "the runs before and after a run": (
        lambda stores: stores.runs.beside(job().key, RunName(NOON - 2, 0), with_batches=False),
        2,
    ),
    "a run claimed": (lambda stores: stores.runs.claim(run(attempt=2), NOON), 1),
}


@pytest.mark.dynamodb_local
@pytest.mark.parametrize(("call", "units"), COSTS.values(), ids=COSTS.keys())
def test_a_call_consumes_the_tabled_capacity_units(
    on_dynamodb_local: Dynamo, call: Callable[[Stores], object], units: float
) -> None:
    stores = on_dynamodb_local.stores()
    fill(stores)
    with capacity_counted(on_dynamodb_local.client) as consumed:
        call(stores)
    assert sum(consumed) == units


@pytest.mark.dynamodb_local
def test_the_cost_of_a_page_of_timers_depends_on_its_size_and_not_on_the_number_stored(
    on_dynamodb_local: Dynamo,
) -> None:
    stores = on_dynamodb_local.stores()
    stores.timers.put([timer(NOON + number * 100) for number in range(300)])
    stores.timers.put([timer(NOON + HOUR_MS + number) for number in range(200)])
    with capacity_counted(on_dynamodb_local.client) as consumed:
        page = stores.timers.page(3, Cursor(), NOON + HOUR_MS, 100)
    assert len(page) == 100
    assert sum(consumed) <= 100 / 4
    with capacity_counted(on_dynamodb_local.client) as consumed:
        stores.timers.page(3, Cursor(timer(NOON + 50_000).sort_key), NOON + HOUR_MS, 1_000)
    assert sum(consumed) <= 1, "an empty page read what lies beyond it"


def test_a_page_of_jobs_reads_little_more_than_it_shows(on_moto: Dynamo) -> None:
    stores = on_moto.stores()
    for number in range(300):
        stores.jobs.put(job(f"job-{number}"), replacing=None)
    for limit in (10, 50, 200):
        with watched(on_moto.client, "Query") as answers:
            assert len(stores.jobs.page("default", "", "", limit).items) == limit
        read = sum(answer["Count"] for answer in answers)
        assert read <= limit + 16 * 4
        assert 16 <= len(answers) <= 32


def test_a_page_of_few_jobs_queries_each_partition_once(on_moto: Dynamo) -> None:
    stores = on_moto.stores()
    for number in range(4):
        with watched(on_moto.client, "Query") as answers:
            page = stores.jobs.page("default", "", "", 50)
        assert (len(page.items), len(answers)) == (number, 16)
        stores.jobs.put(job(f"job-{number}"), replacing=None)


def test_a_page_of_the_runs_of_a_job_without_batches_makes_one_query(on_moto: Dynamo) -> None:
    runs = on_moto.stores().runs
    for number in range(60):
        runs.record(run(NOON + number))
    with watched(on_moto.client, "Query") as answers:
        assert len(runs.page(run().key, None, "", 50, with_batches=False).items) == 50
    assert [answer["Count"] for answer in answers] == [50]


def test_the_health_of_a_job_takes_one_query_for_ten_runs_and_failing_jobs_one_for_each_partition_of_flags(
    on_moto: Dynamo,
) -> None:
    stores = on_moto.stores()
    world = World()
    for number in range(30):
        failed = run(NOON + number, state="failed", claimed_until=None)
        stores.runs.record(failed)
        stores.flags.put(Flag(failed.key, failed.uid, RunName(failed.due_at, 0)))
    stores.jobs.put(job(), replacing=None)
    reader = HealthReader(
        jobs=stores.jobs, runs=stores.runs, flags=stores.flags, clock=world.clock, concurrently=one_by_one
    )
    with watched(on_moto.client, "Query") as queries:
        ((_, health),) = reader.of([view(job(), NOON)], NOON)
    assert ([each["Count"] for each in queries], len(health.failures)) == ([10], 10)
    with watched(on_moto.client, "Query") as queries, watched(on_moto.client, "BatchGetItem") as gets:
        page = reader.failing(Selection("default"), limit=50, now=NOON)
    assert [each.view.job.key for each in page.items] == [job().key]
    assert ([each["Count"] for each in queries][16:], len(queries), len(gets)) == ([10], 17, 1)
    assert sum(each["Count"] for each in queries[:16]) == 30


def test_a_page_of_runs_that_may_be_those_of_batches_asks_each_partition_and_reads_few_others(
    on_moto: Dynamo,
) -> None:
    runs = on_moto.stores().runs
    for number in range(60):
        runs.record(run(NOON + number))
    with watched(on_moto.client, "Query") as answers:
        assert len(runs.page(run().key, None, "", 50).items) == 50
    assert len(answers) == 17
    for index in range(1, 200):
        runs.record(run(NOON + 60, index=index))
    with watched(on_moto.client, "Query") as answers:
        assert len(runs.page(run().key, None, "", 50).items) == 50
    assert sum(answer["Count"] for answer in answers) <= 50 + 50 + 16 * 4
    assert len(answers) <= 17 + 16


def test_a_page_for_a_cursor_beyond_the_horizon_makes_no_query(on_moto: Dynamo) -> None:
    with watched(on_moto.client, "Query") as answers:
        on_moto.stores().timers.page(3, Cursor(timer(NOON + HOUR_MS).sort_key), NOON, 50)
    assert answers == []
