"""A write that the SDK sends twice succeeds: its second refusal shows that it was done the first time."""

import pytest
from tests.contract.builders import NOON, admin_change, api_key, job, secrets
from tests.fakes.engines import Dynamo
from tests.fakes.wire import repeated_by_the_sdk, watched

from sweephand.base.errors import StoreError
from sweephand.storage.api_keys import DynamoKeys
from sweephand.storage.jobs import DynamoJobs
from sweephand.storage.leases import DynamoLeases
from sweephand.storage.signing_secrets import DynamoSecrets

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
