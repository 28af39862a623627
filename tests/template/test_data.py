"""The stored data of the template: it survives the stack, is encrypted, and is removed when it is due."""

import pytest
from tests.template.stack import Stack, told

from sweephand.runs.intake import CRASHES_MAX


@pytest.mark.parametrize("name", ["JobsTable", "TimersTable", "PayloadBucket"])
def test_what_users_wrote_survives_the_stack(stack: Stack, name: str) -> None:
    assert stack.resource(name)["DeletionPolicy"].startswith("Retain")
    assert stack.resource(name)["UpdateReplacePolicy"] == "Retain"


@pytest.mark.parametrize("name", ["JobsTable", "TimersTable", "PayloadBucket"])
def test_a_first_deployment_that_fails_leaves_no_empty_store_behind(stack: Stack, name: str) -> None:
    assert stack.resource(name)["DeletionPolicy"] == "RetainExceptOnCreate"


@pytest.mark.parametrize("name", ["JobsTable", "TimersTable"])
def test_a_table_is_on_demand_and_recoverable(stack: Stack, name: str) -> None:
    table = stack.properties(name)
    assert table["BillingMode"] == "PAY_PER_REQUEST"
    assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}


@pytest.mark.parametrize("name", ["JobsTable", "TimersTable"])
def test_a_table_is_encrypted_by_the_key_that_nobody_pays_for(stack: Stack, name: str) -> None:
    assert "SSESpecification" not in stack.properties(name)


@pytest.mark.parametrize("name", ["JobsTable", "TimersTable"])
def test_a_table_lets_items_expire_by_expires_at(stack: Stack, name: str) -> None:
    assert stack.properties(name)["TimeToLiveSpecification"] == {
        "AttributeName": "expires_at",
        "Enabled": True,
    }


@pytest.mark.parametrize("name", ["JobsTable", "TimersTable"])
def test_a_table_has_no_index_to_pay_for(stack: Stack, name: str) -> None:
    table = stack.properties(name)
    assert [key["AttributeName"] for key in table["KeySchema"]] == ["pk", "sk"]
    assert not {"GlobalSecondaryIndexes", "LocalSecondaryIndexes"} & set(table)


def test_payloads_are_private_and_encrypted(stack: Stack) -> None:
    bucket = stack.properties("PayloadBucket")
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]


def test_payloads_marked_dead_go_after_two_weeks_and_no_others(stack: Stack) -> None:
    rules = stack.properties("PayloadBucket")["LifecycleConfiguration"]["Rules"]
    [expiring] = [rule for rule in rules if "ExpirationInDays" in rule]
    assert expiring["TagFilters"] == [{"Key": "sweephand-state", "Value": "dead"}]
    assert expiring["ExpirationInDays"] == 14


def test_messages_wait_for_two_weeks_and_poison_goes_to_the_dead_letters(stack: Stack) -> None:
    queues = stack.named("AWS::SQS::Queue")
    assert {queue["MessageRetentionPeriod"] for queue in queues.values()} == {14 * 24 * 3600}
    redrive = queues["DeliveryQueue"]["RedrivePolicy"]
    assert told(redrive["deadLetterTargetArn"]) == "DeadLetterQueue.Arn"
    # Who could not be started for it received it as well, and that must give up nothing for hours.
    assert redrive["maxReceiveCount"] >= 10 * CRASHES_MAX


def test_queues_are_encrypted(stack: Stack) -> None:
    assert all(queue["SqsManagedSseEnabled"] is True for queue in stack.named("AWS::SQS::Queue").values())


def test_no_other_stack_can_write_into_the_queues_of_this_one(stack: Stack) -> None:
    policy = stack.properties("StackQueuesPolicy")
    assert {told(queue) for queue in policy["Queues"]} == set(stack.named("AWS::SQS::Queue"))
    [statement] = policy["PolicyDocument"]["Statement"]
    assert (statement["Effect"], statement["Principal"]) == ("Deny", "*")
    assert statement["Action"] == "sqs:SendMessage"
    assert {told(arn) for arn in statement["Resource"]} == {"DeliveryQueue.Arn", "DeadLetterQueue.Arn"}
    refused = statement["Condition"]["ArnLike"]["aws:PrincipalArn"]
    assert told(refused) == "arn:${AWS::Partition}:iam::*:role/*DeliverRole*"
    assert "RoleName" not in stack.properties("DeliverRole"), "CloudFormation names it after its logical id"
    assert told(statement["Condition"]["ArnNotEquals"]["aws:PrincipalArn"]) == "DeliverRole.Arn"


def test_the_gateway_s_log_is_one_that_needs_no_room_in_the_account_s_policy(stack: Stack) -> None:
    settings = stack.properties("HttpApiStage")["AccessLogSettings"]
    assert told(settings["DestinationArn"]) == "AccessLogGroup.Arn"
    assert told(stack.properties("AccessLogGroup")["LogGroupName"]).startswith("/aws/vendedlogs/")


def test_every_log_ends_some_day(stack: Stack) -> None:
    groups = stack.named("AWS::Logs::LogGroup")
    assert {told(group["RetentionInDays"]) for group in groups.values()} == {"LogRetentionDays"}
