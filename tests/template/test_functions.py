"""The functions of the template: their limits, and the events that start them."""

import pytest
from infra.calculator.needs import SWEEPERS_MAX
from tests.template.deployed import Deployed
from tests.template.stack import FUNCTIONS, Stack, told

from sweephand import __version__
from sweephand.base import limits, timing
from sweephand.base.instants import SECOND_MS
from sweephand.wheel.tick import MESSAGES_AT_ONCE
from sweephand_engine.costs import quotas


def at_once_max(stack: Stack) -> object:
    """How many delivery functions messages may start."""
    mapping = Deployed(stack).named("AWS::Lambda::EventSourceMapping")["DeliveryEvents"]
    at_once: object = mapping["ScalingConfig"]["MaximumConcurrency"]
    return at_once


def test_the_api_function_ends_at_the_time_limit_of_the_protocol(stack: Stack) -> None:
    assert stack.properties("ApiFunction")["Timeout"] * SECOND_MS == timing.API_LIMIT_MS


def test_the_gateway_waits_longer_than_the_api_function_may_run(stack: Stack) -> None:
    assert timing.API_LIMIT_MS < stack.properties("ApiIntegration")["TimeoutInMillis"] <= 30 * SECOND_MS


def test_tick_ends_before_the_next_tick_begins(stack: Stack) -> None:
    assert stack.properties("TickFunction")["Timeout"] * SECOND_MS < timing.BUCKET_MS


@pytest.mark.parametrize("function", ["Tick", "Sweep"])
def test_a_sweeper_may_run_for_more_than_twice_its_reserve(stack: Stack, function: str) -> None:
    assert stack.properties(f"{function}Function")["Timeout"] * SECOND_MS > 2 * timing.SWEEP_RESERVE_MS


def test_a_delivery_function_may_run_longer_than_the_slowest_target_and_shorter_than_a_claim(
    stack: Stack,
) -> None:
    limit_s = stack.properties("DeliverFunction")["Timeout"]
    assert limit_s > limits.TARGET_TIMEOUT_S_MAX
    assert limit_s * SECOND_MS + timing.CLOCK_SKEW_MAX_MS <= timing.ATTEMPT_CLAIM_MS


def test_a_message_becomes_visible_again_only_after_its_delivery_function_has_ended(stack: Stack) -> None:
    limit_s = stack.properties("DeliverFunction")["Timeout"]
    assert stack.properties("DeliveryQueue")["VisibilityTimeout"] >= 2 * limit_s


def test_lambda_does_not_end_the_functions_that_send_to_their_own_queues_and_may_end_all_others(
    stack: Stack,
) -> None:
    allowed = {each for each in FUNCTIONS if stack.properties(f"{each}Function").get("RecursiveLoop")}
    assert allowed == {"Deliver", "Flow"}
    assert stack.properties("DeliverFunction")["RecursiveLoop"] == "Allow"


def test_the_delivery_function_has_little_memory_and_the_sweeper_has_a_whole_core(stack: Stack) -> None:
    memory_mb = {name: stack.properties(f"{name}Function")["MemorySize"] for name in FUNCTIONS}
    assert memory_mb == {
        "Api": 512,
        "Authorizer": 512,
        "AdminKey": 512,
        "Tick": 512,
        "Lists": 512,
        "Resources": 512,
        "Sweep": 1769,
        "Deliver": 256,
        "Flow": 256,
    }


def test_the_delivery_function_reports_each_failed_message_and_receives_ten_at_most(stack: Stack) -> None:
    mapping = stack.properties("DeliveryEvents")
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert mapping["BatchSize"] == MESSAGES_AT_ONCE
    assert "MaximumBatchingWindowInSeconds" not in mapping
    assert told(mapping["FunctionName"]) == "DeliverFunctionAliaslive"


def test_the_switch_stops_sweeping_and_receiving_and_is_on_by_default(stack: Stack) -> None:
    assert stack.parameter("Enabled")["Default"] == "true"
    assert stack.parameter("Enabled")["AllowedValues"] == ["true", "false"]
    assert stack.variables("Tick")["ENABLED"] == "Enabled"
    assert told(stack.properties("DeliveryEvents")["Enabled"]) == "if IsEnabled: True else False"
    assert stack.properties("MinuteSchedule").get("State", "ENABLED") == "ENABLED", "tick's heartbeat goes on"


def test_there_is_no_valve_unless_the_operator_sets_one(stack: Stack) -> None:
    assert stack.parameter("MaxTriggersPerMinute")["Default"] == 0
    assert stack.variables("Deliver")["MAX_TRIGGERS_PER_MINUTE"] == "MaxTriggersPerMinute"


def test_no_function_reserves_concurrency_unless_the_operator_says_so(stack: Stack) -> None:
    assert told(at_once_max(stack)) == "DeliveryConcurrency"
    parameter = stack.parameter("DeliveryConcurrency")
    assert (parameter["MinValue"], parameter["MaxValue"]) == (2, 1000)
    assert stack.parameter("ReserveConcurrency")["Default"] == "false", "new accounts have none to reserve"
    reserved = {
        name: told(properties["ReservedConcurrentExecutions"])
        for name in FUNCTIONS
        if "ReservedConcurrentExecutions" in (properties := stack.properties(f"{name}Function"))
    }
    of_lanes = "if HasLanesReserve: LanesReserve else AWS::NoValue"
    assert reserved == {
        "Deliver": f"if HasDeliverReserve: DeliveryConcurrency else {of_lanes}",
        "Flow": "if HasFlowReserve: FlowConcurrency else AWS::NoValue",
        "Tick": "if HasReserve: 2 else AWS::NoValue",
        "Authorizer": "if HasReserve: 10 else AWS::NoValue",
    }


def test_the_defaults_fit_an_account_whose_concurrency_is_ten(stack: Stack) -> None:
    assert stack.parameter("DeliveryConcurrency")["Default"] <= 10 / 2
    assert stack.parameter("ApiRequestsPerSecond")["Default"] == 50


def test_requests_without_a_key_are_throttled_so_that_functions_remain_for_deliveries(stack: Stack) -> None:
    stage = stack.properties("HttpApiStage")
    assert told(stage["DefaultRouteSettings"]["ThrottlingRateLimit"]) == "ApiRequestsPerSecond"
    assert told(stage["DefaultRouteSettings"]["ThrottlingBurstLimit"]) == "ApiRequestsPerSecond"
    routes = stack.named("AWS::ApiGatewayV2::Route")
    # Callbacks need the token of a run (test_auth_modes.py).
    opened = {
        name: route["RouteKey"]
        for name, route in routes.items()
        if route["AuthorizationType"] == "NONE" and not route["RouteKey"].startswith("POST")
    }
    assert set(stage["RouteSettings"]) == set(opened.values())
    assert all(settings["ThrottlingRateLimit"] <= 5 for settings in stage["RouteSettings"].values())
    assert set(stack.resource("HttpApiStage")["DependsOn"]) == set(opened), (
        "a route must be there to be named"
    )


@pytest.mark.parametrize("function", ["Tick", "Sweep", "Deliver"])
def test_lambda_does_not_retry_a_call_that_the_next_minute_repeats(stack: Stack, function: str) -> None:
    config = stack.properties(f"{function}FunctionEventInvokeConfig")
    assert config["MaximumRetryAttempts"] == 0
    assert config["MaximumEventAgeInSeconds"] == 60
    assert config["Qualifier"] == "live"


def test_the_schedule_invokes_tick_every_minute(stack: Stack) -> None:
    schedule = stack.properties("MinuteSchedule")
    assert schedule["ScheduleExpression"] == "rate(1 minute)"
    assert schedule["FlexibleTimeWindow"] == {"Mode": "OFF"}
    assert told(schedule["Target"]["Arn"]) == "TickFunctionAliaslive"


def test_two_stacks_of_one_account_share_no_name(stack: Stack) -> None:
    assert "Name" not in stack.properties("MinuteSchedule")
    assert all("FunctionName" not in stack.properties(f"{name}Function") for name in FUNCTIONS)
    groups = stack.named("AWS::Logs::LogGroup").values()
    assert all("${AWS::StackName}" in told(group["LogGroupName"]) for group in groups)
    for function in FUNCTIONS:
        assert stack.variables(function)["STACK_NAME"] == "AWS::StackName"


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_runs_on_the_cheaper_processor_with_both_layers(stack: Stack, function: str) -> None:
    properties = stack.properties(f"{function}Function")
    assert properties["Runtime"] == "python3.13"
    assert properties["Architectures"] == ["arm64"]
    assert len(properties["Layers"]) == 2
    assert told(properties["LoggingConfig"]["LogGroup"]) == f"{function}LogGroup"


@pytest.mark.parametrize("function", ["Api", "Authorizer"])
def test_the_parameter_snapstart_applies_to_the_functions_that_callers_wait_for(
    stack: Stack, function: str
) -> None:
    assert told(stack.properties(f"{function}Function")["SnapStart"]["ApplyOn"]) == "SnapStart"
    assert stack.parameter("SnapStart")["Default"] == "None"
    assert stack.parameter("SnapStart")["AllowedValues"] == ["PublishedVersions", "None"]


def test_a_published_version_is_deleted_when_the_next_one_is_live(stack: Stack) -> None:
    versions = stack.whole("AWS::Lambda::Version")
    assert len(versions) == len(FUNCTIONS)
    assert all(version["DeletionPolicy"] == "Delete" for version in versions)
    assert all(version.get("UpdateReplacePolicy", "Delete") == "Delete" for version in versions)


SHARED = {"LOG_LEVEL", "POWERTOOLS_LOG_LEVEL", "POWERTOOLS_SERVICE_NAME", "STACK_NAME"}
TABLES = {"JOBS_TABLE", "TIMERS_TABLE"}
PAYLOADS = {"PAYLOAD_BUCKET", "PAYLOAD_TABLE", "FORMER_PAYLOAD_TABLE"}
QUEUES = {"DELIVERY_QUEUE_URL", "HIGH_QUEUE_URL", "LOW_QUEUE_URL", "POLICY_QUEUE_URL", "PRIORITY_LANES"}


@pytest.mark.parametrize(
    ("function", "own"),
    [
        (
            "Api",
            {
                *TABLES,
                *PAYLOADS,
                *QUEUES,
                "DEAD_LETTER_QUEUE_URL",
                "FLOW_QUEUE_URL",
                "FLOW_POLICIES",
                "FLOW_FUNCTIONS_MAX",
                "SHARD_COUNT",
                "STATS",
                "ALLOW_INSECURE_TARGETS",
                "AUTH_MODE",
                "JWT_NAMESPACE_CLAIM",
                "JWT_ROLE_CLAIM",
                "TARGETS",
            },
        ),
        ("Authorizer", {"JOBS_TABLE"}),
        ("AdminKey", {"JOBS_TABLE"}),
        ("Lists", set()),
        ("Resources", {"API_FUNCTION", "TEMPLATE_NAMESPACES"}),
        (
            "Tick",
            {
                *TABLES,
                *PAYLOADS,
                *QUEUES,
                "FLOW_QUEUE_URL",
                "FLOW_POLICIES",
                "SWEEP_FUNCTION",
                "DELIVER_FUNCTION",
                "SHARD_COUNT",
                "SWEEPERS_MAX",
                "DELIVERIES_MAX",
                "ENABLED",
                "MAX_TRIGGERS_PER_MINUTE",
                "BUNDLE_SECONDS",
                "METRICS",
            },
        ),
        ("Sweep", {*TABLES, *QUEUES, "FLOW_QUEUE_URL", "FLOW_POLICIES", "BUNDLE_SECONDS", "METRICS"}),
        *(
            (
                function,
                {
                    *TABLES,
                    *PAYLOADS,
                    *QUEUES,
                    "DEAD_LETTER_QUEUE_URL",
                    "FLOW_QUEUE_URL",
                    "FLOW_POLICIES",
                    "ALLOW_INSECURE_TARGETS",
                    "MAX_TRIGGERS_PER_MINUTE",
                    "METRICS",
                    "STATS",
                    "TARGETS",
                },
            )
            for function in ("Deliver", "Flow")
        ),
    ],
)
def test_a_function_has_the_environment_variables_that_it_reads_and_no_other(
    stack: Stack, function: str, own: set[str]
) -> None:
    assert set(stack.variables(function)) == SHARED | own


@pytest.mark.parametrize("function", ["Deliver", "Flow"])
def test_deliveries_run_in_the_subnets_that_the_operator_names(stack: Stack, function: str) -> None:
    for name in ("VpcSubnetIds", "VpcSecurityGroupIds", "PrivateTargetCidrs"):
        assert stack.parameter(name)["Default"] == ""
    [condition, network, otherwise] = stack.properties(f"{function}Function")["VpcConfig"]["Fn::If"]
    assert (condition, otherwise) == ("HasVpc", {"Ref": "AWS::NoValue"})
    assert network == {
        "SubnetIds": {"Ref": "VpcSubnetIds"},
        "SecurityGroupIds": {"Ref": "VpcSecurityGroupIds"},
    }
    assert "NetworkRights" in stack.resource(f"{function}Function")["DependsOn"]
    assert stack.properties("NetworkRights")["Roles"] == [{"Ref": "DeliverRole"}]


def network_rights(stack: Stack, **parameters: str) -> list[str]:
    """The Sids of the statements of NetworkRights."""
    policy = Deployed(stack, **parameters).named("AWS::IAM::Policy")["NetworkRights"]
    return [each["Sid"] for each in policy["PolicyDocument"]["Statement"]]


def test_the_role_keeps_its_rights_until_lambda_has_removed_the_network_interfaces(stack: Stack) -> None:
    """Lambda removes them with the role's rights, up to 20 minutes after the function has left."""
    groups = {"VpcSecurityGroupIds": "sg-1"}
    inside = Deployed(stack, VpcSubnetIds="subnet-1", **groups)
    assert "VpcConfig" in inside.named("AWS::Lambda::Function")["DeliverFunction"]
    assert network_rights(stack, VpcSubnetIds="subnet-1", **groups) == ["NetworkInterfaces"]
    assert "VpcConfig" not in Deployed(stack, **groups).named("AWS::Lambda::Function")["DeliverFunction"]
    assert network_rights(stack, **groups) == ["NetworkInterfaces"]
    assert network_rights(stack) == ["Nothing"]


@pytest.mark.parametrize("name", ["DeliveryEvents", "HighEvents", "LowEvents"])
def test_pollers_take_the_place_of_the_limit_of_concurrency(stack: Stack, name: str) -> None:
    usual = Deployed(stack, PriorityLanes="on").named("AWS::Lambda::EventSourceMapping")[name]
    assert "ProvisionedPollerConfig" not in usual
    assert told(usual["ScalingConfig"]["MaximumConcurrency"]) == "DeliveryConcurrency"
    ready = Deployed(stack, PriorityLanes="on", ProvisionedPollers="2")
    mapping = ready.named("AWS::Lambda::EventSourceMapping")[name]
    assert "ScalingConfig" not in mapping
    assert {key: told(value) for key, value in mapping["ProvisionedPollerConfig"].items()} == {
        "MinimumPollers": "ProvisionedPollers",
        "MaximumPollers": "ProvisionedPollersMax",
    }


def test_no_other_function_runs_in_a_vpc(stack: Stack) -> None:
    inside = {name for name in FUNCTIONS if "VpcConfig" in stack.properties(f"{name}Function")}
    assert inside == {"Deliver", "Flow"}


def test_tick_starts_the_version_of_the_sweeper_and_of_the_delivery_function_that_others_start(
    stack: Stack,
) -> None:
    """Lambda keeps the functions of each version apart."""
    assert stack.variables("Tick")["SWEEP_FUNCTION"] == "SweepFunctionAliaslive"
    assert stack.variables("Tick")["DELIVER_FUNCTION"] == "DeliverFunctionAliaslive"
    assert told(stack.properties("DeliveryEvents")["FunctionName"]) == "DeliverFunctionAliaslive"


def test_the_parameters_have_the_maxima_that_the_capacity_model_assumes(stack: Stack) -> None:
    assert stack.parameter("MaxSweepers")["MaxValue"] == SWEEPERS_MAX
    assert stack.parameter("ShardCount")["MaxValue"] >= SWEEPERS_MAX
    assert stack.parameter("DeliveryConcurrency")["MaxValue"] == quotas.MAXIMUM_CONCURRENCY.value


def test_tick_wakes_no_more_delivery_functions_than_messages_may_start(stack: Stack) -> None:
    assert stack.variables("Tick")["DELIVERIES_MAX"] == told(at_once_max(stack))


def test_insecure_targets_are_refused_unless_the_operator_allows_them(stack: Stack) -> None:
    assert stack.parameter("AllowInsecureTargets")["Default"] == "false"


def test_the_outputs_name_what_a_client_needs_and_the_role_that_owners_of_queues_must_allow(
    stack: Stack,
) -> None:
    assert stack.outputs() >= {"ApiUrl", "AdminKeyFunctionName", "JobsTableName", "TimersTableName"}
    assert stack.outputs() >= {"DeliveryQueueUrl", "DeadLetterQueueUrl", "DeliverRoleArn"}


def test_the_stack_has_the_version_of_the_code(stack: Stack) -> None:
    assert stack.template["Outputs"]["Version"]["Value"] == __version__
