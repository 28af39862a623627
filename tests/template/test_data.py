"""The stored data of the template: it survives the stack, is encrypted, and is removed when it is due."""

import pytest
from tests.template.stack import Stack, told

from sweephand.runs.intake import CRASHES_MAX


@pytest.mark.parametrize("name", ["JobsTable", "TimersTable", "PayloadBucket"])
def test_the_tables_and_payloads_survive_the_deletion_of_the_stack(stack: Stack, name: str) -> None:
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
def test_a_table_is_encrypted_by_the_key_of_dynamodb_which_costs_nothing(stack: Stack, name: str) -> None:
    assert "SSESpecification" not in stack.properties(name)


@pytest.mark.parametrize("name", ["JobsTable", "TimersTable"])
def test_a_table_expires_items_by_their_attribute_expires_at(stack: Stack, name: str) -> None:
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


def test_payloads_marked_dead_are_removed_after_two_weeks_and_no_other_payload_is(stack: Stack) -> None:
    rules = stack.properties("PayloadBucket")["LifecycleConfiguration"]["Rules"]
    [expiring] = [rule for rule in rules if "ExpirationInDays" in rule]
    assert expiring["TagFilters"] == [{"Key": "sweephand-state", "Value": "dead"}]
    assert expiring["ExpirationInDays"] == 14


def test_messages_are_kept_for_two_weeks_and_poison_becomes_a_dead_letter(stack: Stack) -> None:
    queues = stack.named("AWS::SQS::Queue")
    assert {queue["MessageRetentionPeriod"] for queue in queues.values()} == {14 * 24 * 3600}
    redrive = queues["DeliveryQueue"]["RedrivePolicy"]
    assert told(redrive["deadLetterTargetArn"]) == "DeadLetterQueue.Arn"
    # A throttled call counts as a receive too. Hours of throttling must not give a message up.
    assert redrive["maxReceiveCount"] >= 10 * CRASHES_MAX


def test_queues_are_encrypted(stack: Stack) -> None:
    assert all(queue["SqsManagedSseEnabled"] is True for queue in stack.named("AWS::SQS::Queue").values())


def test_the_delivery_function_of_another_stack_may_not_send_to_the_queues_of_this_one(stack: Stack) -> None:
    policy = stack.properties("StackQueuesPolicy")
    assert {told(queue) for queue in policy["Queues"]} == set(stack.named("AWS::SQS::Queue"))
    [statement] = policy["PolicyDocument"]["Statement"]
    assert (statement["Effect"], statement["Principal"]) == ("Deny", "*")
    assert statement["Action"] == "sqs:SendMessage"
    assert {told(arn) for arn in statement["Resource"]} == {
        "DeliveryQueue.Arn",
        "HighQueue.Arn",
        "LowQueue.Arn",
        "FlowQueue.Arn",
        "DeadLetterQueue.Arn",
    }
    refused = statement["Condition"]["ArnLike"]["aws:PrincipalArn"]
    assert told(refused) == "arn:${AWS::Partition}:iam::*:role/*DeliverRole*"
    assert "RoleName" not in stack.properties("DeliverRole"), "CloudFormation names it after its logical id"
    assert told(statement["Condition"]["ArnNotEquals"]["aws:PrincipalArn"]) == "DeliverRole.Arn"


def test_the_log_group_of_the_gateway_needs_no_entry_in_the_resource_policy_of_the_account(
    stack: Stack,
) -> None:
    settings = stack.properties("HttpApiStage")["AccessLogSettings"]
    assert told(settings["DestinationArn"]) == "AccessLogGroup.Arn"
    assert told(stack.properties("AccessLogGroup")["LogGroupName"]).startswith("/aws/vendedlogs/")


def test_every_log_group_has_the_retention_that_the_operator_sets(stack: Stack) -> None:
    groups = stack.named("AWS::Logs::LogGroup")
    assert {told(group["RetentionInDays"]) for group in groups.values()} == {"LogRetentionDays"}
