"""What the template promises about the functions: their limits, and who wakes them with what."""

import pytest
from tests.template.stack import FUNCTIONS, Stack, told

from sweephand import limits, timing
from sweephand.instants import SECOND_MS


def test_the_api_ends_when_the_protocol_says(stack: Stack) -> None:
    assert stack.properties("ApiFunction")["Timeout"] * SECOND_MS == timing.API_LIMIT_MS


def test_the_gateway_waits_for_the_answer_of_an_api_that_gave_up(stack: Stack) -> None:
    assert timing.API_LIMIT_MS < stack.properties("ApiIntegration")["TimeoutInMillis"] <= 30 * SECOND_MS


def test_tick_is_over_before_the_next_one_begins(stack: Stack) -> None:
    assert stack.properties("TickFunction")["Timeout"] * SECOND_MS < timing.BUCKET_MS


@pytest.mark.parametrize("function", ["Tick", "Sweep"])
def test_a_sweeper_has_time_beyond_its_reserve(stack: Stack, function: str) -> None:
    assert stack.properties(f"{function}Function")["Timeout"] * SECOND_MS > 2 * timing.SWEEP_RESERVE_MS


def test_a_delivery_function_outlives_the_slowest_target(stack: Stack) -> None:
    limit_s = stack.properties("DeliverFunction")["Timeout"]
    assert limit_s > limits.TARGET_TIMEOUT_S_MAX
    assert limit_s * SECOND_MS + timing.CLOCK_SKEW_MAX_MS <= timing.ATTEMPT_CLAIM_MS


def test_a_message_is_shown_again_only_after_its_delivery_function_is_gone(stack: Stack) -> None:
    limit_s = stack.properties("DeliverFunction")["Timeout"]
    assert stack.properties("DeliveryQueue")["VisibilityTimeout"] >= 2 * limit_s


def test_putting_a_message_back_is_no_loop_that_lambda_may_end(stack: Stack) -> None:
    assert stack.properties("DeliverFunction")["RecursiveLoop"] == "Allow"


def test_a_batch_reports_its_failures_one_by_one(stack: Stack) -> None:
    mapping = stack.properties("DeliveryEvents")
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert mapping["BatchSize"] == 10
    assert "MaximumBatchingWindowInSeconds" not in mapping
    assert told(mapping["FunctionName"]) == "DeliverFunctionAliaslive"


def test_delivery_takes_no_concurrency_from_other_functions_of_the_account(stack: Stack) -> None:
    at_once = stack.properties("DeliveryEvents")["ScalingConfig"]["MaximumConcurrency"]
    assert told(at_once) == "DeliveryConcurrency"
    parameter = stack.parameter("DeliveryConcurrency")
    assert (parameter["MinValue"], parameter["MaxValue"]) == (2, 1000)
    assert all(
        "ReservedConcurrentExecutions" not in stack.properties(f"{name}Function") for name in FUNCTIONS
    )


@pytest.mark.parametrize("function", ["Tick", "Sweep"])
def test_what_the_next_minute_makes_up_is_not_retried(stack: Stack, function: str) -> None:
    config = stack.properties(f"{function}FunctionEventInvokeConfig")
    assert config["MaximumRetryAttempts"] == 0
    assert config["MaximumEventAgeInSeconds"] == 60
    assert config["Qualifier"] == "live"


def test_tick_is_woken_every_minute(stack: Stack) -> None:
    schedule = stack.properties("MinuteSchedule")
    assert schedule["ScheduleExpression"] == "rate(1 minute)"
    assert schedule["FlexibleTimeWindow"] == {"Mode": "OFF"}
    assert told(schedule["Target"]["Arn"]) == "TickFunctionAliaslive"


def test_two_stacks_of_one_account_share_no_name(stack: Stack) -> None:
    assert "Name" not in stack.properties("MinuteSchedule")
    assert all("FunctionName" not in stack.properties(f"{name}Function") for name in FUNCTIONS)
    groups = stack.named("AWS::Logs::LogGroup").values()
    assert all("${AWS::StackName}" in told(group["LogGroupName"]) for group in groups)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_runs_on_the_cheaper_processor_with_both_layers(stack: Stack, function: str) -> None:
    properties = stack.properties(f"{function}Function")
    assert properties["Runtime"] == "python3.13"
    assert properties["Architectures"] == ["arm64"]
    assert len(properties["Layers"]) == 2
    assert told(properties["LoggingConfig"]["LogGroup"]) == f"{function}LogGroup"


@pytest.mark.parametrize("function", ["Api", "Authorizer"])
def test_nobody_waits_for_a_function_to_start(stack: Stack, function: str) -> None:
    assert stack.properties(f"{function}Function")["SnapStart"] == {"ApplyOn": "PublishedVersions"}


SHARED = {
    "STAGE",
    "LOG_LEVEL",
    "POWERTOOLS_LOG_LEVEL",
    "POWERTOOLS_METRICS_NAMESPACE",
    "POWERTOOLS_SERVICE_NAME",
}
TABLES = {"JOBS_TABLE", "TIMERS_TABLE"}


@pytest.mark.parametrize(
    ("function", "own"),
    [
        (
            "Api",
            {
                *TABLES,
                "PAYLOAD_BUCKET",
                "DELIVERY_QUEUE_URL",
                "DEAD_LETTER_QUEUE_URL",
                "SHARD_COUNT",
                "ALLOW_INSECURE_TARGETS",
            },
        ),
        ("Authorizer", {"JOBS_TABLE", "ADMIN_KEY_SECRET"}),
        ("Tick", {*TABLES, "DELIVERY_QUEUE_URL", "SWEEP_FUNCTION", "SHARD_COUNT", "SWEEPERS_MAX"}),
        ("Sweep", {*TABLES, "DELIVERY_QUEUE_URL"}),
        (
            "Deliver",
            {
                *TABLES,
                "PAYLOAD_BUCKET",
                "DELIVERY_QUEUE_URL",
                "DEAD_LETTER_QUEUE_URL",
                "ALLOW_INSECURE_TARGETS",
            },
        ),
    ],
)
def test_a_function_is_told_what_it_uses_and_no_more(stack: Stack, function: str, own: set[str]) -> None:
    assert set(stack.variables(function)) == SHARED | own


def test_tick_starts_the_published_sweeper(stack: Stack) -> None:
    assert stack.variables("Tick")["SWEEP_FUNCTION"] == "SweepFunctionAliaslive"


def test_an_account_delivers_to_secure_targets_only_unless_told_otherwise(stack: Stack) -> None:
    assert stack.parameter("AllowInsecureTargets")["Default"] == "false"


def test_the_stack_tells_what_a_client_needs(stack: Stack) -> None:
    assert stack.outputs() >= {"ApiUrl", "AdminKeySecretName", "JobsTableName", "TimersTableName"}
    assert stack.outputs() >= {"DeliveryQueueUrl", "DeadLetterQueueUrl"}
