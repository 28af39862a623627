"""The admin key function over real tables."""

from collections.abc import Iterator
from types import ModuleType

import pytest
from tests.fakes.engines import Dynamo
from tests.fakes.functions import function

from sweephand.access.callers import authorize
from sweephand.model.api_key import Caller
from sweephand.runtime import tables
from sweephand.storage.api_keys import DynamoKeys


@pytest.fixture
def module(dynamo: Dynamo, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The module of the function's handler, over the tables of the engine."""
    table = dynamo.table(dynamo.jobs_table)
    monkeypatch.setattr(tables, "jobs_table", lambda: table)
    return function("admin_key")


@pytest.fixture
def keys(dynamo: Dynamo) -> DynamoKeys:
    return DynamoKeys(dynamo.table(dynamo.jobs_table))


def test_an_operator_gets_a_valid_admin_key(module: ModuleType, keys: DynamoKeys) -> None:
    made = module.handler({}, None)
    assert (made["namespace"], made["role"]) == ("*", "admin")
    assert authorize(f"Bearer {made['key']}", keys=keys, now=0) == Caller(made["id"], "*", "admin")


def test_the_log_does_not_show_the_key(module: ModuleType, caplog: pytest.LogCaptureFixture) -> None:
    made = module.handler({}, None)
    logged = str([vars(record) for record in caplog.records])
    assert made["id"] in logged
    assert made["key"].rpartition("_")[2] not in logged


def test_a_key_that_the_operator_made_is_stored_as_a_digest_and_not_shown(
    module: ModuleType, keys: DynamoKeys
) -> None:
    answer = module.handler({"secretSha256": "0" * 64}, None)
    assert answer == {"id": "admin", "namespace": "*", "role": "admin"}
    stored = keys.get("admin")
    assert stored is not None
    assert stored.digest == "0" * 64
