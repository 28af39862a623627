"""A write that the SDK sends twice succeeds, and items left unprocessed are requested again for a while."""

import pytest
from tests.contract.builders import NOON, admin_change, api_key, job, secrets, timer
from tests.fakes.engines import Dynamo
from tests.fakes.wire import HalfBatches, idle, interrupted, repeated_by_the_sdk, watched

from sweephand.base.errors import StoreError
from sweephand.base.instants import HOUR_MS
from sweephand.model.job import JobKey
from sweephand.model.timer import Cursor, Timer
from sweephand.storage.api_keys import DynamoKeys
from sweephand.storage.jobs import DynamoJobs
from sweephand.storage.leases import DynamoLeases
from sweephand.storage.signing_secrets import DynamoSecrets
from sweephand.storage.timers import DynamoTimers

OWNER = "owner00000000001"
UNTIL = NOON + 30_000


@pytest.fixture
def jobs(dynamo: Dynamo) -> DynamoJobs:
    return DynamoJobs(dynamo.table(dynamo.jobs_table))


@pytest.fixture
def leases(dynamo: Dynamo) -> DynamoLeases:
    return DynamoLeases(dynamo.table(dynamo.timers_table))


def test_the_sdk_does_not_repeat_a_write_after_its_deadline(dynamo: Dynamo, jobs: DynamoJobs) -> None:
    answers = iter((True, False))
    with (
        repeated_by_the_sdk(dynamo.client, "PutItem"),
        watched(dynamo.client, "PutItem") as answered,
        pytest.raises(StoreError, match="too late"),
    ):
        jobs.put(job(), None, lambda: next(answers))
    # The first try was applied. The caller cannot know that, and the error says so.
    assert not answered
    assert jobs.get(job().key) == job()


def test_the_sdk_does_not_repeat_a_deletion_after_its_deadline(dynamo: Dynamo, jobs: DynamoJobs) -> None:
    jobs.put(job(), None)
    answers = iter((True, False))
    with (
        repeated_by_the_sdk(dynamo.client, "DeleteItem") as sent,
        pytest.raises(StoreError, match="too late"),
    ):
        jobs.delete(job(), lambda: next(answers))
    assert sent.times == 2


def test_the_deadline_of_one_write_does_not_apply_to_the_next(jobs: DynamoJobs) -> None:
    with pytest.raises(StoreError):
        jobs.put(job(), None, lambda: False)
    jobs.put(job(), None)
    assert jobs.get(job().key) == job()


def test_a_repeated_claim_succeeds_although_another_sweeper_held_the_shard_since_it_was_read(
    dynamo: Dynamo, leases: DynamoLeases
) -> None:
    leases.raise_shards(1)
    stale = leases.state().leases[0]
    first = leases.claim(stale, "owner00000000002", NOON, UNTIL)
    assert first is not None
    leases.release(first, 0, NOON)
    with repeated_by_the_sdk(dynamo.client, "UpdateItem"):
        lease = leases.claim(stale, OWNER, NOON, UNTIL)
    assert lease is not None
    assert (lease.owner, lease.fence) == (OWNER, 2)


def test_a_repeated_creation_and_rotation_of_signing_secrets_succeed(dynamo: Dynamo) -> None:
    store = DynamoSecrets(dynamo.table(dynamo.jobs_table))
    with repeated_by_the_sdk(dynamo.client, "PutItem") as sent:
        assert store.create(secrets("version000000001"))
    assert sent.times == 2
    with repeated_by_the_sdk(dynamo.client, "TransactWriteItems") as sent:
        assert store.put(secrets("version000000002"), "version000000001", admin_change())
    assert sent.times == 2


def test_a_repeated_making_and_ending_of_an_api_key_succeeds(dynamo: Dynamo) -> None:
    store = DynamoKeys(dynamo.table(dynamo.jobs_table))
    maker, ended = api_key("key0000000000007"), api_key(expires_at=NOON)
    store.put(maker, admin_change())
    with repeated_by_the_sdk(dynamo.client, "TransactWriteItems") as sent:
        assert store.make(api_key(), maker, admin_change())
        assert store.end(api_key(), ended, admin_change())
        assert store.make(maker._replace(expires_at=NOON), maker, admin_change())
    assert sent.times == 6
    assert store.get(ended.id) == ended


def test_a_repeated_deletion_of_an_api_key_says_that_the_key_existed(dynamo: Dynamo) -> None:
    store = DynamoKeys(dynamo.table(dynamo.jobs_table))
    store.put(api_key(), admin_change())
    with repeated_by_the_sdk(dynamo.client, "DeleteItem") as sent:
        assert store.delete(api_key().id)
    assert sent.times == 2


def test_a_repeated_rotation_of_an_api_key_succeeds(dynamo: Dynamo) -> None:
    store = DynamoKeys(dynamo.table(dynamo.jobs_table))
    store.put(api_key(), admin_change())
    successor = api_key("key0000000000002", digest="1" * 64)
    ended = api_key(expires_at=NOON, replaced_by=successor.id)
    with repeated_by_the_sdk(dynamo.client, "TransactWriteItems") as sent:
        assert store.rotate(api_key(), ended, successor, None, [admin_change()])
    assert sent.times == 2
    assert (store.get(ended.id), store.get(successor.id)) == (ended, successor)


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
