"""The alarms of the template: which failures they report, and how soon."""

import re
from typing import Any, get_args

import pytest
from infra.local.places import ROOT
from tests.template.stack import Stack, told

from sweephand.runtime import metrics

ALARMS = "AWS::CloudWatch::Alarm"


def read_by(alarm: dict[str, Any]) -> dict[str, tuple[str, list[str]]]:
    """The metrics that an expression of an alarm reads, by id: the name, and what it is of."""
    stats = {each["Id"]: each["MetricStat"] for each in alarm["Metrics"] if "MetricStat" in each}
    assert all((stat["Period"], stat["Stat"]) == (60, "Sum") for stat in stats.values())
    return {
        name: (
            f"{stat['Metric']['Namespace']}.{stat['Metric']['MetricName']}",
            [told(dimension["Value"]) for dimension in stat["Metric"]["Dimensions"]],
        )
        for name, stat in stats.items()
    }


@pytest.mark.parametrize("function", ["Sweep", "Deliver", "Flow"])
def test_an_alarm_reports_a_function_that_fails_or_is_throttled(stack: Stack, function: str) -> None:
    alarm = stack.properties(f"{function}FailuresAlarm")
    assert read_by(alarm) == {
        "errors": ("AWS/Lambda.Errors", [f"{function}Function"]),
        "throttles": ("AWS/Lambda.Throttles", [f"{function}Function"]),
    }
    [watched] = [each for each in alarm["Metrics"] if each.get("ReturnData", True)]
    # A function that is always throttled reports no errors; without FILL the sum would have no value.
    assert watched["Expression"] == "FILL(errors, 0) + FILL(throttles, 0)"
    assert (alarm["Threshold"], alarm["ComparisonOperator"]) == (0, "GreaterThanThreshold")


def test_an_alarm_reports_throttling_long_before_a_trigger_is_given_up(stack: Stack) -> None:
    alarm = stack.properties("DeliverFailuresAlarm")
    # Each receive that comes to nothing lasts for the queue's visibility time-out.
    queue = stack.properties("DeliveryQueue")
    given_up_s = queue["RedrivePolicy"]["maxReceiveCount"] * queue["VisibilityTimeout"]
    assert alarm["EvaluationPeriods"] * 60 <= given_up_s / 10


def test_an_alarm_reports_answers_5xx_of_the_gateway(stack: Stack) -> None:
    alarm = stack.properties("ApiFailuresAlarm")
    assert (alarm["Namespace"], alarm["MetricName"], alarm["Statistic"]) == ("AWS/ApiGateway", "5xx", "Sum")
    assert [told(each["Value"]) for each in alarm["Dimensions"]] == ["HttpApi"]


@pytest.mark.parametrize(
    "name", ["SweepFailuresAlarm", "DeliverFailuresAlarm", "FlowFailuresAlarm", "ApiFailuresAlarm"]
)
def test_an_alarm_needs_failures_in_three_minutes_of_five(stack: Stack, name: str) -> None:
    alarm = stack.properties(name)
    assert (alarm["EvaluationPeriods"], alarm["DatapointsToAlarm"]) == (5, 3)
    assert alarm["TreatMissingData"] == "notBreaching"


def test_alarms_exist_only_where_the_operator_names_a_topic(stack: Stack) -> None:
    assert stack.parameter("AlarmTopicArn")["Default"] == ""
    assert stack.condition("HasAlarms") == {"Fn::Not": [{"Fn::Equals": [{"Ref": "AlarmTopicArn"}, ""]}]}
    conditions = {name: stack.resource(name)["Condition"] for name in stack.named(ALARMS)}
    assert conditions.pop("ValveAlarm") == "HasValveAlarm"
    assert conditions.pop("LanesStuckAlarm") == "HasLaneAlarms"
    assert {conditions.pop(f"Flow{what}Alarm") for what in ("Failures", "Stuck")} == {"HasFlowAlarms"}
    assert set(conditions.values()) == {"HasAlarms"}
    for name, needed in (("HasLaneAlarms", "PollsLanes"), ("HasFlowAlarms", "HasFlowPolicies")):
        both = [{"Condition": "HasAlarms"}, {"Condition": needed}]
        assert stack.condition(name) == {"Fn::And": both}
    has_valve = {"Fn::Not": [{"Fn::Equals": [{"Ref": "MaxTriggersPerMinute"}, 0]}]}
    assert stack.condition("HasValveAlarm") == {"Fn::And": [{"Condition": "HasAlarms"}, has_valve]}


def test_every_alarm_has_a_description_and_notifies_the_topic(stack: Stack) -> None:
    for alarm in stack.named(ALARMS).values():
        assert alarm["AlarmDescription"]
        assert [told(action) for action in alarm["AlarmActions"]] == ["AlarmTopicArn"]


def test_messages_that_wait_because_the_stack_is_off_raise_no_alarm(stack: Stack) -> None:
    quiet = {name for name, alarm in stack.named(ALARMS).items() if "ActionsEnabled" in alarm}
    assert quiet == {"DeliveryStuckAlarm", "LanesStuckAlarm", "FlowStuckAlarm"}
    for name in quiet:
        assert told(stack.properties(name)["ActionsEnabled"]) == "if IsEnabled: True else False"


def test_alarms_watch_the_age_of_messages_in_every_queue_that_lambda_polls(stack: Stack) -> None:
    alarms = [stack.properties("DeliveryStuckAlarm")]
    for name in ("LanesStuckAlarm", "FlowStuckAlarm"):
        alarms += [each["MetricStat"]["Metric"] for each in stack.properties(name)["Metrics"][1:]]
    assert {each["MetricName"] for each in alarms} == {"ApproximateAgeOfOldestMessage"}
    watched = {told(each["Dimensions"][0]["Value"]) for each in alarms}
    sources = stack.named("AWS::Lambda::EventSourceMapping").values()
    assert watched == {told(each["EventSourceArn"]).replace(".Arn", ".QueueName") for each in sources}


def test_every_alarm_has_a_section_in_the_runbook_which_its_description_names(stack: Stack) -> None:
    runbook = (ROOT / "docs" / "alarms.md").read_text(encoding="utf-8")
    alarms = stack.named(ALARMS)
    assert set(re.findall(r"^## (\w+)$", runbook, re.MULTILINE)) == set(alarms)
    for name, alarm in alarms.items():
        assert alarm["AlarmDescription"].endswith(f"What to do: docs/alarms.md#{name.lower()}")


def test_an_alarm_says_that_tick_has_not_run_for_four_minutes(stack: Stack) -> None:
    alarm = stack.properties("TickStoppedAlarm")
    assert read_by(alarm) == {"ticks": ("AWS/Lambda.Invocations", ["TickFunction"])}
    assert (alarm["EvaluationPeriods"], alarm["TreatMissingData"]) == (4, "breaching")


def test_an_alarm_on_a_metric_of_the_functions_reads_one_that_they_print(stack: Stack) -> None:
    own = {
        name: alarm
        for name, alarm in stack.named(ALARMS).items()
        if alarm.get("Namespace") == metrics.NAMESPACE
    }
    assert set(own) == {
        "ClockSkewAlarm",
        "CursorBehindAlarm",
        "DeliveryErrorsAlarm",
        "LatenessAlarm",
        "ThrottlingAlarm",
        "ValveAlarm",
    }
    assert {alarm["MetricName"] for alarm in own.values()} == set(get_args(metrics.Always))
    for alarm in own.values():
        [dimension] = alarm["Dimensions"]
        stack_name = stack.variables("Deliver")["STACK_NAME"]
        assert (dimension["Name"], told(dimension["Value"])) == (metrics.DIMENSION, stack_name)
