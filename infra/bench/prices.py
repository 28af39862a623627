"""What a million triggers cost at AWS's list prices, without the functions' time."""

from infra.bench.meter import Usage
from infra.calculator.prices import GB_SECOND, INVOCATIONS, MILLION, READS, SQS_REQUESTS, WRITES

__all__ = ["GB_SECOND", "requests_per_million"]


def requests_per_million(usage: Usage, triggers: int) -> float:
    """Dollars for the units and requests of a million triggers. The functions' time is not included."""
    total = (
        WRITES.of(usage.writes)
        + READS.of(usage.reads)
        + SQS_REQUESTS.of(usage.sqs)
        + INVOCATIONS.of(usage.invocations)
    )
    return total * MILLION / triggers
