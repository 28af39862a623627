"""The engines that stores are tested on.

`memory` implements the ports themselves. The others are the production adapters, over a client in memory
(`wire`), moto, and AWS's own DynamoDB Local where it can run.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast
from unittest.mock import patch
from uuid import uuid4

import pytest
from infra import dynamodb_local
from moto import mock_aws
from moto.core.botocore_stubber import BotocoreStubber
from tests.fakes.dynamodb import FakeDynamoDB
from tests.fakes.memory import (
    MemoryChanges,
    MemoryJobs,
    MemoryKeys,
    MemoryLeases,
    MemoryLines,
    MemoryRuns,
    MemorySecrets,
    MemoryTimers,
)
from tests.fakes.tables import create_table

from sweephand.ports import (
    ChangeStore,
    JobStore,
    KeyStore,
    LeaseStore,
    LineStore,
    RunStore,
    SecretStore,
    TimerStore,
)
from sweephand.storage import connect
from sweephand.storage.api_keys import DynamoKeys
from sweephand.storage.changes import DynamoChanges
from sweephand.storage.jobs import DynamoJobs
from sweephand.storage.leases import DynamoLeases
from sweephand.storage.lines import DynamoLines
from sweephand.storage.payloads import S3Payloads
from sweephand.storage.runs import DynamoRuns
from sweephand.storage.signing_secrets import DynamoSecrets
from sweephand.storage.table import Table
from sweephand.storage.timers import DynamoTimers

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

REGION: Final = "us-east-1"
BUCKET: Final = "payloads"
LOCAL: Final = pytest.param("dynamodb_local", marks=pytest.mark.dynamodb_local)


@dataclass(frozen=True)
class Stores:
    """One implementation of every port that DynamoDB stands behind, empty."""

    jobs: JobStore
    timers: TimerStore
    leases: LeaseStore
    runs: RunStore
    changes: ChangeStore
    lines: LineStore
    secrets: SecretStore
    keys: KeyStore


@dataclass(frozen=True)
class Dynamo:
    """Two empty tables on an engine, the client that asks it, and the waits that were asked for."""

    client: "DynamoDBClient"
    jobs_table: str
    timers_table: str
    waits_ms: list[int] = field(default_factory=list)

    def table(self, name: str) -> Table:
        return Table(self.client, name, self.waits_ms.append)

    def stores(self) -> Stores:
        jobs, timers = self.table(self.jobs_table), self.table(self.timers_table)
        return Stores(
            DynamoJobs(jobs),
            DynamoTimers(timers),
            DynamoLeases(timers),
            DynamoRuns(jobs),
            DynamoChanges(jobs),
            DynamoLines(jobs),
            DynamoSecrets(jobs),
            DynamoKeys(jobs),
        )


def in_memory() -> Stores:
    return Stores(
        MemoryJobs(),
        MemoryTimers(),
        MemoryLeases(),
        MemoryRuns(),
        MemoryChanges(),
        MemoryLines(),
        MemorySecrets(),
        MemoryKeys(),
    )


def on_fake(client: FakeDynamoDB) -> Dynamo:
    """The adapters over a client in memory, whose tables are there when they are named."""
    return Dynamo(cast("DynamoDBClient", client), "jobs", "timers")


def _with_tables(client: "DynamoDBClient") -> Dynamo:
    salt = uuid4().hex
    dynamo = Dynamo(client, f"jobs-{salt}", f"timers-{salt}")
    create_table(client, "JobsTable", dynamo.jobs_table)
    create_table(client, "TimersTable", dynamo.timers_table)
    return dynamo


@contextmanager
def _one_request_at_a_time() -> Iterator[None]:
    """Make of moto's requests what DynamoDB's are: nobody comes between a condition and its write.

    moto looks at an item and writes it in two steps, between which threads may change.
    """
    lock, answer = threading.Lock(), BotocoreStubber.__call__

    def answered(stubber: BotocoreStubber, *args: Any, **kwargs: Any) -> Any:
        with lock:
            return answer(stubber, *args, **kwargs)

    with patch.object(BotocoreStubber, "__call__", answered):
        yield


# What follows are fixtures, for the conftest of whichever folder wants them.


@pytest.fixture(scope="session")
def local_url() -> Iterator[str]:
    """Where DynamoDB Local answers: started once in a session, and only if a test asks for it."""
    reason = dynamodb_local.available()
    if reason is not None:
        pytest.skip(reason)
    with dynamodb_local.running() as url:
        yield url


@pytest.fixture
def aws_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of a function, so that clients are made as they are there."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)


@pytest.fixture(params=["memory", "wire", "moto", LOCAL])
def stores(request: pytest.FixtureRequest) -> Stores:
    """The stores, empty, in each implementation."""
    if request.param == "memory":
        return in_memory()
    made: Dynamo = request.getfixturevalue(f"on_{request.param}")
    return made.stores()


@pytest.fixture(params=["moto", LOCAL])
def dynamo(request: pytest.FixtureRequest) -> Dynamo:
    """Empty tables on each engine."""
    made: Dynamo = request.getfixturevalue(f"on_{request.param}")
    return made


@pytest.fixture
def on_wire() -> Dynamo:
    """Empty tables behind a client in memory."""
    return on_fake(FakeDynamoDB())


@pytest.fixture
def on_moto(aws_environment: None) -> Iterator[Dynamo]:  # noqa: ARG001 (wanted for what it sets)
    """Empty tables in this process, for any number of threads."""
    with mock_aws(), _one_request_at_a_time():
        yield _with_tables(connect.dynamodb())


@pytest.fixture
def on_dynamodb_local(
    aws_environment: None,  # noqa: ARG001 (wanted for what it sets)
    local_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> Dynamo:
    """Empty tables on AWS's own engine."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", local_url)
    return _with_tables(connect.dynamodb())


@pytest.fixture
def aws_payloads(on_moto: Dynamo) -> S3Payloads:  # noqa: ARG001 (moto has to be there)
    """An empty bucket in this process."""
    connect.s3().create_bucket(Bucket=BUCKET)
    return S3Payloads(BUCKET)
