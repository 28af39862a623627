"""Items that DynamoDB leaves unprocessed are requested again for a while, never taken as done or absent."""

import pytest
from tests.contract.builders import NOON, job, timer
from tests.fakes.engines import Dynamo
from tests.fakes.wire import HalfBatches, idle, interrupted, watched

from sweephand.base.errors import StoreError
from sweephand.base.instants import HOUR_MS
from sweephand.model.job import JobKey
from sweephand.model.timer import Cursor, Timer
from sweephand.storage.jobs import DynamoJobs
from sweephand.storage.timers import DynamoTimers


@pytest.fixture
def jobs(dynamo: Dynamo) -> DynamoJobs:
    return DynamoJobs(dynamo.table(dynamo.jobs_table))


@pytest.fixture
def timers(dynamo: Dynamo) -> DynamoTimers:
    return DynamoTimers(dynamo.table(dynamo.timers_table))


def written_jobs(jobs: DynamoJobs, number: int) -> list[JobKey]:
    keys = [JobKey("default", f"job-{each}") for each in range(number)]
    for key in keys:
        jobs.put(job(key=key), replacing=None)
    return keys


def test_jobs_are_read_a_hundred_at_a_time(dynamo: Dynamo, jobs: DynamoJobs) -> None:
    keys = written_jobs(jobs, 10) + [JobKey("default", f"none-{each}") for each in range(240)]
    with watched(dynamo.client, "BatchGetItem") as answers:
        assert jobs.get_many(keys).keys() == set(keys[:10])
    assert len(answers) == 3
    assert dynamo.waits_ms == []


def test_unprocessed_keys_are_asked_for_again(dynamo: Dynamo, jobs: DynamoJobs) -> None:
    keys = written_jobs(jobs, 20)
    with HalfBatches().of(dynamo.client, "BatchGetItem") as batches:
        found = jobs.get_many([*keys, JobKey("default", "none")])
    assert found == {key: job(key=key) for key in keys}
    assert batches.sizes == [21, 10, 5, 2, 1]
    assert dynamo.waits_ms == sorted(dynamo.waits_ms)
    assert len(dynamo.waits_ms) == 4


def test_keys_that_stay_unprocessed_raise_an_error_and_do_not_count_as_missing_jobs(
    dynamo: Dynamo, jobs: DynamoJobs
) -> None:
    keys = written_jobs(jobs, 2)
    with idle(dynamo.client, "BatchGetItem"), pytest.raises(StoreError, match="were not processed"):
        jobs.get_many(keys)
    assert 1_000 < sum(dynamo.waits_ms) < 5_000


def test_timers_are_written_25_at_a_time(dynamo: Dynamo, timers: DynamoTimers) -> None:
    with watched(dynamo.client, "BatchWriteItem") as answers:
        timers.put([timer(NOON + number) for number in range(130)])
    assert len(answers) == 6
    assert dynamo.waits_ms == []


def test_unprocessed_timers_are_written_again(dynamo: Dynamo, timers: DynamoTimers) -> None:
    written: list[Timer] = [timer(NOON + number) for number in range(30)]
    with HalfBatches().of(dynamo.client, "BatchWriteItem") as batches:
        timers.put(written)
    assert batches.sizes == [25, 12, 6, 3, 1, 5, 2, 1]
    assert list(timers.page(3, Cursor(), NOON + HOUR_MS, 50)) == written
    assert len(dynamo.waits_ms) == 6


def test_timers_that_stay_unprocessed_raise_an_error(dynamo: Dynamo, timers: DynamoTimers) -> None:
    with idle(dynamo.client, "BatchWriteItem"), pytest.raises(StoreError, match="were not processed"):
        timers.put([timer(), timer(NOON + 1)])
    assert 1_000 < sum(dynamo.waits_ms) < 5_000


def test_an_empty_page_before_the_end_of_a_query_is_followed_by_the_next(
    dynamo: Dynamo, timers: DynamoTimers
) -> None:
    timers.put([timer()])
    first = {"pk": {"S": "shard#0003"}, "sk": {"S": "2026"}}
    with interrupted(dynamo.client, first) as queries:
        assert list(timers.page(3, Cursor(), NOON + HOUR_MS, 50)) == [timer()]
    assert queries.times == 2
