"""The rights of the template: each function may do what it needs, and no more."""

import re

import pytest
from tests.template.deployed import Deployed
from tests.template.limits.parameters import EVERYTHING
from tests.template.stack import FUNCTIONS, ROLES, Stack, told

from sweephand.runtime.settings import Settings
from sweephand.storage import api_keys, changes, signing_secrets
from sweephand.targets.lambda_function import OWN_FUNCTIONS

LOGS = {"logs:CreateLogStream", "logs:PutLogEvents"}

#: What Lambda asks of the role of a function in a VPC.
NETWORK = {
    "ec2:AssignPrivateIpAddresses",
    "ec2:CreateNetworkInterface",
    "ec2:DeleteNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "ec2:UnassignPrivateIpAddresses",
}

#: What the services ask of a function that uses what a key of the account encrypts. Only a stack with such a
#: key has these rights.
KEY_RIGHTS = {
    "kms:CreateGrant",
    "kms:Decrypt",
    "kms:DescribeKey",
    "kms:Encrypt",
    "kms:GenerateDataKey*",
    "kms:ReEncrypt*",
}
KEY = {
    "if HasKey: KmsKeyArn else nothing": KEY_RIGHTS,
    "if HasOtherKeys: OtherKmsKeyArns else nothing": KEY_RIGHTS,
}


#: The keys that encrypt payload tables. Only a stack with such keys has these rights.
TABLE_KEYS = {"if HasPayloadTableKeys: PayloadTableKeyArns else nothing": KEY_RIGHTS}

_TABLE_ARN = "arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/${%s}"

#: The payload tables of the operator. Only a stack with such tables has rights to them.
PAYLOAD_TABLES = [
    f"if Has{name}: {_TABLE_ARN % name} else AWS::NoValue" for name in ("PayloadTable", "FormerPayloadTable")
]
PAYLOAD_RIGHTS = {"dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"}
PAYLOADS = {f"if UsesPayloadTables: {table} else nothing": PAYLOAD_RIGHTS for table in PAYLOAD_TABLES}
AUDITED = {table: {*PAYLOAD_RIGHTS, "dynamodb:Query", "dynamodb:DeleteItem"} for table in PAYLOAD_TABLES}
OF_PAYLOADS = {
    "Api": PAYLOADS | TABLE_KEYS,
    "Deliver": PAYLOADS | TABLE_KEYS,
    "Tick": AUDITED | TABLE_KEYS,
}


#: The queues that jobs may name where the operator names none.
DEFAULT_QUEUES = "arn:${AWS::Partition}:sqs:${AWS::Region}:${AWS::AccountId}:sweephand-*"


def granted(**of: str) -> dict[str, set[str]]:
    """The grants of a table in short: resources with `_` for `.`, verbs of one service by their names."""
    services = {
        "Jobs": "dynamodb",
        "Timers": "dynamodb",
        "Delivery": "sqs",
        "Flow": "sqs",
        "High": "sqs",
        "Low": "sqs",
        "Policy": "sqs",
        "Payload": "s3",
    }
    return {
        resource.replace("_", "."): {
            f"{next(service for start, service in services.items() if resource.startswith(start))}:{verb}"
            for verb in verbs.split()
        }
        for resource, verbs in of.items()
    }


#: While the stack is switched off, tick has DynamoDB remove nothing, and sends messages again.
EXPIRY = "DescribeTimeToLive UpdateTimeToLive"
RENEWAL = "SendMessage* ReceiveMessage DeleteMessage*"

BOTH_WAYS = "SendMessage* ReceiveMessage DeleteMessage* ChangeMessageVisibility GetQueueAttributes"

RIGHTS = {
    "Api": granted(
        JobsTable_Arn="GetItem BatchGetItem Query PutItem DeleteItem UpdateItem",
        TimersTable_Arn="GetItem BatchGetItem Query PutItem UpdateItem BatchWriteItem",
        DeliveryQueue_Arn="SendMessage*",
        HighQueue_Arn="SendMessage*",
        LowQueue_Arn="SendMessage*",
        PolicyQueue_Arn="SendMessage*",
        FlowQueue_Arn="SendMessage*",
        PayloadBucket_Arn="ListBucket",
    )
    | {
        "${PayloadBucket.Arn}/*": {
            "s3:GetObject",
            "s3:GetObjectTagging",
            "s3:PutObject",
            "s3:PutObjectTagging",
        }
    },
    "Authorizer": granted(JobsTable_Arn="GetItem"),
    "Lists": {},
    "Resources": {"ApiFunctionAliaslive": {"lambda:InvokeFunction"}},
    "AdminKey": granted(JobsTable_Arn="GetItem PutItem"),
    "Tick": granted(
        JobsTable_Arn=f"BatchGetItem GetItem Query PutItem UpdateItem {EXPIRY}",
        TimersTable_Arn=f"GetItem BatchGetItem Query PutItem UpdateItem BatchWriteItem {EXPIRY}",
        DeliveryQueue_Arn=RENEWAL,
        HighQueue_Arn=RENEWAL,
        LowQueue_Arn=RENEWAL,
        PolicyQueue_Arn=RENEWAL,
        FlowQueue_Arn=RENEWAL,
        PayloadBucket_Arn="ListBucket",
    )
    | {
        "SweepFunctionAliaslive": {"lambda:InvokeFunction"},
        "DeliverFunctionAliaslive": {"lambda:InvokeFunction"},
        "${PayloadBucket.Arn}/*": {
            "s3:GetObject",
            "s3:GetObjectTagging",
            "s3:PutObject",
            "s3:PutObjectTagging",
        },
    },
    "Sweep": granted(
        JobsTable_Arn="BatchGetItem PutItem Query",
        TimersTable_Arn="Query UpdateItem BatchWriteItem",
        DeliveryQueue_Arn="SendMessage*",
        HighQueue_Arn="SendMessage*",
        LowQueue_Arn="SendMessage*",
        PolicyQueue_Arn="SendMessage*",
        FlowQueue_Arn="SendMessage*",
    ),
    "Deliver": granted(
        JobsTable_Arn="GetItem BatchGetItem Query PutItem DeleteItem UpdateItem",
        TimersTable_Arn="BatchWriteItem GetItem Query PutItem UpdateItem DeleteItem",
        DeliveryQueue_Arn=BOTH_WAYS,
        HighQueue_Arn=BOTH_WAYS,
        LowQueue_Arn=BOTH_WAYS,
        PolicyQueue_Arn=BOTH_WAYS,
        FlowQueue_Arn="SendMessage* ReceiveMessage DeleteMessage* ChangeMessageVisibility GetQueueAttributes",
        PayloadBucket_Arn="ListBucket",
    )
    | {
        "DeadLetterQueue.Arn": {"sqs:SendMessage*"},
        "${PayloadBucket.Arn}/*": {
            "s3:GetObject",
            "s3:GetObjectTagging",
            "s3:PutObject",
            "s3:PutObjectTagging",
        },
        f"if HasTargetPolicies: nothing else if NamesTargetQueues: TargetQueueArns else {DEFAULT_QUEUES}": {
            "sqs:SendMessage*"
        },
    }
    | {
        f"if HasTargetPolicies: nothing else if NamesTarget{what}: {parameter} else nothing": actions
        for what, parameter, actions in (
            ("Functions", "TargetFunctionArns", {"lambda:InvokeFunction"}),
            ("Topics", "TargetTopicArns", {"sns:Publish"}),
            ("Buses", "TargetBusArns", {"events:PutEvents", "events:DescribeEventBus"}),
            ("StateMachines", "TargetStateMachineArns", {"states:StartExecution"}),
            ("Roles", "TargetRoleArns", {"sts:AssumeRole"}),
        )
    },
}

#: The parameters that list what jobs may reach besides queues, and the condition of each.
LISTS = {
    "TargetFunctionArns": "NamesTargetFunctions",
    "TargetTopicArns": "NamesTargetTopics",
    "TargetBusArns": "NamesTargetBuses",
    "TargetStateMachineArns": "NamesTargetStateMachines",
    "TargetRoleArns": "NamesTargetRoles",
}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_has_the_rights_that_it_uses_and_no_other(stack: Stack, function: str) -> None:
    of = ROLES.get(function, function)
    assert told(stack.properties(f"{function}Function")["Role"]) == f"{of}Role.Arn"
    sharing = {of, *(each for each, other in ROLES.items() if other == of)}
    network = {"if HasNetworkRights: * else nothing": NETWORK} if of == "Deliver" else {}
    logs = {f"{each}LogGroup.Arn": LOGS for each in sharing}
    key = {} if of in ("Lists", "Resources") else KEY
    expected = RIGHTS[of] | network | key | OF_PAYLOADS.get(of, {}) | logs
    assert stack.grants(f"{of}Role") == expected


@pytest.mark.parametrize(
    "role",
    [*(f"{function}Role" for function in FUNCTIONS if function not in ROLES), "MinuteScheduleRole"],
)
def test_no_right_names_every_resource_or_every_action_of_a_service(stack: Stack, role: str) -> None:
    # Network interfaces have no resource to name. Only a stack in a VPC has these rights.
    grants = {name: actions for name, actions in stack.grants(role).items() if actions != NETWORK}
    assert "*" not in grants
    # Batches are one right with single messages on AWS and two on the local stack, which enforces the roles.
    patterns = {action for actions in grants.values() for action in actions if "*" in action}
    assert patterns <= {"sqs:SendMessage*", "sqs:DeleteMessage*", "kms:GenerateDataKey*", "kms:ReEncrypt*"}
    assert "dynamodb:Scan" not in {action for actions in grants.values() for action in actions}
    if role != "DeliverRole":
        assert "ManagedPolicyArns" not in stack.properties(role), "they are for every resource of the account"


def test_deliveries_reach_only_the_queues_that_the_operator_names(stack: Stack) -> None:
    parameter = stack.parameter("TargetQueueArns")
    assert (parameter["Type"], parameter["Default"]) == ("CommaDelimitedList", "")
    is_empty = {"Fn::Equals": [{"Fn::Join": ["", {"Ref": "TargetQueueArns"}]}, ""]}
    assert stack.condition("NamesTargetQueues") == {"Fn::Not": [is_empty]}


def test_the_functions_read_the_same_list_of_queues_that_their_role_allows(stack: Stack) -> None:
    packed = stack.properties("Lists")["Targets"]["TARGET_QUEUE_ARNS"]
    assert told(packed) == f"if NamesTargetQueues: TargetQueueArns joined by ',' else {DEFAULT_QUEUES}"


def granted_targets(stack: Stack, **parameters: str) -> list[tuple[str, ...]]:
    """The Sids of the statements of the two policies of targets."""
    policies = Deployed(stack, **parameters).named("AWS::IAM::ManagedPolicy")
    return [
        tuple(each["Sid"] for each in policies[name]["PolicyDocument"]["Statement"])
        for name in ("TargetQueuesPolicy", "TargetsPolicy")
    ]


def test_policies_of_the_operator_take_the_place_of_those_that_the_lists_make(stack: Stack) -> None:
    lists = {"TargetQueueArns": "arn:aws:sqs:eu-west-1:1:q", "TargetTopicArns": "arn:aws:sns:eu-west-1:1:t"}
    assert granted_targets(stack, **lists) == [("Targets",), ("Nothing", "Topics")]
    own = {"TargetPolicyArns": "arn:aws:iam::123456789012:policy/targets"}
    assert granted_targets(stack, **lists, **own) == [("Nothing",), ("Nothing",)]
    role = Deployed(stack, **own).named("AWS::IAM::Role")["DeliverRole"]
    assert role["ManagedPolicyArns"] == {"Fn::Split": [",", {"Ref": "TargetPolicyArns"}]}
    assert "ManagedPolicyArns" not in Deployed(stack).named("AWS::IAM::Role")["DeliverRole"]


@pytest.mark.parametrize(
    "name", ["NetworkRights", "PayloadTablesRights", "TargetQueuesPolicy", "TargetsPolicy"]
)
def test_a_policy_that_parameters_fill_is_always_there_and_denies_nothing(stack: Stack, name: str) -> None:
    """A Deny that an update removes is still attached while Lambda checks the rights of the role."""
    for each in (Deployed(stack), Deployed(stack, **EVERYTHING)):
        [policy] = [properties for other, (_, properties) in each.resources().items() if other == name]
        assert {statement["Effect"] for statement in policy["PolicyDocument"]["Statement"]} == {"Allow"}
    assert name in stack.resource("FlowFunction")["DependsOn"]
    assert "Description" not in stack.properties(name), (
        "IAM cannot change it, so the policy would be replaced"
    )


def test_every_role_has_the_path_and_the_boundary_that_the_operator_names(
    stack: Stack, gradual: Stack
) -> None:
    boundary = {"PermissionsBoundaryArn": "arn:aws:iam::123456789012:policy/boundary"}
    for transformed, parameters in ((stack, {}), (gradual, {"GradualDeployments": "true"})):
        roles = Deployed(transformed, **parameters, **boundary).named("AWS::IAM::Role")
        for role in roles.values():
            assert role["PermissionsBoundary"] == {"Ref": "PermissionsBoundaryArn"}
            assert role["Path"] == {"Ref": "RolePath"}
        bare = Deployed(transformed, **parameters).named("AWS::IAM::Role")
        assert not any("PermissionsBoundary" in role for role in bare.values())
        assert bare.keys() == roles.keys()


@pytest.mark.parametrize(("name", "condition"), LISTS.items())
def test_deliveries_reach_nothing_else_unless_the_operator_names_it(
    stack: Stack, name: str, condition: str
) -> None:
    parameter = stack.parameter(name)
    assert (parameter["Type"], parameter["Default"]) == ("CommaDelimitedList", "")
    is_empty = {"Fn::Equals": [{"Fn::Join": ["", {"Ref": name}]}, ""]}
    assert stack.condition(condition) == {"Fn::Not": [is_empty]}
    variable = re.sub("(?<!^)([A-Z])", r"_\1", name).upper()
    assert told(stack.properties("Lists")["Targets"][variable]) == f"{name} joined by ','"


def test_no_job_reaches_a_function_of_the_stack_itself(stack: Stack) -> None:
    conditions = {"Authorizer": "UsesKeys", "AdminKey": "HasAdminKeys", "Resources": "HasTemplates"}
    arns = [
        (function, arn.format(f"{function}Function"))
        for function in FUNCTIONS
        for arn in ("{}.Arn", "${{{}.Arn}}:*")
    ]
    own = {
        f"if {conditions[function]}: {arn} else AWS::NoValue" if function in conditions else arn
        for function, arn in arns
    }
    denied = {name: actions for name, actions in stack.denials("DeliverRole").items() if name in own}
    assert denied == {each: {"lambda:InvokeFunction"} for each in own}


@pytest.mark.parametrize("function", ["Api", "Deliver", "Flow"])
def test_the_functions_that_judge_targets_know_the_stack_s_own_queues_and_functions(
    stack: Stack, function: str
) -> None:
    variables = {name: value for name, value in stack.variables(function).items() if name.endswith("_URL")}
    assert set(Settings.read(variables).queues.own) == set(stack.named("AWS::SQS::Queue"))
    assert stack.variables(function)["STACK_NAME"] == "AWS::StackName"
    functions = stack.named("AWS::Lambda::Function")
    assert set(functions) == {f"{each}Function" for each in OWN_FUNCTIONS}
    assert not any("FunctionName" in each for each in functions.values()), "CloudFormation makes the names"


def test_the_stack_has_no_other_resource_that_a_job_can_name(stack: Stack) -> None:
    """A topic, a bus or a state machine of the stack would have to be refused, as its functions are."""
    for kind in ("AWS::SNS::Topic", "AWS::Events::EventBus", "AWS::StepFunctions::StateMachine"):
        assert stack.named(kind) == {}


def test_what_reads_the_answers_of_consumers_neither_reads_nor_writes_a_key(stack: Stack) -> None:
    kept = {"dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query", "dynamodb:PutItem"}
    assert stack.denials("DeliverRole")["JobsTable.Arn"] == kept
    [policy] = stack.properties("DeliverRole")["Policies"]
    [statement] = [each for each in policy["PolicyDocument"]["Statement"] if each["Effect"] == "Deny"]
    assert statement["Condition"] == {
        "ForAnyValue:StringLike": {
            "dynamodb:LeadingKeys": [
                api_keys._PARTITION,
                api_keys._made_partition("*"),
                f"{changes._WHOLE_STACK}*",
            ]
        }
    }
    # Every other action of the role on this table is for partitions that have another name.
    for action, partitions in stack.partitions("DeliverRole", "JobsTable.Arn").items():
        assert action in kept or (partitions is not None and api_keys._PARTITION not in partitions)


@pytest.mark.parametrize("role", ["TickRole", "SweepRole"])
def test_what_fires_triggers_reads_no_secret_and_no_key(stack: Stack, role: str) -> None:
    assert stack.denials(role) == {"JobsTable.Arn": {"dynamodb:BatchGetItem"}}
    policies = stack.properties(role)["Policies"]
    statements = [each for policy in policies for each in policy["PolicyDocument"]["Statement"]]
    (condition,) = (each["Condition"] for each in statements if each["Effect"] == "Deny")
    kept = {signing_secrets._named_partition("*"), signing_secrets._partition("*"), api_keys._PARTITION}
    # `Any`: a batch is denied if one of its keys is among these.
    assert list(condition) == ["ForAnyValue:StringLike"]
    assert set(condition["ForAnyValue:StringLike"]["dynamodb:LeadingKeys"]) == kept


def test_only_deliveries_and_what_fires_triggers_are_denied_anything(stack: Stack) -> None:
    roles = {ROLES.get(function, function) for function in FUNCTIONS}
    assert {role for role in roles if stack.denials(f"{role}Role")} == {"Deliver", "Tick", "Sweep"}


def test_no_route_of_the_api_leads_to_the_function_that_makes_admin_keys(stack: Stack) -> None:
    integrations = stack.named("AWS::ApiGatewayV2::Integration").values()
    assert {told(each["IntegrationUri"]) for each in integrations} == {"ApiFunctionAliaslive"}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_s_role_is_for_lambda_alone(stack: Stack, function: str) -> None:
    [trusted] = stack.properties(f"{ROLES.get(function, function)}Role")["AssumeRolePolicyDocument"][
        "Statement"
    ]
    assert trusted["Principal"] == {"Service": "lambda.amazonaws.com"}


def test_the_schedule_may_invoke_tick_and_nothing_else(stack: Stack) -> None:
    assert stack.grants("MinuteScheduleRole") == {"TickFunctionAliaslive": {"lambda:InvokeFunction"}}
    assert told(stack.properties("MinuteSchedule")["Target"]["RoleArn"]) == "MinuteScheduleRole.Arn"


def test_only_the_gateway_of_this_stack_may_invoke_the_api_and_its_authorizer(stack: Stack) -> None:
    callers = {
        told(permission["FunctionName"]): (permission["Principal"], told(permission["SourceArn"]))
        for permission in stack.named("AWS::Lambda::Permission").values()
    }
    arn = "arn:${AWS::Partition}:execute-api:${AWS::Region}:${AWS::AccountId}:${HttpApi}"
    assert callers == {
        "ApiFunctionAliaslive": ("apigateway.amazonaws.com", f"{arn}/*"),
        "AuthorizerFunctionAliaslive": ("apigateway.amazonaws.com", f"{arn}/authorizers/${{ApiAuthorizer}}"),
    }


def test_a_request_without_a_key_invokes_no_function(stack: Stack) -> None:
    authorizer = stack.properties("ApiAuthorizer")
    assert authorizer["IdentitySource"] == ["$request.header.Authorization"]
    assert authorizer["EnableSimpleResponses"] is True
    assert authorizer["AuthorizerPayloadFormatVersion"] == "2.0"
    assert authorizer["AuthorizerResultTtlInSeconds"] == 60
