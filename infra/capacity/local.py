"""Herds and spread triggers on the local stack: their lateness against the number of delivery functions."""

import os
import random
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import product
from typing import Final

from infra.bench.bulk import write_jobs
from infra.bench.consumer import Arrival, Consumer
from infra.bench.punctuality import judge
from infra.capacity.measured import LocalPoint
from infra.local import settings, stack
from infra.local.client import Client
from infra.local.places import Place
from infra.local.processes import cpu_s

from sweephand.base.instants import MINUTE_MS, SECOND_MS, Instant, rfc3339
from sweephand.base.timing import DIRECT_WINDOW_MS

#: The delivery functions of each herd, and the triggers of a herd.
_FUNCTIONS: Final = (2, 4, 8)

#: What the herds' consumers take for an answer, and the jobs' history. With the second, a delivery is mostly
#: waiting: the local AWS writes no record. Two cores can wait at any number of functions.
_KINDS: Final = ((0.2, "outcome"), (0.5, "failures"))

_HERD: Final = 1_000

_SPREAD: Final = 10_000
_SPREAD_MS: Final = 2 * MINUTE_MS

#: A herd is due this long after its minute began. The number of functions changes half a minute before.
_INTO_MINUTE_MS: Final = 30 * SECOND_MS

#: Creating everything takes less than this.
_LEAD_MS: Final = DIRECT_WINDOW_MS + 3 * MINUTE_MS

#: A trigger that has not come so long after the last due time counts as lost.
_PATIENCE_MS: Final = 25 * SECOND_MS


@dataclass(frozen=True, slots=True)
class _Phase:
    """Jobs by name with their due times, and how many functions may deliver them."""

    name: str
    answer_s: float
    history: str
    due_at: Mapping[str, Instant]
    functions: int
    begins_at: Instant


def measure(place: Place) -> list[LocalPoint]:
    """A point for each herd and for what is spread, on a stack of its own. It takes a quarter of an hour."""
    described = stack.up(place, say=_show)
    try:
        with ExitStack() as entered:
            client = entered.enter_context(Client.of(described))
            consumers = {answer_s: entered.enter_context(Consumer(answer_s)) for answer_s, _ in _KINDS}
            phases = _phases(_now())
            for phase in phases:
                _create(client, consumers[phase.answer_s].url, phase)
            _show(f"created; the last trigger is due {rfc3339(max(phases[-1].due_at.values()))}")
            points = []
            for phase in phases:
                _sleep_until(phase.begins_at)
                settings.run_at_once(place, "DeliveryQueueUrl", phase.functions)
                _sleep_until(min(phase.due_at.values()) - SECOND_MS)
                before_s = cpu_s(place.pid_file)
                _sleep_until(max(phase.due_at.values()) + _PATIENCE_MS)
                spent_s = cpu_s(place.pid_file) - before_s
                points.append(_point(phase, consumers[phase.answer_s].arrivals(), spent_s))
            return points
    finally:
        stack.down(place)


def _phases(now: Instant) -> list[_Phase]:
    begins_at = (now + _LEAD_MS) // MINUTE_MS * MINUTE_MS + MINUTE_MS
    phases = []
    for (answer_s, history), functions in product(_KINDS, _FUNCTIONS):
        due_at = begins_at + _INTO_MINUTE_MS
        names = [f"herd-{history}-{functions}-{number}" for number in range(_HERD)]
        herd = dict.fromkeys(names, due_at)
        phases.append(_Phase("herd", answer_s, history, herd, functions, begins_at))
        begins_at += MINUTE_MS
    chance = random.Random(7)  # noqa: S311 - any spread will do, as long as it is the same
    dues = sorted(begins_at + _INTO_MINUTE_MS + chance.randrange(_SPREAD_MS) for _ in range(_SPREAD))
    spread = {f"spread-{number}": due for number, due in enumerate(dues)}
    return [*phases, _Phase("spread", *_KINDS[0], spread, max(_FUNCTIONS), begins_at)]


def _create(client: Client, url: str, phase: _Phase) -> None:
    target = {"type": "http", "url": url}
    jobs = [
        {"name": name, "dueTime": rfc3339(due_at), "target": target, "history": phase.history}
        for name, due_at in phase.due_at.items()
    ]
    write_jobs(client, "capacity", jobs)
    assert _now() + DIRECT_WINDOW_MS < min(phase.due_at.values()), "the triggers go by the wheel"


def _point(phase: _Phase, arrivals: Sequence[Arrival], spent_s: float) -> LocalPoint:
    judged = judge(set(phase.due_at.items()), arrivals)
    return LocalPoint(
        name=phase.name,
        answer_s=phase.answer_s,
        history=phase.history,
        triggers=judged.owed,
        delivered=judged.delivered,
        seconds=(max(phase.due_at.values()) - min(phase.due_at.values())) / SECOND_MS,
        functions=phase.functions,
        p50_ms=judged.p50_ms,
        p99_ms=judged.p99_ms,
        last_ms=judged.max_ms,
        cpu_ms=round(spent_s * SECOND_MS / len(phase.due_at), 1),
        load=round(os.getloadavg()[0], 1),
    )


def _now() -> Instant:
    return time.time_ns() // 1_000_000


def _sleep_until(instant: Instant) -> None:
    time.sleep(max(0, instant - _now()) / SECOND_MS)


def _show(text: str) -> None:
    print(f"  {text}", flush=True)
