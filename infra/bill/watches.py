"""What a million checks of watches cost (decision 110).

tests/unit/bill/test_watches.py counts the requests of a check.
"""

from typing import Final, NamedTuple

from infra.bench import prices
from infra.bill.lines import MILLION, MONTH_MINUTES, Line, total
from infra.bill.tables import dollars
from infra.bill.triggers import CALLS, DELIVERY, LOGS, READS, SQS, WRITES, Bill


class CheckCount(NamedTuple):
    """The requests of one check that shares none of them with another.

    `writes` are write units: the timer. `reads` are read units: the page of timers and the records at one
    unit for each 4 KB, the job eventually consistent by the sweep (half a unit), and strongly by the delivery
    function. `messages` are sent, received and acknowledged.
    """

    writes: float = 1.0
    reads: float = 1.0 + 0.5 + 1.0 + 1.0
    messages: float = 1.0


COUNT: Final = CheckCount()

#: The requests of the delivery function to DynamoDB and SQS in one check, and how long each takes.
_REQUESTS: Final = 3
_REQUEST_S: Final = 0.01


def lines(bill: Bill) -> list[Line]:
    """The lines of a million checks that lead to no alert. The delivery function handles each alone."""
    handling, gb = bill.measured.handling, bill.template.memory_mb("Deliver") / 1024
    requests = 3 * COUNT.messages
    seconds = handling.deliver_call_ms / 1_000 / gb + _REQUESTS * _REQUEST_S
    of_check = [
        Line(WRITES, prices.WRITES, COUNT.writes),
        Line(READS, prices.READS, COUNT.reads),
        Line(SQS, prices.SQS_REQUESTS, requests),
        Line(SQS, prices.MESSAGE_GROUPS, requests),
        Line(CALLS, prices.INVOCATIONS, COUNT.messages),
        Line(DELIVERY, prices.GB_SECOND, seconds * gb),
        Line(LOGS, prices.LOGS, handling.log_call_bytes / 1024**3),
    ]
    return [each.times(MILLION) for each in of_check]


def month(bill: Bill, minutes: float) -> str:
    """Dollars a month of a watch that checks once in so many minutes."""
    return dollars(total(lines(bill)) * MONTH_MINUTES / minutes / MILLION)
