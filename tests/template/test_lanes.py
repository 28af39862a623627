"""The lanes of the delivery function, and the queues of flow policies."""

import pytest
from tests.template.stack import Stack, told

from sweephand.base import limits, timing
from sweephand.base.instants import SECOND_MS


@pytest.mark.parametrize("lane", ["High", "Low"])
def test_a_lane_is_a_delivery_queue_with_an_event_source_and_a_concurrency_of_its_own(
    stack: Stack, lane: str
) -> None:
    assert stack.properties(f"{lane}Queue") == stack.properties("DeliveryQueue")
    expected = stack.properties("DeliveryEvents") | {
        "EventSourceArn": {"Fn::GetAtt": [f"{lane}Queue", "Arn"]}
    }
    assert stack.properties(f"{lane}Events") == expected
    assert stack.resource(f"{lane}Events")["Condition"] == "PollsLanes"


def test_without_lanes_no_further_queue_is_polled(stack: Stack) -> None:
    parameter = stack.parameter("PriorityLanes")
    assert (parameter["Default"], parameter["AllowedValues"]) == ("off", ["off", "on", "drain"])
    off = {"Fn::Equals": [{"Ref": "PriorityLanes"}, "off"]}
    assert stack.condition("PollsLanes") == {"Fn::Not": [off]}


def test_lanes_share_no_reservation_in_which_one_could_take_the_functions_of_another(stack: Stack) -> None:
    polls_more = {"Fn::Or": [{"Condition": "PollsLanes"}, {"Condition": "HasFlowPolicies"}]}
    assert stack.condition("PollsMore") == polls_more
    has_no_lanes = {"Fn::Not": [{"Condition": "PollsMore"}]}
    assert stack.condition("HasDeliverReserve") == {"Fn::And": [{"Condition": "HasReserve"}, has_no_lanes]}
    is_given = {"Fn::Not": [{"Fn::Equals": [{"Ref": "LanesReserve"}, 0]}]}
    needed = [{"Condition": "HasReserve"}, {"Condition": "PollsMore"}, is_given]
    assert stack.condition("HasLanesReserve") == {"Fn::And": needed}
    assert stack.parameter("LanesReserve")["Default"] == 0
    most = {
        name: stack.parameter(name)["MaxValue"]
        for name in ("DeliveryConcurrency", "FlowConcurrency", "LanesReserve")
    }
    assert most["LanesReserve"] == 3 * most["DeliveryConcurrency"] + most["FlowConcurrency"]


def test_a_flow_function_takes_one_message_and_ends_before_its_slots_do(stack: Stack) -> None:
    mapping = stack.properties("FlowEvents")
    assert mapping["BatchSize"] == 1
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert told(mapping["FunctionName"]) == "FlowFunctionAliaslive"
    assert told(mapping["ScalingConfig"]["MaximumConcurrency"]) == "FlowConcurrency"
    limit_s = stack.properties("FlowFunction")["Timeout"]
    assert limit_s > limits.TARGET_TIMEOUT_S_MAX
    assert limit_s * SECOND_MS + timing.CLOCK_SKEW_MAX_MS <= timing.HOLDER_MS
    assert stack.properties("FlowQueue")["VisibilityTimeout"] >= 2 * limit_s
    assert stack.properties("FlowFunction")["RecursiveLoop"] == "Allow"


def test_triggers_under_a_policy_have_a_lane_of_the_delivery_function_with_a_concurrency_of_its_own(
    stack: Stack,
) -> None:
    of_lane, of_low = stack.properties("PolicyEvents"), stack.properties("LowEvents")
    same = ("FunctionName", "Enabled", "BatchSize", "FunctionResponseTypes")
    assert [of_lane[each] for each in same] == [of_low[each] for each in same]
    assert told(of_lane["ScalingConfig"]["MaximumConcurrency"]) == "FlowConcurrency"
    assert stack.properties("PolicyQueue") == stack.properties("LowQueue")


def test_lambda_polls_the_queues_of_flow_policies_only_where_they_are_on(stack: Stack) -> None:
    assert stack.resource("FlowEvents")["Condition"] == "HasFlowPolicies"
    assert stack.resource("PolicyEvents")["Condition"] == "HasFlowPolicies"
    assert stack.condition("HasFlowPolicies") == {"Fn::Equals": [{"Ref": "FlowPolicies"}, "on"]}
    assert stack.parameter("FlowPolicies")["Default"] == "off"
