"""The tables of docs/cost.md, as Markdown."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from infra.bench import prices
from infra.bill import idle, memory
from infra.bill.lines import MILLION, MONTH_S, Line, by_part, total, total_with_free_tier
from infra.bill.pollers import AWS, AWS_FULL, CORE_MB, LOCAL, Platform, poll
from infra.bill.triggers import OF_AIM, PARTS, Bill, Case, dues, eventbridge

#: Triggers a second that the page shows, and herds that are due at the beginning of each minute.
RATES: Final = (1.0, 5.0, 10.0, 20.0, 100.0, 1_000.0)
HERDS: Final = (10, 60, 1_000)

ANSWERS_S: Final = (0.05, 0.2, 2.0)

#: The aims of the design in dollars a million: a recurring webhook without history, whose consumer takes
#: 0.2 s. Its herd is one that is large enough to fill the calls.
AIMS: Final = {1.0: 3.0, 5.0: 1.6, 20.0: 0.80, 100.0: 0.55, None: 0.33}
AIM_IN_BULK: Final = 1.10
AIM_OF_HISTORY: Final = 0.65
AIM_IDLE: Final = 0.45

_CASES: Final = (*(Case(rate=rate) for rate in RATES), *(Case(herd=herd) for herd in HERDS))


def dollars(value: float) -> str:
    """Dollars as the page shows them."""
    return f"{value:.2f}"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def by_rate(bill: Bill) -> str:
    """Dollars a million of each kind of job, by rate, beside EventBridge."""
    rows: list[list[str]] = []
    for name, kind, keeps_history in (
        ("recurring, no history", "recurring", False),
        ("recurring, with history", "recurring", True),
        ("one-off, created in bulk, no history", "oneOffInBulk", False),
        ("one-off, created in bulk, with history", "oneOffInBulk", True),
        ("one-off, created singly, no history", "oneOffSingly", False),
        ("one-off, created singly, with history", "oneOffSingly", True),
    ):
        cases = (replace(each, kind=kind, keeps_history=keeps_history) for each in _CASES)
        rows.append(
            [name, *(dollars(total(bill.lines(each))) if bill.is_counted(each) else "" for each in cases)]
        )
    rows.append(["**EventBridge**", *([f"**{dollars(total(eventbridge()))}**"] * len(_CASES))])
    return table(["$ a million triggers", *map(named, _CASES)], rows)


def parts(bill: Bill) -> str:
    """Dollars a million of each part, for a recurring job without history."""
    sums = [by_part(bill.lines(each)) for each in _CASES]
    rows = [
        [part, *(dollars(each.get(part, 0)) for each in sums)]
        for part in PARTS
        if any(part in each for each in sums)
    ]
    rows.append(["**in all**", *(f"**{dollars(sum(each.values()))}**" for each in sums)])
    return table(["part", *map(named, _CASES)], rows)


def aims(bill: Bill) -> str:
    """The parts that the design's aims count, beside the aims."""
    cases = [Case(rate=rate) if rate else Case(herd=1_000) for rate in AIMS]
    found = [of_aim(bill, case) for case in cases]
    bulk = of_aim(bill, Case(kind="oneOffInBulk", herd=1_000))
    history = history_of(bill, Case(rate=100.0))
    resting = total(idle_lines(bill))
    rows = [
        *(
            [f"recurring, no history, {named(case)}", dollars(each), dollars(aim), _judged(each, aim)]
            for case, each, aim in zip(cases, found, AIMS.values(), strict=True)
        ),
        [
            "one-off created in bulk, 1,000 together",
            dollars(bulk),
            dollars(AIM_IN_BULK),
            _judged(bulk, AIM_IN_BULK),
        ],
        ["history, in addition", dollars(history), dollars(AIM_OF_HISTORY), _judged(history, AIM_OF_HISTORY)],
        [
            "a stack that does nothing, a month",
            dollars(resting),
            dollars(AIM_IDLE),
            _judged(resting, AIM_IDLE),
        ],
    ]
    return table(["", "$", "aim", ""], rows)


def of_aim(bill: Bill, case: Case) -> float:
    """Dollars a million of the parts that the design's aims count."""
    return total(line for line in bill.lines(case) if line.part in OF_AIM)


def history_of(bill: Bill, case: Case) -> float:
    """Dollars a million that a history adds, of the parts that the design's aims count."""
    return of_aim(bill, replace(case, keeps_history=True)) - of_aim(bill, case)


def _judged(value: float, aim: float) -> str:
    return "within" if round(value, 2) <= aim else "**short**"


def answers(bill: Bill) -> str:
    """Dollars a million by how long the consumer takes, for a recurring job without history."""
    rows = [
        [
            f"{answer_s:g} s",
            *(dollars(total(bill.lines(replace(each, answer_s=answer_s)))) for each in _CASES),
        ]
        for answer_s in ANSWERS_S
    ]
    return table(["the consumer takes", *map(named, _CASES)], rows)


def months(bill: Bill) -> str:
    """Dollars a month with and without free tiers, the stack's fixed part included, beside EventBridge."""
    rows = []
    for rate in (0.1, 0.5, 1.0, 5.0, 20.0, 100.0):
        triggers = rate * MONTH_S / MILLION
        ours = [*idle_lines(bill), *_times(bill.lines(Case(rate=rate)), triggers)]
        theirs = _times(eventbridge(), triggers)
        rows.append(
            [
                f"{rate:g}",
                f"{triggers:.2f}",
                dollars(total(ours)),
                dollars(total(theirs)),
                dollars(total_with_free_tier(ours)),
                dollars(total_with_free_tier(theirs)),
            ]
        )
    columns = [
        "a second",
        "million a month",
        "Sweephand",
        "EventBridge",
        "Sweephand, free tiers",
        "EventBridge, free tiers",
    ]
    return table(columns, rows)


def _times(lines: Iterable[Line], factor: float) -> list[Line]:
    return [each.times(factor) for each in lines]


def idle_lines(bill: Bill) -> list[Line]:
    """The lines of a month in which nothing fires, with the template's defaults."""
    return list(idle.lines(bill.measured, bill.template, idle.defaults(bill.template)))


def idle_table(bill: Bill) -> str:
    """The parts of a stack that does nothing."""
    sums = by_part(idle_lines(bill))
    rows = [[part, dollars(each)] for part, each in sums.items()]
    rows.append(["**in all**", f"**{dollars(sum(sums.values()))}**"])
    return table(["", "$ a month"], rows)


def idle_parameters(bill: Bill) -> str:
    """What each parameter adds to a stack that does nothing, compared with the defaults."""
    base = idle.defaults(bill.template)
    asked = {
        f"`AlarmTopicArn` is set: alarms that read {bill.template.alarm_metrics} metrics": replace(
            base, has_alarms=True
        ),
        "`SnapStart=PublishedVersions`: "
        + " and ".join(f"`{name.lower()}`" for name in bill.template.snapshots): replace(
            base, has_snapshots=True
        ),
        "`ShardCount=4`": replace(base, shards=4),
        "`LogRetentionDays=365`": replace(base, log_days=365),
        "another queue that Lambda polls, if a later version has one": replace(base, queues=base.queues + 1),
        "an event source without `MaximumConcurrency`, for which Lambda may poll with two": replace(
            base, pollers=idle.POLLERS_MIN
        ),
    }
    before = total(idle_lines(bill))
    rows = [
        [name, f"{total(idle.lines(bill.measured, bill.template, each)) - before:+.2f}"]
        for name, each in asked.items()
    ]
    return table(["parameter", "$ a month"], rows)


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
    return table(columns, rows)


def pollers(bill: Bill) -> str:
    """What the model says of AWS's pollers, and how much the unknown sharing of messages matters."""

    def of(case: Case, platform: Platform) -> list[str]:
        polled = bill.polled(case, platform)
        return [f"{polled.calls:.4f}", f"{polled.billed_s:.3f}"]

    rows = [
        [
            named(case),
            f"{1 / bill.polled(case).messages:.1f}",
            *of(case, AWS),
            *of(case, AWS_FULL),
            str(bill.polled(case).at_once),
        ]
        for case in _CASES
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
    return table(columns, rows)


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

    rows = [[f"`{each}`", *(dollars(asked(case, each)) for case in _CASES)] for each in (0, 1, 2)]
    return table(["`BundleSeconds`", *map(named, _CASES)], rows)


def counts(bill: Bill) -> str:
    """What was counted on DynamoDB Local."""
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
    return table(columns, rows)


def memories(bill: Bill) -> str:
    """The delivery function's memory: dollars a million and lateness."""
    rows = [
        [
            named(each.case),
            f"{each.memory_mb:,}",
            dollars(each.dollars),
            f"{each.late_p50_ms:,.0f}",
            f"{each.late_p99_ms:,.0f}",
        ]
        for each in memory.delivery(bill)
    ]
    return table(["triggers", "MB", "$ a million, time alone", "p50 lateness, ms", "p99, ms"], rows)


def other_memories(bill: Bill) -> str:
    """The memory of tick, sweep and API."""
    rows = [
        [
            f"{each.memory_mb:,}",
            dollars(each.idle_dollars),
            f"{each.dollars:.3f}",
            f"{each.minute_s:.1f}",
            dollars(each.put_dollars),
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
    return table(columns, rows)


def price_list() -> str:
    """Each price with its source."""
    rows = [
        [
            each.what,
            f"{each.dollars:.10f}".rstrip("0").rstrip(".") if each.dollars < 0.001 else dollars(each.dollars),  # noqa: PLR2004 - a GB-second
            ("a million " if each.each == MILLION else "each of ") + each.unit,
            f"{each.free:,.0f}" if each.free else "",
            each.source,
            each.quoted or "not compared",
        ]
        for each in prices.ALL
    ]
    return table(["", "$", "for", "free each month", "AWS's page", "compared with"], rows)


def named(case: Case) -> str:
    """The rate of a case, or its herd, as the page names it."""
    return f"{case.rate:,g} a second" if case.rate else f"{case.herd:,} together"
