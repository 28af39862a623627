"""What counting deliveries costs (decision 160).

tests/unit/bill/test_stats.py counts the requests of a call, and the bytes of an item.
"""

from typing import Final

from infra.bench import prices
from infra.bill.lines import MILLION, Line, total
from infra.bill.tables import CASES, dollars, named, table
from infra.bill.triggers import DELIVERY, READS, WRITES, Bill, Case

#: Write units of a call of the delivery function, as long as the item of its minute takes less than 1 KB.
WRITES_OF_CALL: Final = 1

#: So many namespaces with names of 8 letters fit into 1 KB, each with two outcomes and five classes of
#: lateness.
NAMESPACES_OF_UNIT: Final = 8

#: How long the write takes, while the function is billed.
_WRITE_S: Final = 0.01

#: Read units of an hour of minutes, at up to 1 KB for each of 16 partitions.
READS_OF_HOUR: Final = 240

#: The console asks once in so many seconds.
_ASKED_S: Final = 15


def lines(bill: Bill, case: Case) -> list[Line]:
    """The lines that counting adds to a million triggers."""
    calls, gb = bill.polled(case).calls, bill.template.memory_mb("Deliver") / 1024
    of_trigger = [
        Line(WRITES, prices.WRITES, calls * WRITES_OF_CALL),
        Line(DELIVERY, prices.GB_SECOND, calls * _WRITE_S * gb),
    ]
    return [each.times(MILLION) for each in of_trigger]


def by_rate(bill: Bill) -> str:
    """Dollars that counting adds to a million triggers, by rate."""
    row = ["`Stats=on`", *(dollars(total(lines(bill, each))) for each in CASES)]
    return table(["$ a million triggers", *map(named, CASES)], [row])


def console_hour() -> str:
    """Dollars of an hour in which a console shows the last hour."""
    asked = 3_600 / _ASKED_S
    return f"{total([Line(READS, prices.READS, asked * READS_OF_HOUR)]):.4f}"
