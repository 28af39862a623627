"""AWS's list prices for us-east-1, each with its source, and what a million triggers cost at them.

`quoted` names the page that was compared with the price on CHECKED, and the page's own date. None stands for
a price that could not be compared that day. It is as in AWS's price list when the design was written, in
2026.
"""

from typing import Final, NamedTuple

from infra.bench.meter import Usage

#: When the prices were compared with pages that quote AWS's price list.
CHECKED: Final = "2026-11-22"

_MILLION: Final = 1_000_000


class Price(NamedTuple):
    """Dollars for `each` units. `free` units of a month cost nothing, in every account and without end.

    `source` is AWS's own page. AWS bills the first tier; large accounts pay less.
    """

    what: str
    unit: str
    dollars: float
    each: int
    source: str
    quoted: str | None
    free: float = 0

    def of(self, units: float) -> float:
        """Dollars for that many units, without the free tier."""
        return units * self.dollars / self.each

    def with_free_tier(self, units: float) -> float:
        """Dollars for the units of one month, of which the first are free."""
        return self.of(max(0.0, units - self.free))


_DYNAMODB: Final = "aws.amazon.com/dynamodb/pricing/on-demand"
_LAMBDA: Final = "aws.amazon.com/lambda/pricing"
_CLOUDWATCH: Final = "aws.amazon.com/cloudwatch/pricing"
_EVENTBRIDGE: Final = "aws.amazon.com/eventbridge/pricing"
_S3: Final = "aws.amazon.com/s3/pricing"

WRITES: Final = Price(
    "DynamoDB writes", "write request units", 0.625, _MILLION, _DYNAMODB, "airbyte.com, July 2025"
)
READS: Final = Price(
    "DynamoDB reads", "read request units", 0.125, _MILLION, _DYNAMODB, "airbyte.com, July 2025"
)
STORAGE: Final = Price(
    "DynamoDB storage", "GB-months", 0.25, 1, _DYNAMODB, "aws.amazon.com/dynamodb/pricing", free=25
)
RECOVERY: Final = Price("DynamoDB point-in-time recovery", "GB-months", 0.20, 1, _DYNAMODB, None)
SQS_REQUESTS: Final = Price(
    "SQS, standard queues",
    "requests of 64 KB",
    0.40,
    _MILLION,
    "aws.amazon.com/sqs/pricing",
    "cloudburn.io, March 2026",
    free=_MILLION,
)
MESSAGE_GROUPS: Final = Price(
    "SQS, requests with a message group",
    "requests of 64 KB, in addition",
    0.10,
    _MILLION,
    "aws.amazon.com/sqs/pricing",
    "cloudburn.io, March 2026",
)
INVOCATIONS: Final = Price(
    "Lambda calls", "calls", 0.20, _MILLION, _LAMBDA, "cloudchipr.com, 2024", free=_MILLION
)
GB_SECOND: Final = Price(
    "Lambda time, arm64", "GB-seconds", 0.0000133334, 1, _LAMBDA, "cloudchipr.com, 2024", free=400_000
)
SNAPSHOT_GB_SECOND: Final = Price(
    "Lambda SnapStart, cache", "GB-seconds", 0.0000015046, 1, _LAMBDA, "awsnegotiations.com, May 2026"
)
HTTP_API: Final = Price(
    "API Gateway, HTTP API",
    "requests of 512 KB",
    1.00,
    _MILLION,
    "aws.amazon.com/api-gateway/pricing",
    "awsforengineers.com, May 2025",
)
LOGS: Final = Price(
    "CloudWatch Logs, ingestion", "GB", 0.50, 1, _CLOUDWATCH, "factualminds.com, June 2026", free=5
)
LOG_STORAGE: Final = Price("CloudWatch Logs, storage", "GB-months", 0.03, 1, _CLOUDWATCH, None)
METRICS: Final = Price(
    "CloudWatch custom metrics", "metric-months", 0.30, 1, _CLOUDWATCH, "signoz.io, February 2026", free=10
)
ALARMS: Final = Price(
    "CloudWatch alarms", "metrics that alarms read, for a month", 0.10, 1, _CLOUDWATCH, "c3x.dev", free=10
)
EGRESS: Final = Price(
    "Data to the internet",
    "GB",
    0.09,
    1,
    "aws.amazon.com/ec2/pricing/on-demand",
    "apigatewaycost.com",
    free=100,
)
OBJECT_WRITES: Final = Price("S3 writes and listings", "requests", 5.00, _MILLION, _S3, None)
OBJECT_READS: Final = Price("S3 reads", "requests", 0.40, _MILLION, _S3, None)
SCHEDULES: Final = Price(
    "EventBridge Scheduler",
    "invocations",
    1.00,
    _MILLION,
    _EVENTBRIDGE,
    "cloudburn.io, March 2026",
    free=14 * _MILLION,
)
EVENTS: Final = Price(
    "EventBridge bus, custom events",
    "events of 64 KB",
    1.00,
    _MILLION,
    _EVENTBRIDGE,
    "cloudburn.io, March 2026",
)
API_DESTINATIONS: Final = Price(
    "EventBridge API destinations", "requests", 0.20, _MILLION, _EVENTBRIDGE, "cloudburn.io, March 2026"
)

ALL: Final = (
    WRITES,
    READS,
    STORAGE,
    RECOVERY,
    SQS_REQUESTS,
    MESSAGE_GROUPS,
    INVOCATIONS,
    GB_SECOND,
    SNAPSHOT_GB_SECOND,
    HTTP_API,
    LOGS,
    LOG_STORAGE,
    METRICS,
    ALARMS,
    EGRESS,
    OBJECT_WRITES,
    OBJECT_READS,
    SCHEDULES,
    EVENTS,
    API_DESTINATIONS,
)


def requests_per_million(usage: Usage, triggers: int) -> float:
    """Dollars for the units and requests of a million triggers. The functions' time is not included."""
    total = (
        WRITES.of(usage.writes)
        + READS.of(usage.reads)
        + SQS_REQUESTS.of(usage.sqs)
        + INVOCATIONS.of(usage.invocations)
    )
    return total * _MILLION / triggers
