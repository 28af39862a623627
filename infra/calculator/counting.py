"""Counting what triggers use: true DynamoDB units, SQS messages and stored bytes, on DynamoDB Local."""

from collections.abc import Mapping
from typing import Any, Final

from infra import dynamodb_local
from infra.bench import cost, flow_units
from infra.bench.cost import Case
from infra.bench.meter import Usage
from infra.calculator.measured import BatchCount, Count, IdleMinute

#: Triggers a second. At higher rates the units of a trigger stay the same: what is counted once for each
#: minute no longer matters.
_RATES: Final = (0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 100.0)
_RATES_OF_OTHERS: Final = (1.0, 5.0, 20.0, 100.0)

#: Triggers that fall due together: at the beginning of each minute, and once.
_HERDS: Final = (1, 3, 10, 60, 1_000)
_ONE_OFFS: Final = 1_000

_CASES: Final = (
    *(Case("recurring", None, herd) for herd in _HERDS),
    *(Case("recurring", rate, round(60 * rate)) for rate in _RATES),
    *(
        Case(kind, rate, round(60 * rate))
        for kind in ("recurringWithHistory", "oneOffInBulk", "oneOffSingly")
        for rate in _RATES_OF_OTHERS
    ),
    *(Case(kind, None, _ONE_OFFS) for kind in ("oneOffInBulk", "oneOffSingly")),
)

#: Counting a case stops after about this many triggers, or after 20 minutes.
_TRIGGERS: Final = 4_000
_MINUTES: Final = 20


def counts() -> Mapping[str, Any]:
    """A count of each kind at each rate, and what a minute costs in which nothing is due."""
    with dynamodb_local.running() as url:
        idle, cpu_s = cost.count_idle(url)
        return {
            "counts": [_count(url, idle, case) for case in _CASES],
            "idle": IdleMinute(idle.writes, idle.reads, idle.invocations, round(cpu_s * 1_000, 2)),
        }


def _count(url: str, idle: Usage, case: Case) -> Count:
    found = cost.count(url, idle, case, min(_TRIGGERS, _MINUTES * case.jobs))
    triggers = found.triggers
    return Count(
        kind=case.kind,
        rate=case.rate,
        triggers=triggers,
        per_minute=triggers // (found.minutes if case.recurs else 1),
        writes=round(found.usage.writes / triggers, 4),
        reads=round(found.usage.reads / triggers, 4),
        messages=round(found.messages / triggers, 4),
        sends=round(found.sends / triggers, 4),
        jobs_bytes=round(found.jobs_bytes / triggers, 1),
        timers_bytes=round(found.timers_bytes / triggers, 1),
        sweep_cpu_ms=round(found.sweep_cpu_s * 1_000 / triggers, 4),
    )


def batches() -> Mapping[str, Any]:
    """A count for each batch of the bench of flow units: with a policy and without one."""
    return {
        "batches": [
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
    }
