"""What a million events of a batch cost, under a flow policy and without one."""

from typing import Final

from infra.bench import flow_units, prices
from infra.bill.lines import MILLION, Line, by_part, total
from infra.bill.measured import BatchCount
from infra.bill.tables import dollars, table
from infra.bill.triggers import CALLS, READS, SQS, WRITES, Bill

_PARTS: Final = (WRITES, READS, SQS, CALLS)


def measure() -> list[BatchCount]:
    """Count batches of that many events, on DynamoDB Local."""
    return [
        BatchCount(
            each.limit,
            each.rate,
            each.events,
            each.usage.writes / each.events,
            each.usage.reads / each.events,
            each.usage.sqs / each.events,
            each.usage.invocations / each.events,
        )
        for each in flow_units.count(flow_units.EVENTS)
    ]


def lines(count: BatchCount) -> list[Line]:
    """The lines of a million events. The functions' time is not among them.

    Every SQS request is billed as one with a message group. Work messages have none, and they are few.
    """
    of_event = [
        Line(WRITES, prices.WRITES, count.writes),
        Line(READS, prices.READS, count.reads),
        Line(SQS, prices.SQS_REQUESTS, count.sqs),
        Line(SQS, prices.MESSAGE_GROUPS, count.sqs),
        Line(CALLS, prices.INVOCATIONS, count.invocations),
    ]
    return [each.times(MILLION) for each in of_event]


def dollars_table(bill: Bill) -> str:
    """Dollars a million events of each part, and the units of an event."""
    rows = []
    for each in bill.measured.batches:
        sums = by_part(lines(each))
        rows.append(
            [
                _named(each),
                f"**{dollars(total(lines(each)))}**",
                *(dollars(sums[part]) for part in _PARTS),
                f"{each.writes:.3f}",
                f"{each.reads:.3f}",
                f"{each.sqs:.3f}",
                f"{each.invocations:.3f}",
            ]
        )
    return table(["$ a million events", "in all", *_PARTS, "WRU an event", "RRU", "requests", "calls"], rows)


def flow_time(bill: Bill) -> float:
    """Dollars a million events for the time of flow functions whose permits are all in use.

    The consumers are those of the counted batches.
    """
    seconds = flow_units.ANSWER_S / flow_units.PERMITS_OF_FUNCTION
    return prices.GB_SECOND.of(MILLION * seconds * bill.template.memory_mb("Flow") / 1024)


def _named(count: BatchCount) -> str:
    policy = "no policy" if count.limit is None else f"`maxConcurrent` {count.limit}"
    return f"{policy}, {'at once' if count.rate is None else f'over {count.events / count.rate:.0f} s'}"
