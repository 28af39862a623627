"""The metrics that functions print, as CloudWatch reads them out of the lines of a log."""

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from sweephand.base.instants import Instant

#: What CloudWatch takes from one line ("Embedded metric format specification").
METRICS_MAX: Final = 100
VALUES_MAX: Final = 100


class Metric(NamedTuple):
    """A metric: its namespace, its name, and its dimensions, each a name and a value."""

    namespace: str
    name: str
    dimensions: frozenset[tuple[str, str]] = frozenset()


class Datum(NamedTuple):
    """One value of a metric, and when it was measured."""

    metric: Metric
    at: Instant
    value: float


def printed(lines: Iterable[str]) -> Iterator[Datum]:
    """The values that the lines publish. AssertionError for a line that CloudWatch would not take."""
    for line in lines:
        document = json.loads(line) if line.startswith("{") else {}
        if "_aws" in document:
            yield from _data(document)


def _data(document: dict[str, Any]) -> Iterator[Datum]:
    at = document["_aws"]["Timestamp"]
    for directive in document["_aws"]["CloudWatchMetrics"]:
        assert len(directive["Metrics"]) <= METRICS_MAX, "CloudWatch takes 100 metrics from a directive"
        for names in directive["Dimensions"]:
            assert all(isinstance(document[name], str) and document[name] for name in names)
            dimensions = frozenset((name, document[name]) for name in names)
            for each in directive["Metrics"]:
                assert each["Unit"] in {"Count", "Milliseconds"}
                found = document[each["Name"]]
                values = found if isinstance(found, list) else [found]
                assert 0 < len(values) <= VALUES_MAX, "CloudWatch takes 100 values of a metric from a line"
                metric = Metric(directive["Namespace"], each["Name"], dimensions)
                yield from (Datum(metric, at, float(value)) for value in values)
