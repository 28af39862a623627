"""What a rebuild of a million jobs costs (decision 120).

tests/unit/bill/test_rebuilds.py counts the requests for a page of jobs.
"""

from typing import Final, NamedTuple

from infra.bench import prices
from infra.bill.lines import MILLION, Line
from infra.bill.triggers import CALLS, READS, WRITES, Bill

from sweephand.base.limits import BULK_EXAMINED_MAX
from sweephand.base.timing import BULK_TIME_LIMIT_MS

#: Runs of which one read unit reads the records.
RUNS_A_READ: Final = 10


class RebuildCount(NamedTuple):
    """The requests for one job of many, whose revision is the only one that owes something.

    `writes` are write units: the timer. `reads` are read units: a share of the 16 queries for a page of 100
    jobs, and the records of the job's runs of a day.
    """

    writes: float = 1.0
    reads: float = 32 / 100 + 1.0


COUNT: Final = RebuildCount()

_API_TIME: Final = "Lambda time, api"


def lines(bill: Bill) -> list[Line]:
    """The lines of a rebuild of a million jobs that have few runs a day.

    Each call lasts as long as a call may.
    """
    calls, seconds = 1 / BULK_EXAMINED_MAX, BULK_TIME_LIMIT_MS / 1_000 / BULK_EXAMINED_MAX
    of_job = [
        Line(WRITES, prices.WRITES, COUNT.writes),
        Line(READS, prices.READS, COUNT.reads),
        Line(CALLS, prices.INVOCATIONS, calls),
        Line(CALLS, prices.HTTP_API, calls),
        Line(_API_TIME, prices.GB_SECOND, seconds * bill.template.memory_mb("Api") / 1024),
    ]
    return [each.times(MILLION) for each in of_job]
