"""The fixtures that give a test the stores and tables of each engine.

A conftest that wants them imports all names of this module. pytest finds a fixture by its name in a conftest.
"""

from collections.abc import Iterator

import pytest
from infra import dynamodb_local
from moto import mock_aws
from tests.fakes.dynamodb import FakeDynamoDB
from tests.fakes.engines import (
    BUCKET,
    LOCAL,
    MOTO,
    REGION,
    Dynamo,
    Stores,
    in_memory,
    on_fake,
    one_request_at_a_time,
    with_tables,
)

from sweephand.storage import connect
from sweephand.storage.payloads import S3Payloads

__all__ = [
    "aws_environment",
    "aws_payloads",
    "dynamo",
    "local_url",
    "on_dynamodb_local",
    "on_moto",
    "on_wire",
    "stores",
]


@pytest.fixture(scope="session")
def local_url() -> Iterator[str]:
    """The URL of DynamoDB Local. It starts once in a session, and only if a test asks for it."""
    reason = dynamodb_local.available()
    if reason is not None:
        pytest.skip(reason)
    with dynamodb_local.running() as url:
        yield url


@pytest.fixture
def aws_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of a function, so that the code makes its clients as in production."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)


@pytest.fixture(params=["memory", "wire", MOTO, LOCAL])
def stores(request: pytest.FixtureRequest) -> Stores:
    """The empty stores of each implementation: in memory, and the adapters on three engines.

    `wire` is the client in memory of the engine in one process.
    """
    if request.param == "memory":
        return in_memory()
    made: Dynamo = request.getfixturevalue(f"on_{request.param}")
    return made.stores()


@pytest.fixture(params=[MOTO, LOCAL])
def dynamo(request: pytest.FixtureRequest) -> Dynamo:
    """Empty tables on each engine."""
    made: Dynamo = request.getfixturevalue(f"on_{request.param}")
    return made


@pytest.fixture
def on_wire() -> Dynamo:
    """Empty tables behind a client in memory."""
    return on_fake(FakeDynamoDB())


@pytest.fixture
def on_moto(aws_environment: None) -> Iterator[Dynamo]:  # noqa: ARG001 (the fixture is wanted for what it sets)
    """Empty tables in this process, for any number of threads."""
    with mock_aws(), one_request_at_a_time():
        yield with_tables(connect.dynamodb())


@pytest.fixture
def on_dynamodb_local(
    aws_environment: None,  # noqa: ARG001 (the fixture is wanted for what it sets)
    local_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> Dynamo:
    """Empty tables on AWS's own engine."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", local_url)
    return with_tables(connect.dynamodb())


@pytest.fixture
def aws_payloads(on_moto: Dynamo) -> S3Payloads:  # noqa: ARG001 (moto must be active)
    """An empty bucket in this process."""
    connect.s3().create_bucket(Bucket=BUCKET)
    return S3Payloads(BUCKET)
