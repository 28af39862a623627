"""AWS's list prices for us-east-1, each with its source, and lines of a bill: units of a price, and sums.

Other programs may read them: `WRITES.of(units)` is in dollars. Names and units of the prices stay.

`quoted` names the page that was compared with the price on CHECKED, and the page's own date. None stands for
a price that could not be compared that day. It is as in AWS's price list when the design was written, in
2026.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

#: When the prices were compared with pages that quote AWS's price list.
CHECKED: Final = "2026-11-22"

#: What AWS's pages count a month as: 730 hours.
MONTH_S: Final = 730 * 3_600
MONTH_HOURS: Final = 730
MONTH_MINUTES: Final = 730 * 60
MONTH_DAYS: Final = 730 / 24

GB: Final = 1024**3
MILLION: Final = 1_000_000


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


_M: Final = MILLION
_DYNAMODB: Final = "aws.amazon.com/dynamodb/pricing/on-demand"
_SQS: Final = "aws.amazon.com/sqs/pricing"
_LAMBDA: Final = "aws.amazon.com/lambda/pricing"
_CLOUDWATCH: Final = "aws.amazon.com/cloudwatch/pricing"
_EVENTBRIDGE: Final = "aws.amazon.com/eventbridge/pricing"
_S3: Final = "aws.amazon.com/s3/pricing"
_GATEWAY: Final = "aws.amazon.com/api-gateway/pricing"
_EC2: Final = "aws.amazon.com/ec2/pricing/on-demand"

_AIRBYTE: Final = "airbyte.com, July 2025"
_CLOUDBURN: Final = "cloudburn.io, March 2026"
_CLOUDCHIPR: Final = "cloudchipr.com, 2024"
_SNAPSTART: Final = "awsnegotiations.com, May 2026"
_ENGINEERS: Final = "awsforengineers.com, May 2025"

WRITES: Final = Price("DynamoDB writes", "write request units", 0.625, _M, _DYNAMODB, _AIRBYTE)
READS: Final = Price("DynamoDB reads", "read request units", 0.125, _M, _DYNAMODB, _AIRBYTE)
STORAGE: Final = Price(
    "DynamoDB storage", "GB-month", 0.25, 1, _DYNAMODB, "aws.amazon.com/dynamodb/pricing", 25
)
RECOVERY: Final = Price("DynamoDB point-in-time recovery", "GB-month", 0.20, 1, _DYNAMODB, None)
SQS_REQUESTS: Final = Price("SQS, standard queues", "requests of 64 KB", 0.40, _M, _SQS, _CLOUDBURN, _M)
MESSAGE_GROUPS: Final = Price(
    "SQS, requests with a message group", "requests of 64 KB, in addition", 0.10, _M, _SQS, _CLOUDBURN
)
INVOCATIONS: Final = Price("Lambda calls", "calls", 0.20, _M, _LAMBDA, _CLOUDCHIPR, _M)
GB_SECOND: Final = Price("Lambda time, arm64", "GB-second", 0.0000133334, 1, _LAMBDA, _CLOUDCHIPR, 400_000)
SNAPSHOT_GB_SECOND: Final = Price(
    "Lambda SnapStart, cache", "GB-second", 0.0000015046, 1, _LAMBDA, _SNAPSTART
)
HTTP_API: Final = Price("API Gateway, HTTP API", "requests of 512 KB", 1.00, _M, _GATEWAY, _ENGINEERS)
LOGS: Final = Price(
    "CloudWatch Logs, ingestion", "GB", 0.50, 1, _CLOUDWATCH, "factualminds.com, June 2026", 5
)
LOG_STORAGE: Final = Price("CloudWatch Logs, storage", "GB-month", 0.03, 1, _CLOUDWATCH, None)
METRICS: Final = Price(
    "CloudWatch custom metrics", "metric-month", 0.30, 1, _CLOUDWATCH, "signoz.io, February 2026", 10
)
ALARMS: Final = Price(
    "CloudWatch alarms", "metric-month that an alarm reads", 0.10, 1, _CLOUDWATCH, "c3x.dev", 10
)
EGRESS: Final = Price("Data to the internet", "GB", 0.09, 1, _EC2, "apigatewaycost.com", 100)
OBJECT_WRITES: Final = Price("S3 writes and listings", "requests", 5.00, _M, _S3, None)
OBJECT_READS: Final = Price("S3 reads", "requests", 0.40, _M, _S3, None)
SCHEDULES: Final = Price("EventBridge Scheduler", "invocations", 1.00, _M, _EVENTBRIDGE, _CLOUDBURN, 14 * _M)
EVENTS: Final = Price("EventBridge bus, custom events", "events of 64 KB", 1.00, _M, _EVENTBRIDGE, _CLOUDBURN)
API_DESTINATIONS: Final = Price(
    "EventBridge API destinations", "requests", 0.20, _M, _EVENTBRIDGE, _CLOUDBURN
)

#: Every price above, in that order.
ALL: Final = tuple(each for each in tuple(globals().values()) if isinstance(each, Price))

#: Dollars for an hour of a provisioned poller of a queue, us-east-1 (AWS Price List, 2026).
POLLER_HOUR: Final = 0.00925


class Line(NamedTuple):
    """Units of one price, and the part of the bill to which they belong."""

    part: str
    price: Price
    units: float

    @property
    def dollars(self) -> float:
        """The price of the line, without free tiers."""
        return self.price.of(self.units)

    def times(self, factor: float) -> "Line":
        """The line for that many times as much."""
        return self._replace(units=self.units * factor)


def total(lines: Iterable[Line]) -> float:
    """Dollars of all lines, without free tiers."""
    return sum(each.dollars for each in lines)


def total_with_free_tier(lines: Iterable[Line]) -> float:
    """Dollars of all lines of one month, less what AWS gives every account each month, without end."""
    units: defaultdict[Price, float] = defaultdict(float)
    for each in lines:
        units[each.price] += each.units
    return sum(price.with_free_tier(count) for price, count in units.items())


def by_part(lines: Iterable[Line]) -> Mapping[str, float]:
    """Dollars of each part, in the order in which the parts come first."""
    sums: defaultdict[str, float] = defaultdict(float)
    for each in lines:
        sums[each.part] += each.dollars
    return dict(sums)
