"""The dashboard shows metrics that exist, and costs by the prices of the bill."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final, get_args

import pytest
from tests.template.deployed import Deployed
from tests.template.stack import Stack

from sweephand.runtime import metrics
from sweephand_engine.costs import prices
from sweephand_engine.costs.template import template

DASHBOARDS: Final = "AWS::CloudWatch::Dashboard"

#: Metrics of a dashboard that AWS gives for nothing.
METRICS_FREE: Final = 50

#: The metrics of AWS that the dashboard may show: their dimension, and the resources that have them.
OF_AWS: Final = {
    "AWS/Lambda": (
        "FunctionName",
        "AWS::Lambda::Function",
        {"Duration", "Errors", "Invocations", "Throttles"},
    ),
    "AWS/SQS": (
        "QueueName",
        "AWS::SQS::Queue",
        {
            "ApproximateAgeOfOldestMessage",
            "ApproximateNumberOfMessagesDelayed",
            "ApproximateNumberOfMessagesVisible",
            "NumberOfEmptyReceives",
            "NumberOfMessagesDeleted",
            "NumberOfMessagesReceived",
            "NumberOfMessagesSent",
        },
    ),
    "AWS/DynamoDB": (
        "TableName",
        "AWS::DynamoDB::Table",
        {"ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits"},
    ),
}


@pytest.fixture
def widgets(stack: Stack) -> list[dict[str, Any]]:
    """The widgets, with the names of resources in place of references."""
    [dashboard] = Deployed(stack, Metrics="all").named(DASHBOARDS).values()
    body = json.loads(re.sub(r"\$\{([\w.:]+)}", r"\1", dashboard["DashboardBody"]["Fn::Sub"]))
    return [each["properties"] for each in body["widgets"]]


def shown(widgets: list[dict[str, Any]]) -> Iterator[tuple[str, str, str, str]]:
    """The metrics that the widgets show: namespace, name, dimension and its value."""
    for widget in widgets:
        for each in widget["metrics"]:
            if isinstance(each[0], str):
                namespace, name, dimension, value, options = each
                assert isinstance(options, dict)
                assert {"stat", "visible"} & options.keys()
                yield namespace, name, dimension, value


def test_a_stack_has_no_dashboard_unless_the_operator_asks_for_it(stack: Stack) -> None:
    assert stack.parameter("Metrics")["Default"] == "default"
    assert Deployed(stack).named(DASHBOARDS) == {}
    for level in ("all", "namespaces"):
        assert Deployed(stack, Metrics=level).named(DASHBOARDS)
        assert not Deployed(stack, Metrics=level).missing()


def test_the_dashboard_tells_what_fires_how_late_what_fails_what_waits_and_what_it_costs(
    widgets: list[dict[str, Any]],
) -> None:
    beginnings = ("What fires", "How late", "What fails", "What waits", "What it costs")
    assert all(widget["title"].startswith(each) for widget, each in zip(widgets, beginnings, strict=True))
    assert {widget["region"] for widget in widgets} == {"AWS::Region"}


def test_each_widget_shows_metrics_that_a_function_prints_by_default_or_that_aws_has(
    stack: Stack, widgets: list[dict[str, Any]]
) -> None:
    for namespace, name, dimension, value in shown(widgets):
        if namespace == metrics.NAMESPACE:
            assert name in metrics.UNITS
            assert (dimension, value) == (metrics.DIMENSION, stack.variables("Deliver")["STACK_NAME"])
        else:
            expected, kind, names = OF_AWS[namespace]
            assert (dimension, name in names) == (expected, True)
            assert value.removesuffix(".QueueName") in stack.named(kind)
            assert value.endswith(".QueueName") == (namespace == "AWS/SQS")


def test_the_dashboard_has_no_more_metrics_than_the_free_ones_may_have(widgets: list[dict[str, Any]]) -> None:
    assert len(set(shown(widgets))) <= METRICS_FREE


def test_the_dashboard_adds_no_metric_that_a_stack_pays_for(widgets: list[dict[str, Any]]) -> None:
    own = {name for namespace, name, _, _ in shown(widgets) if namespace == metrics.NAMESPACE}
    assert own <= set(get_args(metrics.Always))


def test_costs_are_calculated_from_metrics_of_the_widget_at_the_prices_of_the_bill(
    widgets: list[dict[str, Any]],
) -> None:
    [costs] = [each["metrics"] for each in widgets if each["title"].startswith("What it costs")]
    options = [each[-1] for each in costs]
    assert len({each["id"] for each in options}) == len(options), "each id once"
    expressions = {each["id"]: each["expression"] for each in options if "expression" in each}
    hidden = {each["id"] for each in options if "expression" not in each}
    assert {name for text in expressions.values() for name in re.findall(r"[a-z]\w*", text)} == hidden
    sqs = prices.SQS_REQUESTS.of(1) + prices.MESSAGE_GROUPS.of(1)
    factors = {
        name: [float(each) for each in re.findall(r"\b\d[\d.]*", text)] for name, text in expressions.items()
    }
    expected = {"sqs": [sqs]}
    for table in ("jobs", "timers"):
        expected |= {f"{table}_writes": [prices.WRITES.of(1)], f"{table}_reads": [prices.READS.of(1)]}
    for function in ("Deliver", "Flow", "Tick", "Sweep", "Api"):
        memory_gb = template().memory_mb(function) / 1024
        expected[function.lower()] = [1_000, memory_gb, prices.GB_SECOND.of(1), prices.INVOCATIONS.of(1)]
    assert factors.keys() == expected.keys()
    for name, numbers in expected.items():
        assert factors[name] == pytest.approx(numbers, rel=1e-4)
