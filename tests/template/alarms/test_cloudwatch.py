"""The evaluator of alarms obeys CloudWatch's documented rules."""

from typing import Any

import pytest
from tests.fakes.doubles import NOON
from tests.fakes.metrics import Datum, Metric
from tests.template.alarms.cloudwatch import Alarm, Metrics, State, calculated, statistic_of

MINUTE = 60_000
METRIC = Metric("Sweephand", "Failures", frozenset({("stack", "AWS::StackName")}))


def alarm(periods: int, to_alarm: int, missing: str, **changed: Any) -> Alarm:
    """An alarm on values above zero."""
    return Alarm(
        {
            "Namespace": METRIC.namespace,
            "MetricName": METRIC.name,
            "Dimensions": [{"Name": "stack", "Value": {"Ref": "AWS::StackName"}}],
            "Statistic": "Maximum",
            "Period": 60,
            "EvaluationPeriods": periods,
            "DatapointsToAlarm": to_alarm,
            "Threshold": 0,
            "ComparisonOperator": "GreaterThanThreshold",
            "TreatMissingData": missing,
            **changed,
        }
    )


def drawn(points: str) -> Metrics:
    """The minutes before noon as AWS draws them: X is breaching, 0 is not, and - is missing."""
    minutes = points.split()
    begins_at = NOON - len(minutes) * MINUTE
    values = {"X": 1.0, "0": 0.0}
    return Metrics(
        Datum(METRIC, begins_at + number * MINUTE + 100, values[point])
        for number, point in enumerate(minutes)
        if point in values
    )


# The tables of "Configuring how CloudWatch alarms treat missing data".
@pytest.mark.parametrize(
    ("points", "breaching", "not_breaching"),
    [
        ("0 - X - X", "OK", "OK"),
        ("- - - - 0", "OK", "OK"),
        ("- - - - -", "ALARM", "OK"),
        ("0 X X - X", "ALARM", "ALARM"),
        ("- - X - -", "ALARM", "OK"),
    ],
)
def test_three_of_three_minutes_with_missing_data(
    points: str, breaching: State, not_breaching: State
) -> None:
    assert alarm(3, 3, "breaching").state(drawn(points), NOON) == breaching
    assert alarm(3, 3, "notBreaching").state(drawn(points), NOON) == not_breaching


@pytest.mark.parametrize(
    ("points", "breaching", "not_breaching"),
    [
        ("0 - X - X", "ALARM", "ALARM"),
        ("0 0 X 0 X", "ALARM", "ALARM"),
        ("0 - X - -", "ALARM", "OK"),
        ("- - - - 0", "ALARM", "OK"),
        ("- - - X -", "ALARM", "OK"),
    ],
)
def test_two_of_three_minutes_with_missing_data(points: str, breaching: State, not_breaching: State) -> None:
    assert alarm(3, 2, "breaching").state(drawn(points), NOON) == breaching
    assert alarm(3, 2, "notBreaching").state(drawn(points), NOON) == not_breaching


def test_the_minute_that_has_begun_is_not_evaluated() -> None:
    metrics = Metrics([Datum(METRIC, NOON + 1, 1.0)])
    assert alarm(1, 1, "notBreaching").state(metrics, NOON) == "OK"
    assert alarm(1, 1, "notBreaching").state(metrics, NOON + MINUTE) == "ALARM"


@pytest.mark.parametrize(("late_ms", "state"), [(0, "ALARM"), (MINUTE, "ALARM"), (MINUTE + 1, "OK")])
def test_a_metric_of_aws_is_not_known_before_it_is_published(late_ms: int, state: State) -> None:
    of_aws = METRIC._replace(namespace="AWS/Lambda")
    metrics = Metrics([Datum(of_aws, NOON - MINUTE - 1, 1.0)])
    found = alarm(1, 1, "notBreaching", Namespace="AWS/Lambda").state(metrics, NOON, late_ms=late_ms)
    assert found == state


def test_a_metric_of_the_functions_is_known_at_once() -> None:
    metrics = Metrics([Datum(METRIC, NOON - 1, 1.0)])
    assert alarm(1, 1, "notBreaching").state(metrics, NOON, late_ms=2 * MINUTE) == "ALARM"


def test_a_value_at_the_threshold_is_not_beyond_it() -> None:
    metrics = Metrics([Datum(METRIC, NOON - 1, 3.0)])
    over = {"Threshold": 3}
    under = {"Threshold": 3, "ComparisonOperator": "LessThanThreshold"}
    assert alarm(1, 1, "notBreaching", **over).state(metrics, NOON) == "OK"
    assert alarm(1, 1, "notBreaching", **under).state(metrics, NOON) == "OK"
    assert alarm(1, 1, "notBreaching", Threshold=2.9).state(metrics, NOON) == "ALARM"


def test_other_dimensions_are_another_metric() -> None:
    other = METRIC._replace(dimensions=frozenset({("stack", "another")}))
    assert alarm(1, 1, "notBreaching").state(Metrics([Datum(other, NOON - 1, 1.0)]), NOON) == "OK"


@pytest.mark.parametrize(
    ("statistic", "value"),
    [("Sum", 5_050.0), ("Average", 50.5), ("Maximum", 100.0), ("p99", 99.0), ("p50", 50.0)],
)
def test_the_statistics_of_a_hundred_values(statistic: str, value: float) -> None:
    values = [float(each) for each in range(100, 0, -1)]
    assert statistic_of(statistic, values) == pytest.approx(value)


def test_a_high_percentile_of_few_values_is_the_greatest() -> None:
    assert statistic_of("p99", [1.0, 7.0]) == 7.0
    assert statistic_of("p99", [7.0]) == 7.0


MINUTES = [NOON, NOON + MINUTE]


def test_a_sum_has_no_value_where_a_summand_has_none_unless_it_is_filled() -> None:
    series = {"a": {NOON: 1.0}, "b": {NOON + MINUTE: 2.0}}
    assert calculated("a + b", series, MINUTES) == {}
    assert calculated("FILL(a, 0) + FILL(b, 0)", series, MINUTES) == {NOON: 1.0, NOON + MINUTE: 2.0}


@pytest.mark.parametrize("fills_nothing", [True, False])
def test_a_metric_without_any_data_is_filled_or_not(*, fills_nothing: bool) -> None:
    series = {"a": {NOON: 1.0}, "c": dict[int, float]()}
    found = calculated("FILL(a, 0) + FILL(c, 0)", series, MINUTES, fills_nothing=fills_nothing)
    assert found == ({NOON: 1.0, NOON + MINUTE: 0.0} if fills_nothing else {})


def test_the_greatest_of_several_metrics_ignores_those_without_data() -> None:
    series = {"a": {NOON: 1.0}, "b": {NOON: 3.0, NOON + MINUTE: 2.0}}
    assert calculated("MAX([a, b])", series, MINUTES) == {NOON: 3.0, NOON + MINUTE: 2.0}


@pytest.mark.parametrize("expression", ["a - b", "SUM([a])", "FILL(a, REPEAT)", "a > 1"])
def test_what_the_template_does_not_use_is_refused(expression: str) -> None:
    with pytest.raises(AssertionError, match="no expression of the template"):
        calculated(expression, {"a": {NOON: 1.0}, "b": {NOON: 1.0}}, MINUTES)
    with pytest.raises(AssertionError, match="no statistic"):
        statistic_of("IQM", [1.0])
