"""Counting what triggers use: true DynamoDB units, SQS messages and stored bytes, on DynamoDB Local."""

from collections.abc import Mapping
from typing import Any, Final

from infra import dynamodb_local
from infra.bench.cost import Case, count, count_idle

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
        idle = count_idle(url)
        found = [count(url, idle, each, min(_TRIGGERS, _MINUTES * each.jobs)) for each in _CASES]
    return {"counts": found, "idle": idle}
