"""The figures of docs/cost.md, by their names in cost.md beside this module."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from infra.bench import flow_units
from infra.calculator import chores

from sweephand_engine.costs import bill as bills
from sweephand_engine.costs import prices
from sweephand_engine.costs.bill import METRICS, PARTS, Bill, Case, eventbridge, scheduler
from sweephand_engine.costs.prices import MILLION, MONTH_MINUTES, MONTH_S, by_part, total

#: Every case that has a column: triggers a second, and herds that are due at the beginning of each minute.
CASES: Final = (
    *(Case(rate=rate) for rate in (1.0, 5.0, 20.0, 100.0)),
    *(Case(herd=herd) for herd in (10, 1_000)),
)

#: Besides 0.2 s, after which a consumer of the page answers.
_ANSWERS_S: Final = (0.05, 2.0)

#: The rates of the table of months, and those of the plot. Triggers a second.
_MONTHLY: Final = (0.1, 1.0, 5.0, 20.0, 100.0)
_PLOTTED: Final = (0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 100.0)
_HERDS_COUNTED: Final = (1, 3, 10, 60, 1_000)

#: The conditions of alarms that need another parameter than the topic.
_OTHER_ALARMS: Final = ("HasValveAlarm", "HasLaneAlarms", "HasFlowAlarms")

#: Whose dates the page shows.
_PARTS_MEASURED: Final = ("counts", "idle", "handling", "batches")

#: The kinds of jobs whose price the page shows, and whether they keep a history.
_PRICED: Final = (
    ("recurring", True),
    ("recurring", False),
    ("oneOffInBulk", True),
    ("oneOffSingly", True),
)

_KINDS: Final = {
    "recurring": "recurring",
    "oneOffInBulk": "one-off, created in bulk",
    "oneOffSingly": "one-off, created singly",
}


def figures(bill: Bill) -> dict[str, Any]:
    """What stands in the braces of cost.md, and in those of the sentences on other pages."""
    measured, template = bill.measured, bill.template
    kept, plain = Case(rate=100.0, keeps_history=True), Case(rate=100.0)
    idle, webhook, checks = total(bill.idle()), total(eventbridge()), chores.checks(bill)
    alarms, queues = _added(bill, has_alarms=True), bills.defaults(template).queues
    without_metrics = [each for each in PARTS if each != METRICS]
    return {
        "measured": measured,
        "bills": bills,
        "prices": prices,
        "memory": {each: template.memory_mb(each) for each in ("Deliver", "Tick", "Sweep", "Api", "Flow")},
        "measured_on": ", ".join(sorted({measured.when[each] for each in _PARTS_MEASURED})),
        "cases": " | ".join(map(str, CASES)),
        "ruler": "---|" * len(CASES),
        "by_rate": _table(_by_rate(bill)),
        "parts": _table(_parts(bill)),
        "answers": _table(_answers(bill)),
        "months": _table(_months(bill)),
        "batches": _table(_batches(bill)),
        "idle_parts": _table(_row(part, [dollars]) for part, dollars in by_part(bill.idle()).items()),
        "idle_parameters": _table(_idle_parameters(bill)),
        "price_list": _table(_prices()),
        "stats": _row("`Stats=on` adds", (chores.stats(bill, each) for each in CASES)),
        "plotted": ", ".join(f'"{rate:g}"' for rate in _PLOTTED),
        "plot_kept": _series(bill.dollars(Case(rate=rate, keeps_history=True)) for rate in _PLOTTED),
        "plot_plain": _series(bill.dollars(Case(rate=rate)) for rate in _PLOTTED),
        "plot_eventbridge": _series([webhook] * len(_PLOTTED)),
        "plot_scheduler": _series([total(scheduler())] * len(_PLOTTED)),
        "eventbridge": webhook,
        "scheduler": total(scheduler()),
        "idle": idle,
        "alarms": alarms,
        "idle_with_alarms": idle + alarms,
        "alarms_of": {each: prices.ALARMS.of(template.alarm_metrics(each)) for each in _OTHER_ALARMS},
        "queues": [_added(bill, queues=queues + more) for more in (1, 2, 3, 4)],
        "snapshots": _added(bill, has_snapshots=True),
        "month": month(bill, 100.0),
        "history": bill.dollars(kept) - bill.dollars(plain),
        "cheaper_from": cheaper_from(bill),
        "cheaper_from_with_idle": cheaper_from(bill, with_idle=True),
        "cheaper_from_without_history": cheaper_from(bill, keeps_history=False),
        "cheaper_than_scheduler": _rate(cheaper_from(bill, to_webhook=False)),
        "cheaper_than_scheduler_plain": _rate(cheaper_from(bill, keeps_history=False, to_webhook=False)),
        "cheaper_together": _cheaper_together(bill, PARTS),
        "cheaper_together_without_history": _cheaper_together(bill, PARTS, keeps_history=False),
        "cheaper_together_without_metrics": _cheaper_together(bill, without_metrics),
        "flow_units": flow_units,
        "flow_time": chores.flow_time(bill),
        "checks": checks,
        "watch_month": checks * MONTH_MINUTES / MILLION,
        "watch_month_of_hours": checks * MONTH_MINUTES / 6 / MILLION,
        "audit": chores.audit(bill),
        "rebuild": chores.rebuild(bill),
        "stats_hour": chores.console_hour(),
        "kept": chores.kept(),
        # These are on other pages alone.
        "metrics": {count: count * prices.METRICS.dollars for count in (1, 2, 8)},
        "metric_hour": prices.METRICS.dollars / prices.MONTH_HOURS,
        "poller": prices.POLLER_HOUR * prices.MONTH_HOURS,
        "read_thousand_jobs": prices.READS.of(250),
        "stats_at_20": chores.stats(bill, Case(rate=20.0)),
        # A million items of 3, 20 and 256 KB: a write unit for each KB, with keys.
        "writes": {units: _cents(prices.WRITES.of(MILLION * units)) for units in (1, 4, 21, 257)},
    }


def _cents(value: float) -> float:
    """Dollars, with half a cent rounded up."""
    return int(value * 100 + 0.5) / 100


def _table(rows: Iterable[str]) -> str:
    return "\n".join(rows)


def _row(name: str, values: Iterable[float]) -> str:
    """A row of a table: a name, and dollars."""
    return f"| {name} | {' | '.join(f'{each:.2f}' for each in values)} |"


def _series(values: Iterable[float]) -> str:
    return ", ".join(f"{each:.2f}" for each in values)


def _by_rate(bill: Bill) -> Iterator[str]:
    """Dollars a million of each kind of job, by rate."""
    for kind, keeps_history in _PRICED:
        cases = (replace(each, kind=kind, keeps_history=keeps_history) for each in CASES)
        cells = (f"{bill.dollars(each):.2f}" if bill.is_counted(each) else "" for each in cases)
        yield f"| {_KINDS[kind]}{'' if keeps_history else ', no history'} | {' | '.join(cells)} |"


def _parts(bill: Bill) -> Iterator[str]:
    """Dollars a million of each part, for a recurring job."""
    kept = [replace(each, keeps_history=True) for each in CASES]
    sums = [by_part(bill.lines(each)) for each in kept]
    for part in PARTS:
        if part in sums[0]:
            yield _row(part, (each[part] for each in sums))
    yield "| **in all** |" + "".join(f" **{bill.dollars(each):.2f}** |" for each in kept)


def _answers(bill: Bill) -> Iterator[str]:
    """Dollars a million by how long the consumer takes, for a recurring job."""
    for answer_s in _ANSWERS_S:
        cases = (replace(each, keeps_history=True, answer_s=answer_s) for each in CASES)
        yield _row(f"in all, answers after {answer_s:g} s", map(bill.dollars, cases))


def month(bill: Bill, rate: float) -> list[float]:
    """Dollars of a month with so many recurring triggers a second: of Sweephand, and of EventBridge."""
    triggers = rate * MONTH_S / MILLION

    def times(lines: Iterable[prices.Line]) -> list[prices.Line]:
        return [each.times(triggers) for each in lines]

    ours = [*bill.idle(), *times(bill.lines(Case(rate=rate, keeps_history=True)))]
    plain = [*bill.idle(), *times(bill.lines(Case(rate=rate)))]
    webhook, direct = times(eventbridge()), times(scheduler())
    free = prices.total_with_free_tier(ours), prices.total_with_free_tier(webhook)
    return [total(ours), total(plain), total(webhook), total(direct), *free]


def _months(bill: Bill) -> Iterator[str]:
    for rate in _MONTHLY:
        ours, plain, webhook, _, *free = month(bill, rate)
        yield _row(f"{rate:g} | {rate * MONTH_S / MILLION:.2f}", [ours, plain, webhook, *free])


def _batches(bill: Bill) -> Iterator[str]:
    """Dollars a million events, and the units of an event."""
    for each in bill.measured.batches:
        policy = "no policy" if each.limit is None else f"`maxConcurrent` {each.limit}"
        units = (each.writes, each.reads, each.sqs, each.invocations)
        dollars = f"| {policy}, {each.spread} | **{total(chores.batch(each)):.2f}** |"
        yield dollars + "".join(f" {unit:.3f} |" for unit in units)


def _added(bill: Bill, **changes: Any) -> float:
    """What some parameters add to a month of a stack that does nothing."""
    changed = replace(bills.defaults(bill.template), **changes)
    return total(bill.idle(changed)) - total(bill.idle())


def _idle_parameters(bill: Bill) -> Iterator[str]:
    """What each parameter adds to a stack that does nothing, compared with the defaults."""
    snapshots = " and ".join(f"`{name.lower()}`" for name in bill.template.snapshots)
    metrics, queues = bill.template.alarm_metrics(), bills.defaults(bill.template).queues
    changes: tuple[tuple[str, dict[str, Any]], ...] = (
        (f"`AlarmTopicArn` is set: alarms that read {metrics} metrics", {"has_alarms": True}),
        (f"`SnapStart=PublishedVersions`: {snapshots}", {"has_snapshots": True}),
        ("`ShardCount=4`", {"shards": 4}),
        ("`Enabled=false`: the stack is switched off", {"is_enabled": False}),
        ("`LogRetentionDays=365`", {"log_days": 365}),
        (
            "`PriorityLanes=on` or `FlowPolicies=on`: two more queues that Lambda polls",
            {"queues": queues + 2},
        ),
        (
            "an event source without `MaximumConcurrency`, for which Lambda may poll with two",
            {"pollers": bills.POLLERS_MIN},
        ),
    )
    for name, changed in changes:
        yield f"| {name} | {_added(bill, **changed):+.2f} |"


def _prices() -> Iterator[str]:
    """Each price with all its digits, two at least."""
    for each in prices.ALL:
        digits = max(f"{each.dollars:.10f}".rstrip("0"), f"{each.dollars:.2f}", key=len)
        unit = f"a million {each.unit}" if each.each == MILLION else f"a {each.unit}"
        free = f", {each.free:,.0f} free" if each.free else ""
        yield f"- {each.what}: {digits} {unit}{free}"


def _rate(rate: float) -> str:
    """A rate from which on something holds."""
    return "at no rate" if rate == math.inf else f"from {rate:.0f} triggers a second on"


def cheaper_from(
    bill: Bill, *, keeps_history: bool = True, with_idle: bool = False, to_webhook: bool = True
) -> float:
    """The rate from which a million recurring triggers cost less than EventBridge asks; infinite if at none.

    EventBridge calls a webhook, or starts a Lambda function. Between two counted rates, the price is taken to
    follow the logarithm of the rate.
    """

    def price(rate: float) -> float:
        fixed = total(bill.idle()) / (rate * MONTH_S / MILLION) if with_idle else 0
        return bill.dollars(Case(rate=rate, keeps_history=keeps_history)) + fixed

    return _crossing(bill.measured.rates(), price, total(eventbridge() if to_webhook else scheduler()))


def _cheaper_together(bill: Bill, parts: Sequence[str], *, keeps_history: bool = True) -> int:
    """How many triggers must fall due together for those parts to cost less than EventBridge asks."""

    def price(herd: float) -> float:
        return bill.dollars(Case(herd=int(herd), keeps_history=keeps_history), parts)

    return math.ceil(_crossing(_HERDS_COUNTED, price, total(eventbridge())))


def _crossing(points: Sequence[float], price: Callable[[float], float], limit: float) -> float:
    before: tuple[float, float] | None = None
    for point in points:
        asked = price(point)
        if asked <= limit:
            if before is None:
                return point
            low, high = math.log(before[0]), math.log(point)
            share = (before[1] - limit) / (before[1] - asked)
            return math.exp(low + share * (high - low))
        before = point, asked
    return math.inf
