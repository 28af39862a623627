"""The CPU time of one occurrence of ten common expressions, compared with bare croniter; and of parsing."""

import datetime as dt
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from time import process_time
from typing import Any, Final
from zoneinfo import ZoneInfo

from croniter import croniter
from infra.bench.report import Report, against, is_within

from sweephand.base.instants import from_datetime
from sweephand.schedules import Series
from sweephand.schedules.notations.parsing import parse_schedule

#: Ten of the most common expressions. They have five fields, because croniter orders six otherwise.
_EXPRESSIONS: Final = (
    "* * * * *",
    "*/5 * * * *",
    "0 * * * *",
    "30 2 * * *",
    "30 2 * * MON-FRI",
    "0 9,17 * * *",
    "0 0 1 * *",
    "0 0 * * SUN",
    "0 0 L * *",
    "*/15 9-17 * * 1-5",
)
_ZONE: Final = "Europe/Paris"
_START: Final = dt.datetime(2026, 11, 21, 7, tzinfo=dt.UTC)
_RATIO_MAX: Final = 1.3
_OCCURRENCES: Final = 1_000
_ROUNDS: Final = 5
_READINGS: Final = 200


@dataclass(frozen=True, slots=True)
class _Cost:
    """CPU µs of one occurrence by each, and of parsing the expression for the first time and again."""

    expression: str
    croniter_us: float
    walked_us: float
    asked_us: float
    croniter_read_us: float
    read_us: float
    read_again_us: float


def measure() -> Report:
    """Time both in turn and keep the best round: other load on the machine can only add time."""
    costs = [_cost(each) for each in _EXPRESSIONS]
    worst = max(max(each.walked_us, each.asked_us) / each.croniter_us for each in costs)
    return Report(
        title=f"One occurrence in {_ZONE}, Python {sys.version.split()[0]}, CPU µs, best of {_ROUNDS} rounds",
        columns=(
            "expression",
            "croniter",
            "walked",
            "ratio",
            "asked",
            "ratio",
            "croniter reads",
            "read",
            "again",
        ),
        rows=[_row(each) for each in costs],
        figures={
            "ratioAtMost": _RATIO_MAX,
            "ratio": round(worst, 3),
            "expressions": [_figures(each) for each in costs],
        },
        is_within=is_within(worst, _RATIO_MAX),
        notes=(
            f"Walked: {_OCCURRENCES} occurrences from one iterator, as arming and expanding do. Asked: each",
            "for itself from the one before, as a sweep asks for a successor. croniter: get_next() of one",
            "object, with the zone. Read: the expression; again: what the cache of those read makes of it.",
        ),
    )


def _cost(expression: str) -> _Cost:
    tasks = (_by_croniter, _walked, _asked, _read_by_croniter, _read, _read_again)
    # In turn, so that a slow moment of the machine affects all of them.
    rounds = [[_us(task, expression) for task in tasks] for _ in range(_ROUNDS)]
    return _Cost(expression, *(min(each) for each in zip(*rounds, strict=True)))


def _by_croniter(expression: str) -> int:
    finder = croniter(expression, _START.astimezone(ZoneInfo(_ZONE)), ret_type=float)
    for _ in range(_OCCURRENCES):
        finder.get_next()
    return _OCCURRENCES


def _walked(expression: str) -> int:
    series = Series(expression, _ZONE, from_datetime(_START))
    for _ in islice(series.occurrences(series.start_at), _OCCURRENCES):
        pass
    return _OCCURRENCES


def _asked(expression: str) -> int:
    series = Series(expression, _ZONE, from_datetime(_START))
    known = series.next_after(series.start_at)
    for _ in range(_OCCURRENCES):
        assert known is not None, "an expression of the list goes on"
        known = series.next_after(known.due_at, known)
    return _OCCURRENCES


def _read_by_croniter(expression: str) -> int:
    for _ in range(_READINGS):
        croniter(expression, _START)
    return _READINGS


def _read(expression: str) -> int:
    for _ in range(_READINGS):
        parse_schedule.__wrapped__(expression)
    return _READINGS


def _read_again(expression: str) -> int:
    for _ in range(_READINGS):
        parse_schedule(expression)
    return _READINGS


def _us(task: Callable[[str], int], expression: str) -> float:
    began_s = process_time()
    number = task(expression)
    return (process_time() - began_s) / number * 1e6


def _row(cost: _Cost) -> tuple[str, ...]:
    return (
        cost.expression,
        f"{cost.croniter_us:.1f}",
        f"{cost.walked_us:.1f}",
        against(cost.walked_us / cost.croniter_us, _RATIO_MAX),
        f"{cost.asked_us:.1f}",
        against(cost.asked_us / cost.croniter_us, _RATIO_MAX),
        f"{cost.croniter_read_us:.0f}",
        f"{cost.read_us:.0f}",
        f"{cost.read_again_us:.2f}",
    )


def _figures(cost: _Cost) -> dict[str, Any]:
    return {
        "expression": cost.expression,
        "croniterUs": round(cost.croniter_us, 2),
        "walkedUs": round(cost.walked_us, 2),
        "askedUs": round(cost.asked_us, 2),
        "croniterReadUs": round(cost.croniter_read_us, 2),
        "readUs": round(cost.read_us, 2),
        "readAgainUs": round(cost.read_again_us, 3),
    }
