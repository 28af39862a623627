"""What it costs to keep what waits while the stack is switched off (decision 170).

tests/unit/bill/test_keeping.py counts the requests.
"""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from infra.bench import prices
from infra.bill import tables
from infra.bill.lines import MILLION, MONTH_DAYS, Line, total
from infra.bill.triggers import READS, SQS, WRITES

from sweephand.base.instants import DAY_MS
from sweephand.base.timing import KEEP_ROUND_MS


class KeepCount(NamedTuple):
    """The units for one thing of many that a round keeps.

    A timer of 250 bytes is read with 15 others by one read unit, and written in every second round. Ten
    messages are received, sent and removed by three requests. A job costs a share of the 16 queries for a
    page of 100 jobs, and a look for its runs. An object in the bucket costs a share of a listing of 100 and a
    look for its tag. One that would expire is written in every second round.
    """

    timer_writes: float = 1 / 2
    timer_reads: float = 1 / 16
    message_requests: float = 3 / 10
    job_reads: float = 32 / 100 + 1.0
    ended_job_writes: float = 1.0
    payload_listings: float = 1 / 100
    payload_tags: float = 1.0
    discarded_payload_writes: float = 1 / 2


COUNT: Final = KeepCount()

S3: Final = "S3: requests"

#: The rounds of a month.
ROUNDS: Final = MONTH_DAYS / (KEEP_ROUND_MS / DAY_MS)


def of_timers() -> Iterator[Line]:
    """The lines of a month for a million timers, each in an item of its own."""
    yield Line(WRITES, prices.WRITES, COUNT.timer_writes * ROUNDS * MILLION)
    yield Line(READS, prices.READS, COUNT.timer_reads * ROUNDS * MILLION)


def of_messages() -> Iterator[Line]:
    """The lines of a month for a million messages."""
    yield Line(SQS, prices.SQS_REQUESTS, COUNT.message_requests * ROUNDS * MILLION)


def of_jobs() -> Iterator[Line]:
    """The lines of a month for a million jobs without an end."""
    yield Line(READS, prices.READS, COUNT.job_reads * ROUNDS * MILLION)


def of_ended_jobs() -> Iterator[Line]:
    """What a million jobs cost more that have ended."""
    yield Line(WRITES, prices.WRITES, COUNT.ended_job_writes * ROUNDS * MILLION)


def of_payloads() -> Iterator[Line]:
    """The lines of a month for a million objects in the bucket."""
    yield Line(S3, prices.OBJECT_WRITES, COUNT.payload_listings * ROUNDS * MILLION)
    yield Line(S3, prices.OBJECT_READS, COUNT.payload_tags * ROUNDS * MILLION)


def of_discarded_payloads() -> Iterator[Line]:
    """What a million objects cost more that would expire."""
    yield Line(S3, prices.OBJECT_WRITES, COUNT.discarded_payload_writes * ROUNDS * MILLION)


def figures() -> Mapping[str, str]:
    """The figures of the page."""
    return {
        "kept_timers": tables.dollars(total(of_timers())),
        "kept_messages": tables.dollars(total(of_messages())),
        "kept_jobs": tables.dollars(total(of_jobs())),
        "kept_ended_jobs": tables.dollars(total(of_ended_jobs())),
        "kept_payloads": tables.dollars(total(of_payloads())),
        "kept_discarded_payloads": tables.dollars(total(of_discarded_payloads())),
    }
