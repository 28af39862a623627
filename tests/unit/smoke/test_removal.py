"""The checks remove every resource that they made, and name each one that they cannot remove."""

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest
from botocore.exceptions import ClientError
from infra.smoke import account

STACK = "sweephand-smoke-1"
ARTIFACTS = f"{STACK}-1234-eu-west-1"


class Account:
    """An account that remembers what was deleted, and refuses what it is told to refuse."""

    region = "eu-west-1"

    def __init__(self, **refused: str) -> None:
        self.deleted: list[str] = []
        self.keys: list[dict[str, Any]] = []
        self.unprotected: set[str] = set()
        self._refused = refused

    def client(self, service: str) -> Any:
        return {
            "sts": SimpleNamespace(
                get_caller_identity=lambda: {"Account": "1234", "Arn": "arn:aws:iam::1234:user/me"}
            ),
            "cloudformation": SimpleNamespace(
                get_paginator=lambda _: SimpleNamespace(paginate=self._resources),
                delete_stack=self._deletes("StackName"),
                get_waiter=lambda _: SimpleNamespace(wait=lambda **_: None),
            ),
            "dynamodb": SimpleNamespace(
                update_table=self._unprotect, delete_table=self._deletes("TableName")
            ),
            "s3": SimpleNamespace(
                get_paginator=lambda _: SimpleNamespace(
                    paginate=lambda **_: [{"Contents": [{"Key": "code"}]}]
                ),
                delete_objects=lambda Bucket, Delete: self.deleted.append(  # noqa: N803 - boto3's names
                    f"{Bucket}/{Delete['Objects'][0]['Key']}"
                ),
                delete_bucket=self._deletes("Bucket"),
            ),
            "kms": SimpleNamespace(
                describe_key=lambda KeyId: {"KeyMetadata": {"KeyId": f"key of {KeyId}"}},  # noqa: N803 - likewise
                schedule_key_deletion=self._deletes("KeyId"),
                delete_alias=self._deletes("AliasName"),
                create_key=self._create_key,
                create_alias=lambda **_: self._refuse("alias"),
            ),
            "sqs": SimpleNamespace(
                list_queues=lambda QueueNamePrefix, **_: {"QueueUrls": [f"https://sqs/{QueueNamePrefix}a"]},  # noqa: N803 - likewise
                delete_queue=self._deletes("QueueUrl"),
            ),
        }[service]

    def remove(self) -> list[str]:
        return account.remove(STACK, cast("Any", self))

    def _resources(self, **_: str) -> list[dict[str, Any]]:
        self._refuse("list")
        names = {"JobsTable": "jobs", "TimersTable": "timers", "PayloadBucket": "payloads", "HttpApi": "api"}
        return [
            {"StackResourceSummaries": [{"LogicalResourceId": logical_id, "PhysicalResourceId": name}]}
            for logical_id, name in names.items()
        ]

    def _unprotect(self, TableName: str, *, DeletionProtectionEnabled: bool) -> None:  # noqa: N803 - boto3's names
        assert not DeletionProtectionEnabled
        self._refuse(TableName)
        self.unprotected.add(TableName)

    def _create_key(self, **asked: Any) -> dict[str, Any]:
        self.keys.append(asked)
        return {"KeyMetadata": {"Arn": "arn of the key"}}

    def _deletes(self, name: str) -> Callable[..., None]:
        def delete(**named: Any) -> None:
            self._refuse(named[name])
            assert name != "TableName" or named[name] in self.unprotected
            self.deleted.append(named[name])

        return delete

    def _refuse(self, what: str) -> None:
        if what in self._refused:
            raise ClientError({"Error": {"Code": "Refused", "Message": self._refused[what]}}, "Delete")


def test_the_stack_is_removed_with_the_data_that_its_deletion_keeps() -> None:
    made = Account()
    assert made.remove() == []
    assert made.deleted == [
        STACK,
        "jobs",
        "timers",
        "payloads/code",
        "payloads",
        f"{ARTIFACTS}/code",
        ARTIFACTS,
        f"key of alias/{STACK}",
        f"alias/{STACK}",
        f"https://sqs/{STACK}-a",
        "https://sqs/smoke-1-a",
    ]


def test_a_key_that_gets_no_alias_is_not_left_behind() -> None:
    made = Account(alias="no right to aliases")
    with pytest.raises(ClientError):
        account.make_key(STACK, cast("Any", made))
    assert made.deleted == ["arn of the key"]


def test_a_key_is_for_policies_of_the_account_and_for_its_logs() -> None:
    """Without the second statement, CloudWatch Logs refuses the key, and no stack deploys with it."""
    made = Account(alias="no right to aliases")
    with pytest.raises(ClientError):
        account.make_key(STACK, cast("Any", made))
    [asked] = made.keys
    root, logs = json.loads(asked["Policy"])["Statement"]
    assert (root["Principal"], root["Action"]) == ({"AWS": "arn:aws:iam::1234:root"}, "kms:*")
    assert logs["Principal"] == {"Service": "logs.eu-west-1.amazonaws.com"}
    assert {"kms:Encrypt", "kms:Decrypt", "kms:GenerateDataKey*", "kms:DescribeKey"} <= set(logs["Action"])
    assert logs["Condition"] == {
        "ArnLike": {"kms:EncryptionContext:aws:logs:arn": "arn:aws:logs:eu-west-1:1234:log-group:*"}
    }


def test_a_resource_that_cannot_be_removed_is_named_and_the_others_are_removed() -> None:
    made = Account(timers="in use")
    [left] = made.remove()
    assert left.startswith("table timers: ")
    assert "in use" in left
    assert "payloads" in made.deleted


def test_a_missing_resource_counts_as_removed() -> None:
    made = Account(list=f"Stack with id {STACK} does not exist", jobs="it does not exist")
    assert made.remove() == []
