"""Rules about queues, tables, the bucket, logs, alarms, and the template itself."""

import json
from collections.abc import Iterator
from typing import Any, Final

from tests.template.limits.resolved import Resolved
from tests.template.limits.rule import DOCS, Found, Rule, between, each, every

_SQS: Final = f"{DOCS}/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html"
_LIFECYCLE: Final = f"{DOCS}/AmazonS3/latest/userguide/intro-lifecycle-rules.html"
_ALARMS: Final = f"{DOCS}/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html"
_MATH: Final = f"{DOCS}/AmazonCloudWatch/latest/monitoring/Create-alarm-on-metric-math-expression.html"
_DASHBOARD: Final = f"{DOCS}/AmazonCloudWatch/latest/monitoring/cloudwatch_limits.html"
_CLOUDFORMATION: Final = f"{DOCS}/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html"

#: Days for which CloudWatch Logs can keep events (API reference, PutRetentionPolicy).
_RETENTIONS: Final = frozenset(
    {1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653}
)

_QUEUE: Final = "AWS::SQS::Queue"
_TABLE: Final = "AWS::DynamoDB::Table"
_BUCKET: Final = "AWS::S3::Bucket"
_ALARM: Final = "AWS::CloudWatch::Alarm"
_DAY_S: Final = 86_400


def _spans(stack: Resolved) -> Iterator[tuple[str, Any]]:
    for name, alarm in stack.named(_ALARM).items():
        metrics = [metric["MetricStat"] for metric in alarm.get("Metrics", []) if "MetricStat" in metric]
        period_s = max(metric["Period"] for metric in [alarm, *metrics] if "Period" in metric)
        yield name, period_s * alarm["EvaluationPeriods"]


def _periods(stack: Resolved) -> Iterator[tuple[str, Any]]:
    yield from each(_ALARM, "Period")(stack)
    for name, metric in every(_ALARM, "Metrics")(stack):
        if "MetricStat" in metric:
            yield name, metric["MetricStat"]["Period"]


def _widgets(stack: Resolved) -> Iterator[tuple[str, Any]]:
    for name, body in each("AWS::CloudWatch::Dashboard", "DashboardBody")(stack):
        yield name, [len(widget["properties"]["metrics"]) for widget in json.loads(body)["widgets"]]


def _sections(stack: Resolved) -> Found:
    return [(name, len(stack.template[name])) for name in ("Parameters", "Outputs")]


def _resources(stack: Resolved) -> Found:
    return [("Resources", len(stack.template["Resources"]))]


def _template(stack: Resolved) -> Found:
    return [("the processed template", len(json.dumps(stack.template)))]


def _descriptions(stack: Resolved) -> Iterator[tuple[str, Any]]:
    for name, parameter in stack.template["Parameters"].items():
        yield name, len(parameter.get("Description", ""))


def _values(stack: Resolved) -> Iterator[tuple[str, Any]]:
    for name in stack.template["Parameters"]:
        yield name, len(str(stack.deployed.parameter(name)))


def _has_one_result(alarm: Any) -> bool:
    shown = [metric for metric in alarm.get("Metrics", []) if metric.get("ReturnData", True)]
    return len(shown) == (1 if "Metrics" in alarm else 0)


RULES: Final = [
    Rule(
        f"{_QUEUE}.MessageRetentionPeriod",
        "60 to 1,209,600 s",
        _SQS,
        each(_QUEUE, "MessageRetentionPeriod"),
        between(60, 1_209_600),
        59,
    ),
    Rule(
        f"{_QUEUE}.VisibilityTimeout",
        "0 to 43,200 s",
        _SQS,
        each(_QUEUE, "VisibilityTimeout"),
        between(0, 43_200),
        43_201,
    ),
    Rule(
        f"{_QUEUE}.RedrivePolicy.maxReceiveCount",
        "1 to 1,000",
        _SQS,
        each(_QUEUE, "RedrivePolicy", "maxReceiveCount"),
        between(1, 1_000),
        1_001,
    ),
    Rule(
        f"{_QUEUE}.KmsDataKeyReusePeriodSeconds",
        "60 to 86,400 s",
        _SQS,
        each(_QUEUE, "KmsDataKeyReusePeriodSeconds"),
        between(60, 86_400),
        59,
    ),
    Rule(
        f"{_QUEUE}.KmsMasterKeyId",
        "not together with SqsManagedSseEnabled",
        _SQS,
        each(_QUEUE),
        lambda queue: not ("KmsMasterKeyId" in queue and queue.get("SqsManagedSseEnabled")),
        {"KmsMasterKeyId": "x", "SqsManagedSseEnabled": True},
    ),
    Rule(
        f"{_TABLE}.AttributeDefinitions",
        "exactly the attributes of the keys",
        f"{DOCS}/amazondynamodb/latest/APIReference/API_CreateTable.html",
        each(_TABLE),
        lambda table: (
            {each["AttributeName"] for each in table["AttributeDefinitions"]}
            == {each["AttributeName"] for each in table["KeySchema"]}
        ),
        {"AttributeDefinitions": [{"AttributeName": "x"}], "KeySchema": []},
    ),
    Rule(
        f"{_TABLE}.WarmThroughput",
        "not below what a table on demand has from the start: 12,000 reads and 4,000 writes a second",
        f"{DOCS}/amazondynamodb/latest/developerguide/warm-throughput.html",
        each(_TABLE, "WarmThroughput"),
        lambda warm: (
            warm.get("ReadUnitsPerSecond", 12_000) >= 12_000
            and warm.get("WriteUnitsPerSecond", 4_000) >= 4_000
        ),
        {"ReadUnitsPerSecond": 12_000, "WriteUnitsPerSecond": 3_999},
    ),
    Rule(
        f"{_BUCKET}.LifecycleConfiguration.Rules",
        "uploads are not ended by tag, and days are whole numbers from 1 on",
        _LIFECYCLE,
        every(_BUCKET, "LifecycleConfiguration", "Rules"),
        lambda rule: (
            not {"AbortIncompleteMultipartUpload", "TagFilters"} <= rule.keys()
            and rule.get("ExpirationInDays", 1) >= 1
        ),
        {"AbortIncompleteMultipartUpload": {}, "TagFilters": []},
    ),
    Rule(
        f"{_BUCKET}.BucketEncryption",
        "a bucket key only with KMS",
        f"{DOCS}/AmazonS3/latest/userguide/bucket-key.html",
        every(_BUCKET, "BucketEncryption", "ServerSideEncryptionConfiguration"),
        lambda rule: (
            not rule.get("BucketKeyEnabled")
            or rule["ServerSideEncryptionByDefault"]["SSEAlgorithm"] == "aws:kms"
        ),
        {"BucketKeyEnabled": True, "ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}},
    ),
    Rule(
        "AWS::Logs::LogGroup.RetentionInDays",
        "one of certain numbers of days",
        f"{DOCS}/AmazonCloudWatchLogs/latest/APIReference/API_PutRetentionPolicy.html",
        each("AWS::Logs::LogGroup", "RetentionInDays"),
        lambda days: int(days) in _RETENTIONS,
        31,
    ),
    Rule(
        f"{_ALARM}.Period",
        "10, 20, 30 or a multiple of 60 s",
        _ALARMS,
        _periods,
        lambda period: period in (10, 20, 30) or period % 60 == 0,
        45,
    ),
    Rule(f"{_ALARM}.EvaluationPeriods", "a day in all", _ALARMS, _spans, between(1, _DAY_S), _DAY_S + 60),
    Rule(
        f"{_ALARM}.DatapointsToAlarm",
        "not above EvaluationPeriods",
        _ALARMS,
        each(_ALARM),
        lambda alarm: alarm.get("DatapointsToAlarm", 1) <= alarm["EvaluationPeriods"],
        {"DatapointsToAlarm": 2, "EvaluationPeriods": 1},
    ),
    Rule(
        f"{_ALARM}.Metrics",
        "10, of which one is the result; without them one metric and one kind of statistic",
        _MATH,
        each(_ALARM),
        lambda alarm: (
            len(alarm.get("Metrics", [])) <= 10
            and _has_one_result(alarm)
            and ("MetricName" in alarm) != ("Metrics" in alarm)
            and not {"Statistic", "ExtendedStatistic"} <= alarm.keys()
        ),
        {"Metrics": [{"Id": "a"}, {"Id": "b"}]},
    ),
    Rule(
        "AWS::CloudWatch::Dashboard.DashboardBody",
        "500 metrics in a graph, and 2,500 in all",
        _DASHBOARD,
        _widgets,
        lambda widgets: max(widgets) <= 500 and sum(widgets) <= 2_500,
        [501],
    ),
    Rule("the template", "1 MB", _CLOUDFORMATION, _template, between(1, 1024 * 1024), 1024 * 1024 + 1),
    Rule("Parameters and Outputs", "200 each", _CLOUDFORMATION, _sections, between(1, 200), 201),
    Rule("Resources", "500", _CLOUDFORMATION, _resources, between(1, 500), 501),
    Rule(
        "Parameters, descriptions",
        "4,000 characters",
        f"{DOCS}/AWSCloudFormation/latest/UserGuide/parameters-section-structure.html",
        _descriptions,
        between(0, 4_000),
        4_001,
    ),
    Rule("Parameters, values", "4,096 bytes", _CLOUDFORMATION, _values, between(0, 4_096), 4_097),
]
