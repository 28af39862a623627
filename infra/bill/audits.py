"""What a round of the audit of a million jobs costs (decision 150).

tests/unit/bill/test_audits.py counts the requests for a page of jobs.
"""

from typing import Final, NamedTuple

from infra.bench import prices
from infra.bill.lines import MILLION, Line
from infra.bill.triggers import READS, Bill

from sweephand.base.limits import BULK_EXAMINED_MAX
from sweephand.base.timing import BULK_TIME_LIMIT_MS


class AuditCount(NamedTuple):
    """The read units for one job of many that has its timer, in an item of its own or in a pack.

    `reads` are a share of the 16 queries for a page of 100 jobs, the look for the timer, and the records of
    the job's runs of the week.
    """

    reads: float = 32 / 100 + 1.0 + 1.0


COUNT: Final = AuditCount()

_TICK_TIME: Final = "Lambda time, tick"


def lines(bill: Bill) -> list[Line]:
    """The lines of a round over a million jobs that have few runs a week.

    Each step lasts as long as a step may, and the tick that takes it runs in any case.
    """
    seconds = BULK_TIME_LIMIT_MS / 1_000 / BULK_EXAMINED_MAX
    of_job = [
        Line(READS, prices.READS, COUNT.reads),
        Line(_TICK_TIME, prices.GB_SECOND, seconds * bill.template.memory_mb("Tick") / 1024),
    ]
    return [each.times(MILLION) for each in of_job]
