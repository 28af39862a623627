"""The rate from which Sweephand costs less than EventBridge, and the plots that show it."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from infra.bill import tables
from infra.bill.lines import MILLION, MONTH_S, total
from infra.bill.triggers import PARTS, Bill, Case, eventbridge, scheduler

#: The rates and the herds of the plots.
PLOTTED: Final = (0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 100.0)
HERDS_COUNTED: Final = (1, 3, 10, 60, 1_000)
HERDS_PLOTTED: Final = HERDS_COUNTED[1:]

#: The upper end of the plots.
_DOLLARS_MAX: Final = 8


def plot(bill: Bill) -> str:
    """Dollars a million by rate: ours with and without history, and EventBridge's two prices."""

    def ours(case: Case) -> str:
        return tables.dollars(total(bill.lines(case)))

    cases = [Case(rate=rate) for rate in PLOTTED]
    plain = ", ".join(map(ours, cases))
    kept = ", ".join(ours(replace(each, keeps_history=True)) for each in cases)
    theirs = [", ".join([tables.dollars(total(each))] * len(cases)) for each in (eventbridge(), scheduler())]
    return _chart(
        "Dollars a million triggers, by triggers a second",
        [f"{rate:g}" for rate in PLOTTED],
        [kept, plain, *theirs],
    )


def plot_of_herds(bill: Bill) -> str:
    """Dollars a million by how many triggers are due together, and EventBridge's."""
    cases = [Case(herd=herd, keeps_history=True) for herd in HERDS_PLOTTED]
    ours = ", ".join(tables.dollars(total(bill.lines(case))) for case in cases)
    theirs = ", ".join([tables.dollars(total(eventbridge()))] * len(cases))
    return _chart(
        "Dollars a million triggers, by triggers that are due together",
        [f"{herd:,}".replace(",", " ") for herd in HERDS_PLOTTED],
        [ours, theirs],
    )


def _chart(title: str, names: Sequence[str], lines: Sequence[str]) -> str:
    axis = ", ".join(f'"{name}"' for name in names)
    drawn = "\n".join(f"    line [{line}]" for line in lines)
    return (
        f'```mermaid\nxychart-beta\n    title "{title}"\n    x-axis [{axis}]\n'
        f'    y-axis "$ a million" 0 --> {_DOLLARS_MAX}\n{drawn}\n```'
    )


def cheaper_from(
    bill: Bill, *, keeps_history: bool = True, with_idle: bool = False, to_webhook: bool = True
) -> float:
    """The rate from which a million recurring triggers cost less than EventBridge asks; infinite if at none.

    EventBridge calls a webhook, or starts a Lambda function. Between two counted rates, the price is taken to
    follow the logarithm of the rate.
    """

    def price(rate: float) -> float:
        fixed = total(tables.idle_lines(bill)) / (rate * MONTH_S / MILLION) if with_idle else 0
        return total(bill.lines(Case(rate=rate, keeps_history=keeps_history))) + fixed

    return _crossing(_counted_rates(bill), price, total(eventbridge() if to_webhook else scheduler()))


def cheaper_together_from(
    bill: Bill, *, keeps_history: bool = True, of_parts: Sequence[str] = PARTS
) -> float:
    """How many triggers must fall due together for those parts to cost less than EventBridge asks."""

    def price(herd: float) -> float:
        lines = bill.lines(Case(herd=int(herd), keeps_history=keeps_history))
        return total(line for line in lines if line.part in of_parts)

    return _crossing(HERDS_COUNTED, price, total(eventbridge()))


def _counted_rates(bill: Bill) -> list[float]:
    return sorted(each.rate for each in bill.measured.counts if each.kind == "recurring" and each.rate)


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
