"""The admin key function over real tables, with CloudFormation and Secrets Manager as they answer."""

import json
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber
from infra.local.receiver import Receiver
from tests.fakes.engines import Dynamo
from tests.fakes.functions import function

from sweephand.access.authorize import authorize
from sweephand.model.api_key import Caller
from sweephand.runtime import tables
from sweephand.storage.api_keys import DynamoKeys

STACK = "arn:aws:cloudformation:eu-west-1:123456789012:stack/sweephand/1"
SECRET = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:AdminKeySecret-a"


@pytest.fixture
def module(dynamo: Dynamo, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The module of the function's handler, over the tables of the engine."""
    table = dynamo.table(dynamo.jobs_table)
    monkeypatch.setattr(tables, "jobs_table", lambda: table)
    return function("admin_key")


@pytest.fixture
def keys(dynamo: Dynamo) -> DynamoKeys:
    return DynamoKeys(dynamo.table(dynamo.jobs_table))


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Stubber]]:
    """CloudFormation and Secrets Manager. A test says what they answer."""
    clients: dict[str, Any] = {
        name: boto3.Session("test", "test", region_name="eu-west-1").client(name)
        for name in ("cloudformation", "secretsmanager")
    }
    stubs = {name: Stubber(client) for name, client in clients.items()}
    monkeypatch.setattr(boto3, "client", lambda name: clients[name])
    for stub in stubs.values():
        stub.activate()
    yield stubs
    for stub in stubs.values():
        stub.assert_no_pending_responses()


@pytest.fixture
def cloudformation() -> Iterator[Receiver]:
    """The place to which CloudFormation wants its answer."""
    with Receiver() as receiver:
        yield receiver


def request(cloudformation: Receiver, kind: str = "Create") -> dict[str, Any]:
    """An event of CloudFormation for the custom resource."""
    return {
        "RequestType": kind,
        "RequestId": "request-1",
        "StackId": STACK,
        "LogicalResourceId": "KeptAdminKey",
        "ResourceType": "Custom::KeptAdminKey",
        "ResponseURL": cloudformation.url("/answer"),
        "ResourceProperties": {},
    }


def answered(cloudformation: Receiver) -> dict[str, Any]:
    """The answer that the function sent to CloudFormation."""
    [delivery] = cloudformation.deliveries()
    answer: dict[str, Any] = json.loads(delivery.body)
    return answer


def has_secret(aws: dict[str, Stubber], secret: str) -> None:
    detail = {
        "LogicalResourceId": "AdminKeySecret",
        "PhysicalResourceId": SECRET,
        "ResourceType": "AWS::SecretsManager::Secret",
        "LastUpdatedTimestamp": "2026-11-21T00:00:00Z",
        "ResourceStatus": "CREATE_COMPLETE",
    }
    asked = {"StackName": STACK, "LogicalResourceId": "AdminKeySecret"}
    aws["cloudformation"].add_response("describe_stack_resource", {"StackResourceDetail": detail}, asked)
    aws["secretsmanager"].add_response("get_secret_value", {"SecretString": secret}, {"SecretId": SECRET})


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


def test_an_upgrade_keeps_the_key_of_the_release_before(
    module: ModuleType, keys: DynamoKeys, aws: dict[str, Stubber], cloudformation: Receiver
) -> None:
    has_secret(aws, "former")
    module.handler(request(cloudformation), None)
    assert authorize("Bearer sh_admin_former", keys=keys, now=0) == Caller("admin", "*", "admin")
    assert answered(cloudformation) == {
        "Status": "SUCCESS",
        "Reason": "",
        "PhysicalResourceId": "KeptAdminKey",
        "StackId": STACK,
        "RequestId": "request-1",
        "LogicalResourceId": "KeptAdminKey",
    }


def test_a_key_that_was_stored_since_is_left_as_it_is(
    module: ModuleType, keys: DynamoKeys, aws: dict[str, Stubber], cloudformation: Receiver
) -> None:
    module.handler({"secretSha256": "0" * 64}, None)
    has_secret(aws, "former")
    module.handler(request(cloudformation), None)
    stored = keys.get("admin")
    assert stored is not None
    assert stored.digest == "0" * 64
    assert answered(cloudformation)["Status"] == "SUCCESS"


def test_a_new_stack_has_no_key_to_keep(
    module: ModuleType, keys: DynamoKeys, aws: dict[str, Stubber], cloudformation: Receiver
) -> None:
    aws["cloudformation"].add_client_error(
        "describe_stack_resource",
        "ValidationError",
        f"Resource AdminKeySecret does not exist for stack {STACK}",
    )
    module.handler(request(cloudformation), None)
    assert keys.get("admin") is None
    assert answered(cloudformation)["Status"] == "SUCCESS"


@pytest.mark.parametrize(
    ("code", "said"),
    [("AccessDenied", "not authorized"), ("ValidationError", f"Stack {STACK} does not exist")],
)
def test_an_upgrade_that_cannot_read_the_secret_fails_and_says_why(
    module: ModuleType, aws: dict[str, Stubber], cloudformation: Receiver, code: str, said: str
) -> None:
    aws["cloudformation"].add_client_error("describe_stack_resource", code, said)
    module.handler(request(cloudformation), None)
    answer = answered(cloudformation)
    assert answer["Status"] == "FAILED"
    assert said in answer["Reason"]


@pytest.mark.parametrize("kind", ["Update", "Delete"])
def test_later_requests_of_cloudformation_change_nothing(
    module: ModuleType, keys: DynamoKeys, aws: dict[str, Stubber], cloudformation: Receiver, kind: str
) -> None:
    module.handler({**request(cloudformation, kind), "PhysicalResourceId": "KeptAdminKey"}, None)
    assert keys.get("admin") is None
    assert answered(cloudformation)["Status"] == "SUCCESS"
    assert set(aws) == {"cloudformation", "secretsmanager"}, "neither was asked"
