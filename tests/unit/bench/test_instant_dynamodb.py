"""The fake AWS of the benchmarks answers at once from what was written, and can repeat its answers."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast
from unittest.mock import patch

import boto3
import pytest
from infra.bench.instant_dynamodb import ENVIRONMENT, InstantDynamoDB, answer_beneath_boto3
from tests.contract.builders import NOON, job, run, secrets, timer
from tests.fakes.memory import brief_of

from sweephand.model.timer import Cursor
from sweephand.storage import connect
from sweephand.storage.jobs import DynamoJobs
from sweephand.storage.leases import DynamoLeases
from sweephand.storage.runs import DynamoRuns
from sweephand.storage.signing_secrets import DynamoSecrets
from sweephand.storage.table import Table
from sweephand.storage.timers import DynamoTimers

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> InstantDynamoDB:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    aws = InstantDynamoDB()
    answer_beneath_boto3(aws)
    return aws


def beneath(name: str) -> Table:
    return Table(connect.dynamodb(), name, lambda _: None)


@pytest.mark.parametrize("has_boto3", [False, True])
def test_jobs_are_read_as_they_were_written(aws: InstantDynamoDB, *, has_boto3: bool) -> None:
    table = beneath("jobs") if has_boto3 else Table(cast("DynamoDBClient", aws), "jobs", lambda _: None)
    jobs, nightly = DynamoJobs(table), job("nightly")

    assert jobs.put(nightly, None)
    assert DynamoRuns(table).record(run())

    assert jobs.get(nightly.key) == nightly
    assert jobs.get_many([nightly.key, job("other").key]) == {nightly.key: nightly}


def test_the_units_of_reads_follow_from_the_sizes_of_what_is_read(aws: InstantDynamoDB) -> None:
    jobs = DynamoJobs(beneath("jobs"))
    large = replace(job("large"), pause_reason="ü" * 2_000)
    keys = [job("small").key, large.key, job("absent").key]
    assert jobs.put(job("small"), None)
    assert jobs.put(large, None)

    def units(read: Callable[[], object]) -> float:
        return sum(map(aws.read_units, aws.record(read)))

    assert units(lambda: jobs.get(large.key)) == 2
    assert units(lambda: jobs.get_many(keys)) == 1 + 2 + 1
    assert units(lambda: jobs.get_many(keys, may_be_stale=True)) == 2
    assert units(lambda: jobs.search("default", "", "", 16, lambda *_: True)) == 1 + 2 + 14


def test_a_whole_partition_is_read_as_deliveries_read_signing_secrets(aws: InstantDynamoDB) -> None:
    del aws
    store, written = DynamoSecrets(beneath("jobs")), secrets()
    assert store.both(written.namespace) == {}
    assert store.create(written)
    assert store.both(written.namespace) == {"v1": written}


def test_a_shard_is_claimed_read_and_committed_as_on_dynamodb(aws: InstantDynamoDB) -> None:
    del aws
    leases, timers, jobs = DynamoLeases(beneath("t")), DynamoTimers(beneath("t")), DynamoJobs(beneath("j"))
    leases.raise_shards(1)
    nightly, due = job("nightly"), timer(NOON, "nightly", shard=0)
    assert jobs.put(nightly, None)
    timers.put([due])
    (free,) = leases.state().leases
    held = leases.claim(free, "me", NOON, NOON + 30_000)
    assert held is not None
    assert (held.fence, held.owner, held.judged_at, held.tries) == (1, "me", NOON, 1)
    assert timers.page(0, Cursor(), NOON + 60_000, 10) == [due]
    assert not timers.page(0, Cursor(due.sort_key), NOON + 60_000, 10)
    assert jobs.briefs([nightly.key, job("other").key]) == {nightly.key: brief_of(nightly)}
    moved = leases.commit(held, Cursor(due.sort_key), NOON + 40_000)
    assert moved is not None
    leases.release(moved, 1, NOON + 5)
    (released,) = leases.state().leases
    assert (released.owner, released.cursor, released.found) == (None, Cursor(due.sort_key), 1)


def test_the_recorded_aws_repeats_its_answers_and_refuses_a_request_that_it_has_not_recorded(
    aws: InstantDynamoDB,
) -> None:
    jobs, nightly = DynamoJobs(beneath("j")), job("nightly")
    assert jobs.put(nightly, None)
    asked = aws.record(lambda: jobs.get(nightly.key), repeats=True)
    [(service, method, parameters)] = asked
    assert (service, method, parameters["TableName"]) == ("dynamodb", "get_item", "j")
    with patch.object(InstantDynamoDB, "get_item", side_effect=AssertionError):
        assert jobs.get(nightly.key) == nightly
    with pytest.raises(KeyError):
        jobs.get(job("other").key)


def test_the_recorded_queue_accepts_every_message(aws: InstantDynamoDB) -> None:
    del aws
    entries: Any = [{"Id": "0", "MessageBody": "a"}, {"Id": "1", "MessageBody": "b"}]
    answer = boto3.client("sqs").send_message_batch(
        QueueUrl=ENVIRONMENT["DELIVERY_QUEUE_URL"], Entries=entries
    )
    assert [each["Id"] for each in answer["Successful"]] == ["0", "1"]
