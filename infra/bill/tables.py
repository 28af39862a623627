"""The tables of docs/cost.md that show dollars, as Markdown."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from infra.bill import idle
from infra.bill.lines import MILLION, MONTH_S, Line, by_part, total, total_with_free_tier
from infra.bill.triggers import OF_AIM, PARTS, Bill, Case, eventbridge, scheduler

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

#: Every case that has a column.
CASES: Final = (*(Case(rate=rate) for rate in RATES), *(Case(herd=herd) for herd in HERDS))


def dollars(value: float) -> str:
    """Dollars as the page shows them."""
    return f"{value:.2f}"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def by_rate(bill: Bill) -> str:
    """Dollars a million of each kind of job and of EventBridge, by rate."""
    rows: list[list[str]] = []
    for name, kind in (
        ("recurring", "recurring"),
        ("one-off, created in bulk", "oneOffInBulk"),
        ("one-off, created singly", "oneOffSingly"),
    ):
        for keeps_history in (True, False):
            cases = (replace(each, kind=kind, keeps_history=keeps_history) for each in CASES)
            row = (dollars(total(bill.lines(each))) if bill.is_counted(each) else "" for each in cases)
            rows.append([name if keeps_history else f"{name}, no history", *row])
    for name, lines in (("to a webhook", eventbridge()), ("to Lambda or SQS", scheduler())):
        rows.append([f"**EventBridge, {name}**", *([f"**{dollars(total(lines))}**"] * len(CASES))])
    return table(["$ a million triggers", *map(named, CASES)], rows)


def parts(bill: Bill) -> str:
    """Dollars a million of each part, for a recurring job."""
    sums = [by_part(bill.lines(replace(each, keeps_history=True))) for each in CASES]
    rows = [
        [part, *(dollars(each.get(part, 0)) for each in sums)]
        for part in PARTS
        if any(part in each for each in sums)
    ]
    rows.append(["**in all**", *(f"**{dollars(sum(each.values()))}**" for each in sums)])
    return table(["part", *map(named, CASES)], rows)


def aims(bill: Bill) -> str:
    """The dollars of the parts that the design's aims count, and the aims."""
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
    """Dollars a million by how long the consumer takes, for a recurring job."""
    kept = [replace(each, keeps_history=True) for each in CASES]
    rows = [
        [f"{answer_s:g} s", *(dollars(total(bill.lines(replace(each, answer_s=answer_s)))) for each in kept)]
        for answer_s in ANSWERS_S
    ]
    return table(["the consumer takes", *map(named, CASES)], rows)


#: The rates of the table of months, triggers a second.
MONTHLY: Final = (0.1, 0.5, 1.0, 5.0, 20.0, 100.0)


def month(bill: Bill, rate: float, *, keeps_history: bool = True) -> list[Line]:
    """The lines of a month of a stack whose recurring triggers fire that often a second."""
    triggers = rate * MONTH_S / MILLION
    return [*idle_lines(bill), *_times(bill.lines(Case(rate=rate, keeps_history=keeps_history)), triggers)]


def months(bill: Bill) -> str:
    """Dollars a month of a stack and of EventBridge, with and without free tiers."""
    rows = []
    for rate in MONTHLY:
        triggers = rate * MONTH_S / MILLION
        ours, webhook = month(bill, rate), _times(eventbridge(), triggers)
        sums = (
            total(ours),
            total(month(bill, rate, keeps_history=False)),
            total(webhook),
            total(_times(scheduler(), triggers)),
            total_with_free_tier(ours),
            total_with_free_tier(webhook),
        )
        rows.append([f"{rate:g}", f"{triggers:.2f}", *map(dollars, sums)])
    columns = [
        "a second",
        "million a month",
        "Sweephand",
        "Sweephand, no history",
        "EventBridge, to a webhook",
        "EventBridge, to Lambda or SQS",
        "Sweephand, free tiers",
        "EventBridge, to a webhook, free tiers",
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
        "`PriorityLanes=on`: two more queues that Lambda polls": replace(base, queues=base.queues + 2),
        "`Enabled=false`: the stack is switched off": replace(base, is_enabled=False),
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


def named(case: Case) -> str:
    """The rate of a case, or its herd, as the page names it."""
    return f"{case.rate:,g} a second" if case.rate else f"{case.herd:,} together"
