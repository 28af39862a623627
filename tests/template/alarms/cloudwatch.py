"""CloudWatch's evaluation of alarms, as far as the template's alarms use it.

The rules are those of AWS's pages "Alarm evaluation", "Configuring how CloudWatch alarms treat missing data"
and "Using math expressions with CloudWatch metrics". What the template does not use raises AssertionError.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from tests.fakes.metrics import Datum, Metric
from tests.template.stack import told

from sweephand.base.instants import MINUTE_MS, Instant

State: TypeAlias = Literal["OK", "ALARM"]

#: The value of a metric or expression in each minute that has one, by the beginning of the minute.
Series: TypeAlias = Mapping[Instant, float]

#: CloudWatch looks at more minutes than an alarm evaluates. In AWS's examples these are two more. AWS does
#: not say how many there are for each alarm.
_MORE_MINUTES: Final = 2


class Metrics:
    """The data of all metrics."""

    def __init__(self, data: Iterable[Datum]) -> None:
        self._values: dict[Metric, dict[Instant, list[float]]] = defaultdict(lambda: defaultdict(list))
        for datum in data:
            self._values[datum.metric][datum.at - datum.at % MINUTE_MS].append(datum.value)

    def series(self, metric: Metric, statistic: str) -> Series:
        """The statistic of each minute that has data."""
        return {
            minute: statistic_of(statistic, values) for minute, values in self._values.get(metric, {}).items()
        }


def statistic_of(statistic: str, values: Sequence[float]) -> float:
    """A statistic of the values of one period."""
    match statistic:
        case "Sum":
            return sum(values)
        case "Average":
            return sum(values) / len(values)
        case "Maximum":
            return max(values)
    percentile = re.fullmatch(r"p(\d+)", statistic)
    assert percentile is not None, f"no statistic of the template: {statistic}"
    rank = -(-len(values) * int(percentile[1]) // 100)
    return sorted(values)[max(rank, 1) - 1]


class Alarm:
    """An alarm by its properties, with the conditions of the template evaluated."""

    def __init__(self, properties: Mapping[str, Any]) -> None:
        self._properties = properties
        self._minutes: int = properties["EvaluationPeriods"]
        self._to_alarm: int = properties.get("DatapointsToAlarm", self._minutes)
        assert 1 <= self._to_alarm <= self._minutes
        assert properties["TreatMissingData"] in {"breaching", "notBreaching"}

    def reads(self) -> set[Metric]:
        """The metrics that the alarm reads."""
        return {_metric_of(each) for each, _ in self._stats().values()}

    def state(
        self, metrics: Metrics, now: Instant, *, fills_nothing: bool = False, late_ms: int = 0
    ) -> State:
        """The state after an evaluation at that instant, which is the beginning of a minute.

        AWS does not say whether FILL gives values to a metric that has none in all of these minutes. It does
        if it `fills_nothing`. AWS publishes a minute of its own metrics `late_ms` after the minute's end.
        """
        assert now % MINUTE_MS == 0
        minutes = [now - MINUTE_MS * back for back in range(self._minutes + _MORE_MINUTES, 0, -1)]
        series = self._series(metrics, minutes, fills_nothing=fills_nothing, late_ms=late_ms)
        found = [self._is_breaching(series[minute]) for minute in minutes if minute in series]
        if len(found) >= self._minutes:
            # Missing data does not matter as long as there is enough other data.
            breaching = sum(found[-self._minutes :])
        else:
            is_missing_bad = self._properties["TreatMissingData"] == "breaching"
            breaching = sum(found) + (self._minutes - len(found)) * is_missing_bad
        return "ALARM" if breaching >= self._to_alarm else "OK"

    def _is_breaching(self, value: float) -> bool:
        threshold: float = self._properties["Threshold"]
        match self._properties["ComparisonOperator"]:
            case "GreaterThanThreshold":
                return value > threshold
            case "LessThanThreshold":
                return value < threshold
            case other:
                raise AssertionError(f"no comparison of the template: {other}")

    def _stats(self) -> dict[str, tuple[Mapping[str, Any], str]]:
        """The metrics that the alarm reads, by their ids, each with its statistic."""
        listed = self._properties.get("Metrics")
        if listed is None:
            assert self._properties["Period"] * 1_000 == MINUTE_MS
            extended = self._properties.get("ExtendedStatistic")
            return {"": (self._properties, extended or self._properties["Statistic"])}
        stats = {each["Id"]: each["MetricStat"] for each in listed if "MetricStat" in each}
        assert all(stat["Period"] * 1_000 == MINUTE_MS for stat in stats.values())
        return {name: (stat["Metric"], stat["Stat"]) for name, stat in stats.items()}

    def _series(
        self, metrics: Metrics, minutes: Sequence[Instant], *, fills_nothing: bool, late_ms: int
    ) -> Series:
        read: dict[str, Series] = {}
        # The last of the minutes ends now.
        published = minutes[-1] - late_ms
        for name, (metric, statistic) in self._stats().items():
            is_of_aws = told(metric["Namespace"]).startswith("AWS/")
            whole = metrics.series(_metric_of(metric), statistic)
            known = [each for each in minutes if each <= published or not is_of_aws]
            read[name] = {minute: whole[minute] for minute in known if minute in whole}
        if "Metrics" not in self._properties:
            return read[""]
        [watched] = [each for each in self._properties["Metrics"] if each.get("ReturnData", True)]
        return calculated(watched["Expression"], read, minutes, fills_nothing=fills_nothing)


def _metric_of(metric: Mapping[str, Any]) -> Metric:
    dimensions = frozenset((each["Name"], told(each["Value"])) for each in metric["Dimensions"])
    return Metric(told(metric["Namespace"]), metric["MetricName"], dimensions)


def calculated(
    expression: str, series: Mapping[str, Series], minutes: Sequence[Instant], *, fills_nothing: bool = False
) -> Series:
    """A math expression of these series in these minutes."""

    def of(node: ast.expr) -> Series:
        match node:
            case ast.Name(name):
                return series[name]
            case ast.BinOp(left, ast.Add(), right):
                # A minute without a value on either side has none.
                ones, others = of(left), of(right)
                return {minute: ones[minute] + others[minute] for minute in ones if minute in others}
            case ast.Call(ast.Name("FILL"), [filled, ast.Constant(int(value))]):
                found = of(filled)
                return {each: found.get(each, value) for each in minutes} if found or fills_nothing else {}
            case ast.Call(ast.Name("MAX"), [ast.List(elements)]):
                every = [of(each) for each in elements]
                known = {minute for each in every for minute in each}
                return {minute: max(each[minute] for each in every if minute in each) for minute in known}
        raise AssertionError(f"no expression of the template: {ast.unparse(node)}")

    return of(ast.parse(expression, mode="eval").body)
