"""The fake AWS of the sweeper's benchmark answers from what is stored, and later repeats its answers."""

from typing import Any
from unittest.mock import patch

import boto3
import pytest
from infra.bench.environment import ENVIRONMENT
from infra.bench.recorded_aws import RecordedAws
from tests.contract.builders import NOON, job, timer

from sweephand.model.job import brief_of
from sweephand.model.timer import Cursor
from sweephand.storage import connect
from sweephand.storage.jobs import DynamoJobs
from sweephand.storage.leases import DynamoLeases
from sweephand.storage.table import Table
from sweephand.storage.timers import DynamoTimers


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> RecordedAws:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    aws = RecordedAws()
    aws.attach()
    return aws


def table(name: str) -> Table:
    return Table(connect.dynamodb(), name, lambda _: None)


def test_a_shard_is_claimed_read_and_committed_as_on_dynamodb(aws: RecordedAws) -> None:
    del aws
    leases, timers, jobs = DynamoLeases(table("t")), DynamoTimers(table("t")), DynamoJobs(table("j"))
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
    aws: RecordedAws,
) -> None:
    jobs, nightly = DynamoJobs(table("j")), job("nightly")
    assert jobs.put(nightly, None)
    asked = aws.record(lambda: jobs.get(nightly.key))
    [(service, method, parameters)] = asked
    assert (service, method, parameters["TableName"]) == ("dynamodb", "get_item", "j")
    with patch.object(RecordedAws, "_get", side_effect=AssertionError):
        assert jobs.get(nightly.key) == nightly
    with pytest.raises(KeyError):
        jobs.get(job("other").key)


def test_the_recorded_queue_accepts_every_message(aws: RecordedAws) -> None:
    del aws
    entries: Any = [{"Id": "0", "MessageBody": "a"}, {"Id": "1", "MessageBody": "b"}]
    answer = boto3.client("sqs").send_message_batch(
        QueueUrl=ENVIRONMENT["DELIVERY_QUEUE_URL"], Entries=entries
    )
    assert [each["Id"] for each in answer["Successful"]] == ["0", "1"]
