"""The stored data of the template: it survives the stack, is encrypted, and is removed when it is due."""

import pytest
from tests.template.deployed import Deployed
from tests.template.stack import FUNCTIONS, ROLES, Stack, told

from sweephand.base.instants import DAY_MS
from sweephand.base.timing import PAYLOAD_KEPT_MS
from sweephand.runs.faults import CRASHES_MAX

KEY_ARN = "arn:aws:kms:eu-west-1:123456789012:key/a"


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
def test_a_table_is_encrypted_by_the_operators_key_or_by_dynamodb_s_which_costs_nothing(
    stack: Stack, name: str
) -> None:
    [condition, with_key, otherwise] = stack.properties(name)["SSESpecification"]["Fn::If"]
    assert (condition, otherwise) == ("HasKey", {"Ref": "AWS::NoValue"})
    assert with_key == {"SSEEnabled": True, "SSEType": "KMS", "KMSMasterKeyId": {"Ref": "KmsKeyArn"}}


def test_one_key_encrypts_everything_if_the_operator_names_one(stack: Stack) -> None:
    assert stack.parameter("KmsKeyArn")["Default"] == ""
    assert stack.condition("HasKey") == {"Fn::Not": [{"Fn::Equals": [{"Ref": "KmsKeyArn"}, ""]}]}
    encryption = stack.properties("PayloadBucket")["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    [of_bucket] = encryption
    assert of_bucket["ServerSideEncryptionByDefault"]["Fn::If"] == [
        "HasKey",
        {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": {"Ref": "KmsKeyArn"}},
        {"SSEAlgorithm": "AES256"},
    ]
    no_value = {"Ref": "AWS::NoValue"}
    for queue in stack.named("AWS::SQS::Queue").values():
        assert queue["KmsMasterKeyId"]["Fn::If"] == ["HasKey", {"Ref": "KmsKeyArn"}, no_value]


def test_every_function_may_use_the_keys_through_the_stores_and_queues_only(stack: Stack) -> None:
    policy = stack.properties("KeyRights")
    # These functions touch no store and no queue.
    roles = {f"{ROLES.get(each, each)}Role" for each in FUNCTIONS if each not in ("Lists", "Resources")}
    conditions = {"AuthorizerRole": "UsesKeys", "AdminKeyRole": "HasAdminKeys"}
    assert {told(each) for each in policy["Roles"]} == {
        f"if {conditions[each]}: {each} else AWS::NoValue" if each in conditions else each for each in roles
    }
    both = Deployed(stack, KmsKeyArn=KEY_ARN, OtherKmsKeyArns=KEY_ARN).named("AWS::IAM::Policy")["KeyRights"]
    statements = both["PolicyDocument"]["Statement"]
    assert [told(each["Resource"]) for each in statements] == ["KmsKeyArn", "OtherKmsKeyArns"]
    for each in statements:
        services = each["Condition"]["StringEquals"]["kms:ViaService"]
        assert {told(service).split(".")[0] for service in services} == {"dynamodb", "sqs", "s3"}


def test_a_key_can_be_used_before_it_encrypts_anything_and_after(stack: Stack) -> None:
    """Objects and messages keep their key, and CloudFormation changes tables before it changes rights."""
    policies = Deployed(stack, OtherKmsKeyArns=KEY_ARN).named("AWS::IAM::Policy")
    _, other = policies["KeyRights"]["PolicyDocument"]["Statement"]
    assert told(other["Resource"]) == "OtherKmsKeyArns"


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


def test_payloads_marked_dead_are_removed_when_nothing_waits_for_them_and_no_other_is(
    stack: Stack,
) -> None:
    rules = stack.properties("PayloadBucket")["LifecycleConfiguration"]["Rules"]
    [expiring] = [rule for rule in rules if "ExpirationInDays" in rule]
    assert expiring["TagFilters"] == [{"Key": "sweephand-state", "Value": "dead"}]
    assert expiring["ExpirationInDays"] * DAY_MS == PAYLOAD_KEPT_MS


def test_messages_are_kept_for_two_weeks_and_poison_becomes_a_dead_letter(stack: Stack) -> None:
    queues = stack.named("AWS::SQS::Queue")
    assert {queue["MessageRetentionPeriod"] for queue in queues.values()} == {14 * 24 * 3600}
    redrive = queues["DeliveryQueue"]["RedrivePolicy"]
    assert told(redrive["deadLetterTargetArn"]) == "DeadLetterQueue.Arn"
    # A throttled call counts as a receive too. Hours of throttling must not give a message up.
    assert redrive["maxReceiveCount"] >= 10 * CRASHES_MAX


def test_queues_are_encrypted(stack: Stack) -> None:
    for queue in stack.named("AWS::SQS::Queue").values():
        assert queue["SqsManagedSseEnabled"]["Fn::If"] == ["HasKey", {"Ref": "AWS::NoValue"}, True]


def test_the_delivery_function_of_another_stack_may_not_send_to_the_queues_of_this_one(stack: Stack) -> None:
    policy = stack.properties("StackQueuesPolicy")
    assert {told(queue) for queue in policy["Queues"]} == set(stack.named("AWS::SQS::Queue"))
    [statement, _] = policy["PolicyDocument"]["Statement"]
    assert (statement["Effect"], statement["Principal"]) == ("Deny", "*")
    assert statement["Action"] == "sqs:SendMessage"
    assert statement["Resource"] == "*", "the queue that has the policy (limits/access.py)"
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


def test_payloads_lie_in_the_bucket_unless_the_operator_names_a_table(stack: Stack) -> None:
    for name in ("PayloadTable", "FormerPayloadTable", "PayloadTableKeyArns"):
        assert stack.parameter(name)["Default"] == ""
    assert stack.resource("PayloadTablesAuditRights")["Condition"] == "UsesPayloadTables"
    tables = [{"Condition": "HasPayloadTable"}, {"Condition": "HasFormerPayloadTable"}]
    assert stack.condition("UsesPayloadTables") == {"Fn::Or": tables}
    made = stack.named("AWS::DynamoDB::Table")
    assert set(made) == {"JobsTable", "TimersTable"}, "the operator makes the payload table"


@pytest.mark.parametrize("policy", ["PayloadTablesRights", "PayloadTablesAuditRights"])
def test_a_stack_reaches_its_own_payloads_only_in_a_table_that_others_may_share(
    stack: Stack, policy: str
) -> None:
    [statement, *others] = stack.properties(policy)["PolicyDocument"]["Statement"]
    statement = statement.get("Fn::If", [None, statement])[1]
    own = {"dynamodb:LeadingKeys": [{"Fn::Sub": "${PayloadBucket}#*"}]}
    assert statement["Condition"] == {"ForAllValues:StringLike": own}
    for each in others:
        [condition, keys, _] = each["Fn::If"]
        assert condition == "HasPayloadTableKeys"
        [(variable, service)] = keys["Condition"]["StringEquals"].items()
        assert (variable, told(service)) == ("kms:ViaService", "dynamodb.${AWS::Region}.${AWS::URLSuffix}")


def test_what_reads_payloads_gets_a_new_table_before_what_writes_them(stack: Stack) -> None:
    # The API and the delivery function write payloads, and both functions of deliveries read them.
    assert "FlowFunctionAliaslive" in stack.resource("DeliverFunction")["DependsOn"]
    assert "DeliverFunctionAliaslive" in stack.resource("ApiFunction")["DependsOn"]


def test_what_reads_payloads_has_the_right_to_a_new_table_first(stack: Stack) -> None:
    assert "PayloadTablesRights" in stack.resource("FlowFunction")["DependsOn"]


@pytest.mark.parametrize("kind", ["AWS::SQS::QueuePolicy", "AWS::S3::BucketPolicy"])
def test_queues_and_the_bucket_refuse_requests_without_tls(stack: Stack, kind: str) -> None:
    [policy] = Deployed(stack).named(kind).values()
    [statement] = [each for each in policy["PolicyDocument"]["Statement"] if each["Sid"] == "TlsOnly"]
    assert (statement["Effect"], statement["Principal"]) == ("Deny", "*")
    assert statement["Action"] == {"AWS::SQS::QueuePolicy": "sqs:*", "AWS::S3::BucketPolicy": "s3:*"}[kind]
    assert statement["Condition"] == {"Bool": {"aws:SecureTransport": False}}


def test_the_local_aws_which_has_no_tls_is_the_only_exception(stack: Stack) -> None:
    assert stack.parameter("RequireTls")["Default"] == "true"
    local = Deployed(stack, RequireTls="false")
    assert local.named("AWS::S3::BucketPolicy") == {}
    [policy] = local.named("AWS::SQS::QueuePolicy").values()
    assert [each["Sid"] for each in policy["PolicyDocument"]["Statement"]] == ["NoOtherStack"]


def test_the_operators_key_encrypts_every_log_group(stack: Stack) -> None:
    groups = Deployed(stack, KmsKeyArn=KEY_ARN).named("AWS::Logs::LogGroup").values()
    assert all(each["KmsKeyId"] == {"Ref": "KmsKeyArn"} for each in groups)
    assert not any("KmsKeyId" in each for each in Deployed(stack).named("AWS::Logs::LogGroup").values())


@pytest.mark.parametrize("switch", ["true", "false"])
def test_the_operator_may_protect_the_tables_from_deletion(stack: Stack, switch: str) -> None:
    assert stack.parameter("DeletionProtection")["Default"] == "false"
    tables = Deployed(stack, DeletionProtection=switch).named("AWS::DynamoDB::Table").values()
    assert {each["DeletionProtectionEnabled"] for each in tables} == {switch == "true"}


def test_tables_are_warmed_only_beyond_what_dynamodb_gives_anyway(stack: Stack) -> None:
    for name, units, least in (
        ("WarmReadUnits", "ReadUnitsPerSecond", 12_000),
        ("WarmWriteUnits", "WriteUnitsPerSecond", 4_000),
    ):
        assert stack.parameter(name)["Default"] == stack.parameter(name)["MinValue"] == least
        for table in Deployed(stack, **{name: str(least + 1)}).named("AWS::DynamoDB::Table").values():
            assert table["WarmThroughput"] == {units: {"Ref": name}}
    plain = Deployed(stack).named("AWS::DynamoDB::Table").values()
    assert not any("WarmThroughput" in each for each in plain)
