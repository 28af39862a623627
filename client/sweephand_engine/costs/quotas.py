"""What AWS allows an account: each number with the page that says it, as read on 22 November 2026."""

from typing import Final, NamedTuple

READ_ON: Final = "22 November 2026"


class Quota(NamedTuple):
    """A number that AWS documents, where it does, and whether AWS raises it on request: `yes` or `no`."""

    name: str
    value: int
    source: str
    raises: str = "no"


_LAMBDA: Final = "docs.aws.amazon.com/lambda/latest"
_LIMITS: Final = f"{_LAMBDA}/dg/gettingstarted-limits.html"
_SCALE_UP: Final = f"{_LAMBDA}/dg/scaling-behavior.html"
_SCALING: Final = f"{_LAMBDA}/dg/services-sqs-scaling.html"
_POLLERS: Final = f"{_LAMBDA}/api/API_ProvisionedPollerConfig.html"
_SQS: Final = "docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-queues.html"
_DYNAMODB: Final = "repost.aws/knowledge-center/on-demand-table-throttling-dynamodb"

CONCURRENCY: Final = Quota(
    "Lambda functions that run at once, in an account and region", 1_000, _LIMITS, "yes"
)
SCALE_UP: Final = Quota("functions of one kind that Lambda starts in 10 s", 1_000, _SCALE_UP)
POLLERS_AT_FIRST: Final = Quota("delivery functions that a queue starts at first", 5, _SCALING)
POLLERS_A_MINUTE: Final = Quota("more of them each minute, while messages wait", 300, _SCALING)
POLLERS_MAX: Final = Quota("delivery functions of a queue, at most", 1_250, _SCALING, "yes")
MAXIMUM_CONCURRENCY: Final = Quota(
    "`MaximumConcurrency` of an event source (`DeliveryConcurrency`), at most", 1_000, _SCALING
)
PROVISIONED_A_MINUTE: Final = Quota("more functions each minute with provisioned pollers", 1_000, _SCALING)
PROVISIONED_FUNCTIONS: Final = Quota("functions that one provisioned poller serves", 10, _SCALING)
PROVISIONED_MIN_MAX: Final = Quota("provisioned pollers that wait for work, at most", 200, _POLLERS)
IN_FLIGHT: Final = Quota(
    "messages of a standard queue that are received and not deleted, about", 120_000, _SQS, "yes"
)
TABLE_WRITES: Final = Quota("write units a second of a table on demand", 40_000, _DYNAMODB, "yes")
TABLE_READS: Final = Quota("read units a second of a table on demand", 40_000, _DYNAMODB, "yes")
NEW_TABLE_WRITES: Final = Quota("write units a second that a new table on demand takes", 4_000, _DYNAMODB)
NEW_TABLE_READS: Final = Quota("read units a second that a new table on demand takes", 12_000, _DYNAMODB)
PARTITION_WRITES: Final = Quota("write units a second of one partition", 1_000, _DYNAMODB)
PARTITION_READS: Final = Quota("read units a second of one partition", 3_000, _DYNAMODB)

#: Every quota above, in that order.
ALL: Final = tuple(each for each in tuple(globals().values()) if isinstance(each, Quota))
