"""The tables of docs/cost.md with the evidence: counts, models compared with measurements, prices."""

import math

from infra.bench import prices
from infra.bill import memory, tables
from infra.bill.lines import MILLION
from infra.bill.pollers import AWS, AWS_FULL, CORE_MB, LOCAL, Platform, poll
from infra.bill.triggers import Bill, Case, dues


def fill(bill: Bill) -> str:
    """Calls and billed seconds of a trigger: on the local stack, and by the model of its poller."""
    rows = []
    for each in bill.measured.fills:
        case = Case(rate=each.rate, herd=0 if each.rate else each.triggers)
        # Here each function has a core, as long as others leave it one.
        modelled = bill.polled(case, LOCAL, CORE_MB)
        rows.append(
            [
                f"{each.rate:g} a second" if each.rate else f"{each.triggers:,} together",
                f"{each.triggers:,}",
                f"{each.calls / each.triggers:.4f}",
                f"{modelled.calls:.4f}",
                f"{each.billed_s / each.triggers:.3f}",
                f"{modelled.billed_s:.3f}",
            ]
        )
    columns = [
        "rate",
        "triggers",
        "calls of each: local stack",
        "model",
        "billed s of each: local stack",
        "model",
    ]
    return tables.table(columns, rows)


def pollers(bill: Bill) -> str:
    """The results of the model for AWS's pollers, and how much the unknown sharing of messages matters."""

    def of(case: Case, platform: Platform) -> list[str]:
        polled = bill.polled(case, platform)
        return [f"{polled.calls:.4f}", f"{polled.billed_s:.3f}"]

    rows = [
        [
            tables.named(case),
            f"{1 / bill.polled(case).messages:.1f}",
            *of(case, AWS),
            *of(case, AWS_FULL),
            str(bill.polled(case).at_once),
        ]
        for case in tables.CASES
    ]
    columns = [
        "",
        "triggers to a message",
        "calls",
        "billed s",
        "calls, full",
        "billed s, full",
        "calls at once",
    ]
    return tables.table(columns, rows)


def bundle_seconds(bill: Bill) -> str:
    """Dollars a million for SQS, calls and the delivery function's time, by `BundleSeconds`."""

    def asked(case: Case, seconds: int) -> float:
        memory_mb = bill.template.memory_mb("Deliver")
        polled = poll(dues(case), seconds, bill.work(case, memory_mb))
        return MILLION * (
            prices.SQS_REQUESTS.of(polled.messages / 10 + 2 * polled.calls)
            + prices.INVOCATIONS.of(polled.calls)
            + prices.GB_SECOND.of(polled.billed_s * memory_mb / 1024)
        )

    rows = [
        [f"`{each}`", *(tables.dollars(asked(case, each)) for case in tables.CASES)] for each in (0, 1, 2)
    ]
    return tables.table(["`BundleSeconds`", *map(tables.named, tables.CASES)], rows)


def counts(bill: Bill) -> str:
    """The table of the units that were counted on DynamoDB Local."""
    names = {
        "recurring": "recurring",
        "recurringWithHistory": "recurring, with history",
        "oneOffInBulk": "one-off, in bulk",
        "oneOffSingly": "one-off, singly",
    }
    rows = [
        [
            names[each.kind],
            f"{each.rate:g} a second" if each.rate else f"{each.per_minute:,} together",
            f"{each.triggers:,}",
            f"{each.writes:.2f}",
            f"{each.reads:.2f}",
            f"{1 / each.messages:.1f}",
            f"{each.sends:.3f}",
            f"{each.timers_bytes:.0f}",
            f"{each.sweep_cpu_ms:.2f}",
        ]
        for each in sorted(
            bill.measured.counts,
            key=lambda each: (list(names).index(each.kind), each.rate or math.inf, each.per_minute),
        )
    ]
    columns = [
        "kind",
        "rate",
        "triggers",
        "WRU",
        "RRU",
        "triggers to a message",
        "SQS sends",
        "bytes of timers",
        "sweep, CPU ms",
    ]
    return tables.table(columns, rows)


def memories(bill: Bill) -> str:
    """The delivery function's memory: dollars a million and lateness."""
    rows = [
        [
            tables.named(each.case),
            f"{each.memory_mb:,}",
            tables.dollars(each.dollars),
            f"{each.late_p50_ms:,.0f}",
            f"{each.late_p99_ms:,.0f}",
        ]
        for each in memory.delivery(bill)
    ]
    return tables.table(["triggers", "MB", "$ a million, time alone", "p50 lateness, ms", "p99, ms"], rows)


def other_memories(bill: Bill) -> str:
    """The memory of tick, sweep and API."""
    rows = [
        [
            f"{each.memory_mb:,}",
            tables.dollars(each.idle_dollars),
            f"{each.dollars:.3f}",
            f"{each.minute_s:.1f}",
            tables.dollars(each.put_dollars),
            f"{each.put_ms:.0f}",
        ]
        for each in memory.others(bill)
    ]
    columns = [
        "MB",
        "tick without work, $ a month",
        "sweep, $ a million triggers",
        "sweep of 20,000 triggers, s of CPU",
        "API, $ a million PUTs",
        "a PUT, ms",
    ]
    return tables.table(columns, rows)


def price_list() -> str:
    """Each price with its source."""
    rows = [
        [
            each.what,
            _price(each.dollars),
            ("a million " if each.each == MILLION else "each of ") + each.unit,
            f"{each.free:,.0f}" if each.free else "",
            each.source,
            each.quoted or "not compared",
        ]
        for each in prices.ALL
    ]
    return tables.table(["", "$", "for", "free each month", "AWS's page", "compared with"], rows)


def _price(amount: float) -> str:
    """Dollars with all their digits, and at least two."""
    digits = f"{amount:.10f}".rstrip("0")
    return max(digits, tables.dollars(amount), key=len)
