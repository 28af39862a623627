"""What a million triggers cost at AWS's list prices (us-east-1, no free tier, no savings plan)."""

from typing import Final

from infra.bench.meter import Usage

#: Dollars for a million of each: aws.amazon.com/dynamodb/pricing/on-demand (since November 2024),
#: /sqs/pricing (standard queues), /lambda/pricing (requests).
WRITES: Final = 0.625
READS: Final = 0.125
SQS_REQUESTS: Final = 0.40
INVOCATIONS: Final = 0.20

#: Dollars for a GB-second on arm64: /lambda/pricing.
GB_SECOND: Final = 0.0000133334


def requests_per_million(usage: Usage, triggers: int) -> float:
    """Dollars for the units and requests of a million triggers. The functions' time is not included."""
    total = (
        usage.writes * WRITES
        + usage.reads * READS
        + usage.sqs * SQS_REQUESTS
        + usage.invocations * INVOCATIONS
    )
    return total / triggers
