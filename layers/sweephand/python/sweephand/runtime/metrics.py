"""The metrics of a call, written as members of its log line in CloudWatch's embedded metric format.

The format is that of CloudWatch's "Embedded metric format specification". A call has one line for both, which
Powertools' `Metrics` cannot write. CloudWatch bills a metric for the hours in which it has values. So a stack
has by default only those that its alarms read.
"""

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

from sweephand.base.instants import SECOND_MS, Instant
from sweephand.runtime.tables import answers, settings
from sweephand.storage.connect import Seen

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger

#: The namespace of all metrics. The dimension keeps the metrics of two stacks apart.
NAMESPACE: Final = "Sweephand"
DIMENSION: Final = "stack"
NAMESPACE_DIMENSION: Final = "namespace"

#: Metrics that every stack has. CloudWatch bills a metric for the hours in which it has values. So the last
#: four cost nothing in a healthy stack.
Always = Literal["Failures", "Lateness", "CursorAge", "StackLimited", "Throttled", "ClockSkew"]

#: Metrics of stacks with the parameter `Metrics=all` or `namespaces`.
Optional = Literal[
    "Sent",
    "SweepTime",
    "Delivered",
    "Retried",
    "Skipped",
    "DeadLettered",
    "Waiting",
    "PermitsInUse",
]

MetricName: TypeAlias = Always | Optional

#: The unit of each metric.
UNITS: Final[Mapping[MetricName, Literal["Count", "Milliseconds"]]] = {
    "Failures": "Count",
    "Lateness": "Milliseconds",
    "CursorAge": "Milliseconds",
    "StackLimited": "Count",
    "Throttled": "Count",
    "ClockSkew": "Milliseconds",
    "Sent": "Count",
    "SweepTime": "Milliseconds",
    "Delivered": "Count",
    "Retried": "Count",
    "Skipped": "Count",
    "DeadLettered": "Count",
    "Waiting": "Count",
    "PermitsInUse": "Count",
}

#: The values of each metric in one call. A metric without values is not published.
Values: TypeAlias = Mapping[MetricName, Sequence[int]]

#: CloudWatch takes so many values of a metric from one line.
VALUES_MAX: Final = 100

#: The Date header of AWS has whole seconds, so a smaller difference of clocks shows nothing.
SKEW_MS_MIN: Final = SECOND_MS


def write(
    logger: "Logger",
    message: str,
    fields: Mapping[str, object],
    values: Values,
    at: Instant,
    *,
    by_namespace: Mapping[str, Values] = MappingProxyType({}),
) -> None:
    """Write the log line of a call with its metrics, and what this process has seen in AWS's answers.

    Values beyond VALUES_MAX are written in lines of their own, and so are those of each namespace, if the
    stack has such metrics. If the log level leaves out the log line, the metrics are written without it:
    alarms must not depend on the log level. If the answers prove that this clock is wrong, the metrics have
    the time `at` corrected by what they prove: an alarm does not look at a time of ten minutes ago.
    """
    seen = answers().take()
    at -= _skew_ms(seen)
    alone = list(documents({**values, **_of_answers(seen)}, at))
    if logger.log_level <= logging.INFO:
        with_line = alone.pop(0) if alone else {}
        # The location in the line is that of the handler.
        logger.info(message, extra={**fields, **with_line}, stacklevel=4)
    if settings().metrics == "namespaces":
        for namespace, each in by_namespace.items():
            alone += documents(each, at, namespace)
    for document in alone:
        print(json.dumps(document, separators=(",", ":")))  # noqa: T201 - Lambda takes it for the log


def documents(values: Values, at: Instant, namespace: str | None = None) -> Iterator[dict[str, Any]]:
    """The members of the log lines that publish these values; none if there are no values.

    Each document has at most VALUES_MAX values of a metric. With a `namespace`, they are those of its
    triggers.
    """
    published = get_args(Always) if settings().metrics == "default" else UNITS
    values = {name: each for name, each in values.items() if name in published}
    longest = max(map(len, values.values()), default=0)
    for start in range(0, longest, VALUES_MAX):
        some = {name: list(each[start : start + VALUES_MAX]) for name, each in values.items()}
        yield _document({name: each for name, each in some.items() if each}, at, namespace)


def _document(
    values: Mapping[MetricName, Sequence[int]], at: Instant, namespace: str | None
) -> dict[str, Any]:
    dimensions = {DIMENSION: settings().stack_name}
    if namespace is not None:
        dimensions[NAMESPACE_DIMENSION] = namespace
    directive = {
        "Namespace": NAMESPACE,
        "Dimensions": [list(dimensions)],
        "Metrics": [{"Name": name, "Unit": UNITS[name]} for name in values],
    }
    members: dict[str, Any] = {"_aws": {"Timestamp": at, "CloudWatchMetrics": [directive]}}
    return members | dimensions | dict(values)


def _skew_ms(seen: Seen) -> int:
    """By how many milliseconds this clock is ahead of AWS's, or behind if negative; 0 if by too little."""
    return seen.skew_ms if abs(seen.skew_ms) >= SKEW_MS_MIN else 0


def _of_answers(seen: Seen) -> Values:
    """What the answers of DynamoDB have shown since the call before."""
    values = dict[MetricName, Sequence[int]]()
    if seen.throttled:
        values["Throttled"] = [seen.throttled]
    if skew_ms := abs(_skew_ms(seen)):
        values["ClockSkew"] = [skew_ms]
    return values
