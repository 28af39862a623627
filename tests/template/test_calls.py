"""Each role has a right for every call that the code of its functions can make, and no other right.

The local stack enforces the roles in the end-to-end tests, but not the conditions on partitions. These tests
compare the statements with the calls that calls.py finds in the code.
"""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from typing import Final, NamedTuple

import pytest
from tests.template.calls import CLIENT_ACTIONS, TABLE_ACTIONS, TABLE_HELPERS, Call, Code
from tests.template.stack import FUNCTIONS, ROLES, Stack, told

ROLES_OF_FUNCTIONS: Final = sorted({ROLES.get(each, each) for each in FUNCTIONS})

#: One process reads the code for all of these tests.
pytestmark = pytest.mark.xdist_group("calls")

#: What the platform does with a role, and not the code.
PLATFORM: Final = {
    "logs:CreateLogStream": "Lambda writes the log of a function",
    "logs:PutLogEvents": "same",
    "sqs:ReceiveMessage": "Lambda's event source receives messages for a function",
    "sqs:DeleteMessage*": "same",
    "sqs:ChangeMessageVisibility": "same",
    "sqs:GetQueueAttributes": "same",
    "ec2:*": "Lambda makes the network interfaces of a function in a VPC",
    "kms:*": "DynamoDB, S3 and SQS use the key of the account for a caller",
}

#: The tables in the template, by the function that makes each in sweephand.runtime.tables.
TABLES: Final = {"jobs_table": "JobsTable.Arn", "timers_table": "TimersTable.Arn"}

#: The partitions of payload tables all begin with the name of the stack's bucket.
PAYLOADS: Final = "${PayloadBucket}#"


class Statement(NamedTuple):
    """An action of a statement, on one resource; `keys` are the patterns of partitions, None for all."""

    sid: str
    action: str
    resource: str
    keys: tuple[str, ...] | None


@cache
def code() -> Code:
    """The code as mypy reads it, once for all tests: it takes some ten seconds."""
    return Code()


def statements(stack: Stack, role: str, effect: str = "Allow") -> Iterator[Statement]:
    """What a role may do, or may not do, action by action."""
    for each in stack._all_statements(f"{role}Role"):
        if each["Effect"] != effect:
            continue
        keys = None
        for values in each.get("Condition", {}).values():
            if "dynamodb:LeadingKeys" in values:
                keys = tuple(told(key) for key in values["dynamodb:LeadingKeys"])
        actions, resources = (each[name] for name in ("Action", "Resource"))
        for action in actions if isinstance(actions, list) else [actions]:
            for resource in resources if isinstance(resources, list) else [resources]:
                yield Statement(each["Sid"], action, told(resource), keys)


def calls_of(role: str) -> tuple[set[Call], set[str]]:
    """The calls of DynamoDB that the functions of a role can make, and their actions of other services."""
    functions = {each for each in FUNCTIONS if ROLES.get(each, each) == role}
    reached = [code().from_handler(re.sub("(?<!^)([A-Z])", r"_\1", each).lower()) for each in functions]
    clients = {client for each in reached for client in each.clients}
    return {call for each in reached for call in each.calls}, {
        action for client in clients for action in CLIENT_ACTIONS[client]
    }


def is_on(statement: Statement, call: Call) -> bool:
    """Whether a statement is about the table of a call, and its action."""
    table = code().table(call)
    is_table = "table/" in statement.resource if table == "table" else statement.resource == TABLES[table]
    return is_table and statement.action == f"dynamodb:{call.action}"


def partitions(call: Call) -> set[str]:
    """The partitions that a call can reach."""
    return {PAYLOADS} if code().table(call) == "table" else code().partitions(call)


def holds(statement: Statement, partition: str) -> bool:
    """Whether a statement is about a partition, given as calls.py has it."""
    return statement.keys is None or any(
        fnmatchcase(f"{partition}x" if partition.endswith("#") else partition, key) for key in statement.keys
    )


@pytest.mark.parametrize("role", ROLES_OF_FUNCTIONS)
def test_every_call_of_dynamodb_has_a_statement_for_each_of_its_partitions(stack: Stack, role: str) -> None:
    allowed, denied = list(statements(stack, role)), list(statements(stack, role, "Deny"))
    calls, _ = calls_of(role)
    for call in calls:
        for partition in partitions(call):
            assert any(is_on(each, call) and holds(each, partition) for each in allowed), (call, partition)
            assert not any(is_on(each, call) and holds(each, partition) for each in denied), (call, partition)


@pytest.mark.parametrize("role", ROLES_OF_FUNCTIONS)
def test_every_call_of_another_service_has_a_statement(stack: Stack, role: str) -> None:
    _, actions = calls_of(role)
    allowed = {each.action for each in statements(stack, role)}
    assert {each for each in actions if not any(fnmatchcase(each, pattern) for pattern in allowed)} == set()


def is_needed(statement: Statement, role: str) -> bool:
    """Whether a call needs each of a statement's partitions, or its action of another service."""
    if any(fnmatchcase(statement.action, pattern) for pattern in PLATFORM):
        return True
    calls, actions = calls_of(role)
    if statement.action in actions:
        return True
    if not statement.action.startswith("dynamodb:"):
        return any(fnmatchcase(action, statement.action) for action in actions)
    reached = {partition for call in calls if is_on(statement, call) for partition in partitions(call)}
    narrowed = [statement._replace(keys=(key,)) for key in statement.keys or ()] or [statement]
    return all(any(holds(each, partition) for partition in reached) for each in narrowed)


@pytest.mark.parametrize("role", ROLES_OF_FUNCTIONS)
def test_every_statement_is_needed_by_a_call(stack: Stack, role: str) -> None:
    granted = list(statements(stack, role))
    assert [each for each in granted if not is_needed(each, role)] == []
    # The lists function only answers CloudFormation.
    assert len(granted) > 2 or role == "Lists", "more than the rights to write a log"


@pytest.mark.parametrize(
    ("role", "statement"),
    [
        ("Tick", Statement("", "dynamodb:DeleteItem", "JobsTable.Arn", None)),
        ("Sweep", Statement("", "dynamodb:GetItem", "TimersTable.Arn", None)),
        ("Api", Statement("", "dynamodb:Query", "TimersTable.Arn", ("leases", "audits"))),
        ("Deliver", Statement("", "dynamodb:UpdateItem", "JobsTable.Arn", ("jobs#*",))),
        ("Deliver", Statement("", "dynamodb:DeleteItem", "JobsTable.Arn", ("overlap#*", "jobs#*"))),
        ("Authorizer", Statement("", "dynamodb:PutItem", "JobsTable.Arn", ("keys",))),
        ("Api", Statement("", "lambda:InvokeFunction", "*", None)),
        ("Sweep", Statement("", "s3:GetObject", "*", None)),
        ("Tick", Statement("", "sts:AssumeRole", "*", None)),
    ],
)
def test_a_statement_that_no_call_needs_is_found(role: str, statement: Statement) -> None:
    assert not is_needed(statement, role)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_partition_of_every_call_is_known(function: str) -> None:
    found = code().from_handler(re.sub("(?<!^)([A-Z])", r"_\1", function).lower())
    assert found.calls or function in ("Lists", "Resources"), "every other function calls DynamoDB"
    for call in found.calls:
        assert call.method, "a call belongs to a method of an adapter"
        assert partitions(call), call


def test_every_method_of_a_table_and_every_method_of_a_client_is_known() -> None:
    """A method that is missing from the tables of calls.py would hide the calls that go through it."""
    public = {
        name for name in code().program.classes["sweephand.storage.table.Table"].names if name[0] != "_"
    }
    assert public == {*TABLE_ACTIONS, *TABLE_HELPERS}
    assert code().unknown_methods == set()


@pytest.mark.parametrize(
    ("function", "method", "action"),
    [
        ("authorizer", "api_keys.DynamoKeys.get", "GetItem"),
        ("deliver", "runs.DynamoRuns.release", "DeleteItem"),
        ("api", "jobs.DynamoJobs.get_many", "BatchGetItem"),
        ("tick", "leases.DynamoLeases.beat", "PutItem"),
        ("flow", "gates.DynamoGates.change", "UpdateItem"),
    ],
)
def test_calls_are_found_through_ports_late_values_and_functions(
    function: str, method: str, action: str
) -> None:
    assert Call(f"sweephand.storage.{method}", action) in code().from_handler(function).calls


def test_a_function_is_not_said_to_make_the_calls_of_another() -> None:
    methods = {call.method.rpartition(".storage.")[2] for call in code().from_handler("sweep").calls}
    assert not any(each.startswith(("api_keys", "named_secrets", "signing_secrets")) for each in methods)
    assert "publish" not in code().from_handler("api").clients
