"""What AWS allows an account: each number with the page that says it, as read on 22 November 2026."""

from dataclasses import dataclass
from typing import Final

READ_ON: Final = "22 November 2026"


@dataclass(frozen=True, slots=True)
class Quota:
    """A number that AWS documents, where it does, and whether AWS raises it on request."""

    name: str
    value: int
    source: str
    can_be_raised: bool = True


_LAMBDA: Final = "docs.aws.amazon.com/lambda/latest/dg"
_SCALING: Final = f"{_LAMBDA}/services-sqs-scaling.html"
_DYNAMODB: Final = "repost.aws/knowledge-center/on-demand-table-throttling-dynamodb"

CONCURRENCY: Final = Quota(
    "Lambda functions that run at once, in an account and region",
    1_000,
    f"{_LAMBDA}/gettingstarted-limits.html",
)
SCALE_UP: Final = Quota(
    "functions of one kind that Lambda starts in 10 s",
    1_000,
    f"{_LAMBDA}/scaling-behavior.html",
    can_be_raised=False,
)
POLLERS_AT_FIRST: Final = Quota(
    "delivery functions that a queue starts at first", 5, _SCALING, can_be_raised=False
)
POLLERS_A_MINUTE: Final = Quota(
    "more of them each minute, while messages wait", 300, _SCALING, can_be_raised=False
)
POLLERS_MAX: Final = Quota("delivery functions of a queue, at most", 1_250, _SCALING)
MAXIMUM_CONCURRENCY: Final = Quota(
    "`MaximumConcurrency` of an event source (`DeliveryConcurrency`), at most",
    1_000,
    _SCALING,
    can_be_raised=False,
)
PROVISIONED_A_MINUTE: Final = Quota(
    "more functions each minute with provisioned pollers", 1_000, _SCALING, can_be_raised=False
)
PROVISIONED_FUNCTIONS: Final = Quota(
    "functions that one provisioned poller serves", 10, _SCALING, can_be_raised=False
)
PROVISIONED_MIN_MAX: Final = Quota(
    "provisioned pollers that wait for work, at most",
    200,
    f"{_LAMBDA.replace('/dg', '/api')}/API_ProvisionedPollerConfig.html",
    can_be_raised=False,
)
IN_FLIGHT: Final = Quota(
    "messages of a standard queue that are received and not deleted, about",
    120_000,
    "docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-queues.html",
)
TABLE_WRITES: Final = Quota("write units a second of a table on demand", 40_000, _DYNAMODB)
TABLE_READS: Final = Quota("read units a second of a table on demand", 40_000, _DYNAMODB)
NEW_TABLE_WRITES: Final = Quota(
    "write units a second that a new table on demand takes", 4_000, _DYNAMODB, can_be_raised=False
)
NEW_TABLE_READS: Final = Quota(
    "read units a second that a new table on demand takes", 12_000, _DYNAMODB, can_be_raised=False
)
PARTITION_WRITES: Final = Quota(
    "write units a second of one partition", 1_000, _DYNAMODB, can_be_raised=False
)
PARTITION_READS: Final = Quota("read units a second of one partition", 3_000, _DYNAMODB, can_be_raised=False)

ALL: Final = (
    CONCURRENCY,
    SCALE_UP,
    POLLERS_AT_FIRST,
    POLLERS_A_MINUTE,
    POLLERS_MAX,
    MAXIMUM_CONCURRENCY,
    PROVISIONED_A_MINUTE,
    PROVISIONED_FUNCTIONS,
    PROVISIONED_MIN_MAX,
    IN_FLIGHT,
    TABLE_WRITES,
    TABLE_READS,
    NEW_TABLE_WRITES,
    NEW_TABLE_READS,
    PARTITION_WRITES,
    PARTITION_READS,
)

#: Dollars for an hour of a provisioned poller of a queue, us-east-1 (AWS Price List, 2026).
PROVISIONED_HOUR: Final = 0.00925
