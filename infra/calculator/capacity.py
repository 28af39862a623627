"""The figures of docs/capacity.md, by their names in capacity.md beside this module."""

import random
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

from infra.calculator import needs

from sweephand.storage.jobs import LISTING_SHARDS
from sweephand_engine.costs import pollers, prices, quotas
from sweephand_engine.costs.measured import Measured
from sweephand_engine.costs.pollers import CALL_TRIGGERS, Pollers, Work, herd_late_s, provisioned, standard
from sweephand_engine.costs.template import Template

#: Kinds of work of infra/bench/sweeper.py.
RECURRING: Final = "recurring, in packs"
ONE_OFF: Final = "one-off, a timer each"

_MINUTELY: Final = (10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)

#: Rates whose lateness the page shows, and the seconds that the model plays.
_LATE_MINUTELY: Final = (1_000, 10_000, 100_000)
_PLAYED_S: Final = 60

_HERDS: Final = (100, 1_000, 10_000, 100_000, 1_000_000)
_PLOTTED_HERDS: Final = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
_CONCURRENCIES: Final = (5, 50, 500)
_POLLERS: Final = (2, 20, 200)
_WINDOWS_S: Final = (15, 60, 300)

#: The design's aim for a herd, and its sweepers and shards.
_HERD: Final = 100_000
_SWEEPERS: Final = 4

#: From this many seconds on a figure is in minutes, and below this many a tenth of a second is shown.
_MINUTES_FROM_S: Final = 120
_TENTHS_BELOW_S: Final = 10


def figures(measured: Measured, template: Template) -> dict[str, Any]:
    """What stands in the braces of capacity.md."""
    work = needs.delivery(measured, template.memory_mb("Deliver"))
    sweeper = needs.sweeper_per_s(measured, RECURRING, template.memory_mb("Sweep"))
    standard_s = [herd_late_s(each, work, standard(50)) for each in _PLOTTED_HERDS]
    provisioned_s = [herd_late_s(each, work, provisioned(20, 200)) for each in _PLOTTED_HERDS]
    return {
        "work": work,
        "sweeper_per_s": _rounded_down(sweeper),
        "function_per_s": _rounded_down(needs.function_per_s(work)),
        "namespace_per_s": _rounded_down(quotas.PARTITION_READS.value * LISTING_SHARDS / needs.JOB_READS),
        "needs": needs,
        "steady": "\n".join(_steady(sweeper, work)),
        "lateness": "\n".join(_lateness(sweeper, work, template)),
        "herds": "\n".join(_herds(work)),
        "herds_plotted": ", ".join(map(_short, _PLOTTED_HERDS)),
        "herds_max_s": needs.rounded(max(standard_s)),
        "standard_s": _series(standard_s),
        "provisioned_s": _series(provisioned_s),
        "swept": [_duration(each) for each in swept_after_s(measured, template, RECURRING)],
        "late": "\n".join(_late(work)),
        "at_first_triggers": quotas.POLLERS_AT_FIRST.value * CALL_TRIGGERS,
        "pollers": "\n".join(_pollers(work)),
        "quotas": quotas,
        "raised_quotas": "\n".join(
            f"- {each.name}: {each.value:,}" for each in quotas.ALL if each.raises == "yes"
        ),
    }


def _series(values: Iterable[float]) -> str:
    return ", ".join(f"{each:.1f}" for each in values)


def _short(number: float) -> str:
    """A number for the axis of a plot: `1m` for a million."""
    return f"{number / 1_000_000:g}m" if number >= 1_000_000 else f"{number / 1_000:g}k"  # noqa: PLR2004 - a million


def _duration(seconds: float) -> str:
    """Seconds or minutes, as precise as a model can be."""
    if seconds < _TENTHS_BELOW_S:
        return f"{seconds:.1f} s"
    return f"{seconds:.0f} s" if seconds < _MINUTES_FROM_S else f"{seconds / 60:.0f} min"


def _rounded_down(value: float) -> int:
    """The number rounded down to two digits."""
    step: int = 10 ** max(0, len(str(int(value))) - 2)
    return int(value // step * step)


def _last(herd: int, work: Work, polled: Pollers) -> str:
    """How long a herd waits for functions."""
    return _duration(herd_late_s(herd, work, polled))


def _steady(sweeper: float, work: Work) -> Iterator[str]:
    """What a steady number of triggers a minute needs."""
    for per_minute in _MINUTELY:
        each = needs.needs(per_minute, sweeper, work)
        yield (
            f"| {per_minute:,} | {each.sweepers:,} | {each.functions:,} "
            f"| {each.namespaces:,} | {each.stacks:,} | {each.raised} |"
        )


def _lateness(sweeper: float, work: Work, template: Template) -> Iterator[str]:
    """How late triggers are that are spread over their minutes."""
    call, span_s = replace(work, call_cpu_s=work.trigger_cpu_s), template.default("BundleSeconds")
    for per_minute in _LATE_MINUTELY:
        functions = needs.needs(per_minute, sweeper, work).functions
        dues = pollers.spread(per_minute / 60, _PLAYED_S, random.Random(7))  # noqa: S311 - the same each time
        found = pollers.poll(dues, span_s, call, Pollers(functions, most=functions))
        late_ms = f"{found.late_p50_s * 1_000:,.0f} ms | {found.late_p99_s * 1_000:,.0f} ms"
        yield f"| {per_minute:,} | {functions} | {late_ms} |"


def _herds(work: Work) -> Iterator[str]:
    """How long a herd waits for functions, by `DeliveryConcurrency`."""
    for herd in _HERDS:
        lasts = " | ".join(_last(herd, work, standard(each)) for each in _CONCURRENCIES)
        yield f"| {herd:,} | {lasts} |"


def swept_after_s(measured: Measured, template: Template, kind: str) -> tuple[float, float]:
    """Seconds until the design's herd of that kind is sent, usually and after an idle hour.

    One shard has one sweeper at a time.
    """
    tick = needs.sweeper_per_s(measured, RECURRING, template.memory_mb("Tick"))
    per_s = _SWEEPERS * needs.sweeper_per_s(measured, kind, template.memory_mb("Sweep"))
    return _HERD / per_s, needs.sent_after_idle_s(_HERD, per_s, tick)


def _late(work: Work) -> Iterator[str]:
    """How late the last trigger of a herd is that `jitter` spreads."""
    for window_s in _WINDOWS_S:
        late_s = [pollers.spread_late_s(_HERD, window_s, work, standard(each)) for each in _CONCURRENCIES]
        cells = (_duration(each) if each else "in time" for each in late_s)
        yield f"| {_duration(window_s)} | {' | '.join(cells)} |"


def _pollers(work: Work) -> Iterator[str]:
    """Where provisioned pollers pay."""
    for each in _POLLERS:
        functions = each * quotas.PROVISIONED_FUNCTIONS.value
        month = each * prices.POLLER_HOUR * prices.MONTH_HOURS
        lasts = " | ".join(_last(herd, work, provisioned(each, 500)) for herd in _HERDS[1:])
        yield f"| {each} | {functions:,} | {month:,.2f} | {lasts} |"
