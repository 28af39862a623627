"""What is billed besides triggers: batches, checks of watches, audits, rebuilds, counts and keeping.

Each function returns dollars. tests/unit/calculator/test_chores.py counts the requests behind the constants.
"""

from collections.abc import Mapping
from typing import Final

from infra.bench import flow_units

from sweephand.base.instants import DAY_MS, MINUTE_MS
from sweephand.base.limits import BULK_EXAMINED_MAX
from sweephand.base.timing import BULK_TIME_LIMIT_MS, MESSAGE_OLD_MS
from sweephand_engine.costs import prices
from sweephand_engine.costs.bill import CALLS, READS, SQS, WRITES, Bill, Case
from sweephand_engine.costs.measured import Usage
from sweephand_engine.costs.prices import MILLION, MONTH_DAYS, Line

#: Read units of a job of usual size: its share of the 16 queries for a page of 100 jobs.
_LISTED: Final = 32 / 100

#: Read units for a job that the audit looks at: its timer, in an item of its own or in a pack, and the
#: records of its runs of the week.
AUDIT_READS: Final = _LISTED + 1.0 + 1.0

#: Units for a job that is rebuilt, whose revision is the only one that owes something: its timer, and the
#: records of its runs of a day.
REBUILD_WRITES: Final = 1.0
REBUILD_READS: Final = _LISTED + 1.0

#: Units of a check that shares none of them with another. Written: the timer. Read: the page of timers, and
#: the records at one unit for each 4 KB. The sweep reads the job for half a unit, and the delivery function
#: for one.
CHECK_WRITES: Final = 1.0
CHECK_READS: Final = 1.0 + 0.5 + 1.0 + 1.0

#: The requests of the delivery function to DynamoDB and SQS in a check, and how long each takes.
_CHECK_REQUESTS: Final = 3
_REQUEST_S: Final = 0.01

#: Write units of a call that counts its deliveries. The item of its minute takes less than 1 KB with the
#: counts of this many namespaces. Their names have 8 letters, and each has two outcomes and five classes of
#: lateness.
STATS_WRITES: Final = 1
STATS_NAMESPACES: Final = 8

#: Read units of an hour of minutes, at up to 1 KB for each of 16 partitions, and how often a console asks.
STATS_READS_OF_HOUR: Final = 240
_CONSOLE_ASKS_S: Final = 15

#: While the stack is switched off (decision 200), tick receives this many messages of a queue in each minute.
#: It sends them again and removes them, by three requests for ten of them. It goes on for old messages: each
#: message is old once in four days.
RENEWED_IN_MINUTE: Final = 100
_RENEWAL_REQUESTS: Final = 3 / 10


def batch(count: Usage) -> list[Line]:
    """The lines of a million events, of which each has this usage. The functions' time is not among them.

    Every SQS request is billed as one with a message group. Work messages have none, and they are few.
    """
    return [
        Line(WRITES, prices.WRITES, count.writes * MILLION),
        Line(READS, prices.READS, count.reads * MILLION),
        Line(SQS, prices.SQS_REQUESTS, count.sqs * MILLION),
        Line(SQS, prices.MESSAGE_GROUPS, count.sqs * MILLION),
        Line(CALLS, prices.INVOCATIONS, count.invocations * MILLION),
    ]


def flow_time(bill: Bill) -> float:
    """A million events, for the time of flow functions whose permits are all in use.

    The consumers are those of the counted batches.
    """
    seconds = flow_units.ANSWER_S / flow_units.PERMITS_OF_FUNCTION
    return prices.GB_SECOND.of(MILLION * seconds * bill.gb("Flow"))


def checks(bill: Bill) -> float:
    """A million checks that lead to no alert. The delivery function handles each alone."""
    handling, gb = bill.measured.handling, bill.gb("Deliver")
    seconds = handling.deliver_call_ms / 1_000 / gb + _CHECK_REQUESTS * _REQUEST_S
    return MILLION * (
        prices.WRITES.of(CHECK_WRITES)
        + prices.READS.of(CHECK_READS)
        # It is sent, received and acknowledged.
        + prices.SQS_REQUESTS.of(3)
        + prices.MESSAGE_GROUPS.of(3)
        + prices.INVOCATIONS.of(1)
        + prices.GB_SECOND.of(seconds * gb)
        + prices.LOGS.of(handling.log_call_bytes / prices.GB)
    )


def audit(bill: Bill) -> float:
    """A round of the audit (decision 120) over a million jobs that have few runs a week.

    Each step lasts as long as a step may, and the tick that takes it runs in any case.
    """
    return MILLION * (prices.READS.of(AUDIT_READS) + prices.GB_SECOND.of(_STEP_S * bill.gb("Tick")))


def rebuild(bill: Bill) -> float:
    """A rebuild (decision 120) of a million jobs with few runs a day. Each call lasts as long as it may."""
    return MILLION * (
        prices.WRITES.of(REBUILD_WRITES)
        + prices.READS.of(REBUILD_READS)
        + prices.INVOCATIONS.of(1 / BULK_EXAMINED_MAX)
        + prices.HTTP_API.of(1 / BULK_EXAMINED_MAX)
        + prices.GB_SECOND.of(_STEP_S * bill.gb("Api"))
    )


#: The share of a job in a step of an audit or a rebuild.
_STEP_S: Final = BULK_TIME_LIMIT_MS / 1_000 / BULK_EXAMINED_MAX


def stats(bill: Bill, case: Case) -> float:
    """What counting deliveries adds to a million triggers."""
    of_call = prices.WRITES.of(STATS_WRITES) + prices.GB_SECOND.of(_REQUEST_S * bill.gb("Deliver"))
    return MILLION * bill.polled(case).calls * of_call


def console_hour() -> float:
    """An hour in which a console shows the counts of the last hour."""
    return prices.READS.of(3_600 / _CONSOLE_ASKS_S * STATS_READS_OF_HOUR)


def kept() -> Mapping[str, float]:
    """A month of a stack that is switched off: of a queue that holds messages, and for a million of them."""
    times = MILLION * MONTH_DAYS / (MESSAGE_OLD_MS / DAY_MS)
    minutes = MONTH_DAYS * DAY_MS / MINUTE_MS
    return {
        "queue": prices.SQS_REQUESTS.of(minutes * RENEWED_IN_MINUTE * _RENEWAL_REQUESTS),
        "messages": prices.SQS_REQUESTS.of(times * _RENEWAL_REQUESTS),
    }
