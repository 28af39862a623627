"""The table of what batches under flow policies did."""

import os
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from infra.bench.punctuality import Punctuality
from infra.bench.report import OVER, Report

if TYPE_CHECKING:
    from infra.bench.flow import Measured

#: The least mean use of a limit while work waits.
_USE_MIN: Final = 0.9

_COLUMNS: Final = (
    "batch",
    "events",
    "limit",
    "lost",
    "twice",
    "early",
    "most open",
    "use",
    "waited s",
    "took s",
    "gap ms",
    "p50 ms",
    "p99 ms",
    "others p50",
    "p99 ms",
    "lost",
    "CPU ms",
)


def report(measured: Sequence["Measured"], before: Punctuality, loads: Sequence[float]) -> Report:
    """The report. `before` is the punctuality of the other jobs without a batch."""
    shown = ", ".join(f"{load:.1f}" for load in loads)
    cut = [each.plan.name for each in measured if each.cut]
    return Report(
        title=f"Flow, on the local stack, {os.cpu_count()} cores, load {shown}",
        columns=_COLUMNS,
        rows=[("none", *[""] * 12, *_others(before), ""), *map(_row, measured)],
        figures={
            "batches": {
                each.plan.name: {
                    **asdict(each.plan),
                    **asdict(each.figures),
                    "others": asdict(each.others),
                    "cpuMs": round(each.cpu_ms, 2),
                    "isCut": each.cut,
                }
                for each in measured
            },
            "othersBefore": asdict(before),
            "loads": [round(load, 2) for load in loads],
        },
        is_within=before.lost == 0 and all(map(_is_within, measured)),
        notes=(
            "Gap: longest time without an event. p50, p99: distance from plan. Use: mean share of the limit",
            "while at least two events for each permit were due and had not come, which was so for `waited`.",
            "Others: jobs that fire every second, in another namespace. CPU: the local AWS's for each event.",
            "The functions' concurrency is above what the limits need, so FlowConcurrency is no bound here.",
            "The local AWS, the functions, the consumers and all other programs share this machine's cores.",
            *(f"{name} was not over when the bench stopped waiting for it." for name in cut),
        ),
    )


def _is_within(measured: "Measured") -> bool:
    found, limit = measured.figures, measured.plan.limit
    is_bounded = limit is None or found.most_open <= limit
    is_used = found.use is None or found.use.mean is None or found.use.mean >= _USE_MIN
    return is_bounded and is_used and not (found.lost or found.twice or found.early or measured.others.lost)


def _row(measured: "Measured") -> Sequence[str]:
    plan, found = measured.plan, measured.figures
    is_over = plan.limit is not None and found.most_open > plan.limit
    use, waited = "", ""
    if found.use is not None and found.use.mean is not None:
        use = f"{'' if found.use.mean >= _USE_MIN else OVER}{found.use.mean:.1%}"
        waited = f"{found.use.seconds:.1f}"
    return (
        plan.name,
        str(plan.events),
        "" if plan.limit is None else str(plan.limit),
        _none(found.lost),
        _none(found.twice),
        _none(found.early),
        f"{OVER if is_over else ''}{found.most_open}",
        use,
        waited,
        f"{found.took_ms / 1_000:.1f}",
        str(found.gap_ms),
        str(found.p50_ms),
        str(found.p99_ms),
        *_others(measured.others),
        f"{measured.cpu_ms:.1f}",
    )


def _others(others: Punctuality) -> Sequence[str]:
    return str(others.p50_ms), str(others.p99_ms), _none(others.lost)


def _none(count: int) -> str:
    """A count that has to be 0."""
    return f"{OVER if count else ''}{count}"
