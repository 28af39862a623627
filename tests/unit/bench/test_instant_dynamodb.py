"""The DynamoDB of the deliveries benchmark: it answers at once, and answers what was written."""

from typing import TYPE_CHECKING, cast

import boto3
import pytest
from infra.bench.instant_dynamodb import InstantDynamoDB
from tests.contract.builders import job, run, secrets

from sweephand.storage.jobs import DynamoJobs
from sweephand.storage.runs import DynamoRuns
from sweephand.storage.signing_secrets import DynamoSecrets
from sweephand.storage.table import Table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


def client(dynamodb: InstantDynamoDB, *, has_boto3: bool) -> "DynamoDBClient":
    if not has_boto3:
        return cast("DynamoDBClient", dynamodb)
    session = boto3.Session("x", "x", region_name="us-east-1")
    session.events.register("before-send.dynamodb", dynamodb.answer)  # type: ignore[arg-type] # it is taken
    return session.client("dynamodb", endpoint_url="http://127.0.0.1:9")


@pytest.mark.parametrize("has_boto3", [False, True])
def test_jobs_are_read_as_they_were_written_and_each_call_is_counted(*, has_boto3: bool) -> None:
    dynamodb = InstantDynamoDB()
    table = Table(client(dynamodb, has_boto3=has_boto3), "jobs", lambda _: None)
    jobs, nightly = DynamoJobs(table), job("nightly")

    assert jobs.put(nightly, None)
    assert DynamoRuns(table).record(run())

    assert jobs.get(nightly.key) == nightly
    assert jobs.get_many([nightly.key, job("other").key]) == {nightly.key: nightly}
    assert dynamodb.calls == {"PutItem": 2, "GetItem": 1, "BatchGetItem": 1}


def test_a_whole_partition_is_read_as_deliveries_read_signing_secrets() -> None:
    table = Table(client(InstantDynamoDB(), has_boto3=True), "jobs", lambda _: None)
    store, written = DynamoSecrets(table), secrets()
    assert store.both(written.namespace) == {}
    assert store.create(written)
    assert store.both(written.namespace) == {"v1": written}
