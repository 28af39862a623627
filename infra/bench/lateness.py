"""How late triggers are on the local stack: one-offs off the wheel, and jobs that fire often or at `:00`."""

import os
import random
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any, Final

from infra.bench.bulk import write_jobs
from infra.bench.consumer import Arrival, Consumer
from infra.bench.phases import PHASES_MS, Tick, Ticks, by_phase
from infra.bench.punctuality import Punctuality, judge, series_owed
from infra.bench.report import Report, against
from infra.local import stack
from infra.local.client import Client
from infra.local.places import Place

from sweephand.base.concurrency import parts
from sweephand.base.instants import MINUTE_MS, SECOND_MS, rfc3339
from sweephand.base.limits import JOBS_PER_BULK_MAX
from sweephand.base.timing import DIRECT_WINDOW_MS

_TICKING: Final = 100
_PERIOD_MS: Final = 5 * SECOND_MS
_SPREAD_MS: Final = 120 * SECOND_MS

#: Jobs that are due at second 0 of each minute, as most cron jobs are.
_ON_THE_MINUTE: Final = 100

#: The first one-off is due this long after its creation began, and each at least this long after its own.
_LEAD_MS: Final = DIRECT_WINDOW_MS + (len(PHASES_MS) + 1) * MINUTE_MS
_BEYOND_MS: Final = DIRECT_WINDOW_MS + 10 * SECOND_MS

#: The functions start meanwhile, all at once on this machine's few cores. On AWS each has cores of its own.
_WARM_UP_MS: Final = 15 * SECOND_MS

#: A trigger that has not come this long after the last due time counts as lost.
_PATIENCE_S: Final = 90
_CALLS_AT_ONCE: Final = 2
_P99_MS: Final = 1_000


@dataclass(frozen=True, slots=True)
class _Created:
    """The one-offs by name with their due times, and how their creation went."""

    due_at: Mapping[str, int]
    jobs_per_s: float
    seconds: float
    beyond: int


@dataclass(frozen=True, slots=True)
class _Measured:
    """What came, when the functions were warm, and when all one-offs had been created."""

    created: _Created
    arrivals: Sequence[Arrival]
    warm_at: int
    created_at: int
    woken: Sequence[Tick]


def measure(place: Place, triggers: int) -> Report:
    """Start a stack of its own, fill it, wait until everything is due, and end it."""
    loads = [os.getloadavg()[0]]
    described = stack.up(place, say=lambda text: print(f"  {text}", flush=True))
    try:
        with Consumer() as consumer, Client.of(described) as client, Ticks(place) as ticks:
            measured = _run(client, consumer, triggers, loads, ticks)
    finally:
        stack.down(place)
    loads.append(os.getloadavg()[0])
    return _report(_groups(measured), measured.created, loads)


def _run(client: Client, consumer: Consumer, triggers: int, loads: list[float], ticks: Ticks) -> _Measured:
    every = {"schedule": f"@every {_PERIOD_MS // SECOND_MS}s"}
    write_jobs(client, "ticking", [_job(f"job-{number}", every, consumer.url) for number in range(_TICKING)])
    minutely = {"schedule": "* * * * *"}
    write_jobs(
        client, "minutes", [_job(f"job-{number}", minutely, consumer.url) for number in range(_ON_THE_MINUTE)]
    )
    _sleep_until(_now() + _WARM_UP_MS)
    warm_at = _now()
    created = _create(client, consumer.url, triggers)
    created_at, until = _now(), max(created.due_at.values())
    _show(f"created {triggers} one-offs, {created.jobs_per_s:.0f} a second; the last is due {rfc3339(until)}")
    _sleep_until(until - _SPREAD_MS // 2)
    loads.append(os.getloadavg()[0])
    _sleep_until(until + 2 * SECOND_MS)
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline and _is_incomplete(consumer.arrivals(), triggers):
        time.sleep(2)
    time.sleep(5)  # for duplicates, and for the other triggers
    return _Measured(created, consumer.arrivals(), warm_at, created_at, ticks.woken)


def _groups(measured: _Measured) -> dict[str, Punctuality]:
    """The one-offs, and what the other jobs owed: during the writing of the one-offs, and after it."""
    once = [each for each in measured.arrivals if each.namespace == "once"]
    ticking = [each for each in measured.arrivals if each.namespace == "ticking"]
    until = max(measured.created.due_at.values())

    minutes = [each for each in measured.arrivals if each.namespace == "minutes"]
    # Earlier triggers were armed directly, so no tick has sent them.
    by_wheel_from = measured.warm_at + DIRECT_WINDOW_MS
    owed = series_owed(minutes, MINUTE_MS, after=by_wheel_from, until=until)
    phases = {
        f"at `:00`, ticks at second {phase_ms / SECOND_MS:g}": each
        for phase_ms, each in by_phase(owed, minutes, measured.woken).items()
    }

    def often(after: int, until: int) -> Punctuality:
        return judge(series_owed(ticking, _PERIOD_MS, after=after, until=until), ticking)

    return {
        "one-offs": judge(set(measured.created.due_at.items()), once),
        "@every 5s": often(measured.created_at, until),
        "@every 5s, while the API creates": often(measured.warm_at, measured.created_at),
        **phases,
    }


def _create(client: Client, url: str, triggers: int) -> _Created:
    """Write the one-offs, the earliest due first, so that each lies beyond the time of direct arming."""
    lead_ms = _lead_ms(client, url, triggers)
    began_at, began = _now(), time.monotonic()
    chance = random.Random(7)  # noqa: S311 - any spread will do, as long as it is the same
    dues = sorted(began_at + lead_ms + chance.randrange(_SPREAD_MS) for _ in range(triggers))
    due_at = {f"job-{number}": due for number, due in enumerate(dues)}
    jobs = [_job(name, {"dueTime": rfc3339(due)}, url) for name, due in due_at.items()]

    def put(some: Sequence[Mapping[str, Any]]) -> int:
        write_jobs(client, "once", some)
        last_at = _now()
        return sum(due_at[job["name"]] - last_at > DIRECT_WINDOW_MS for job in some)

    with ThreadPoolExecutor(_CALLS_AT_ONCE) as threads:
        beyond = sum(threads.map(put, parts(jobs, JOBS_PER_BULK_MAX)))
    seconds = time.monotonic() - began
    return _Created(due_at, triggers / seconds, seconds, beyond)


def _lead_ms(client: Client, url: str, triggers: int) -> int:
    """How far ahead the first one-off is due. It is more on a machine that takes long to create them."""
    trial = [_job(f"job-{number}", {"dueTime": "24h"}, url) for number in range(JOBS_PER_BULK_MAX)]
    write_jobs(client, "trial", trial[:1])
    began = time.monotonic()
    write_jobs(client, "trial", trial)
    # Two calls at once take a little less time than two in a row.
    expected_ms = round(0.75 * (time.monotonic() - began) * SECOND_MS * triggers / len(trial))
    # Creation may take the whole spread as well, since the last one-offs are due at its end.
    return max(_LEAD_MS, _BEYOND_MS + expected_ms - _SPREAD_MS)


def _job(name: str, times: Mapping[str, str], url: str) -> dict[str, Any]:
    return {"name": name, **times, "target": {"type": "http", "url": url}, "data": {"job": name}}


def _is_incomplete(arrivals: Sequence[Arrival], triggers: int) -> bool:
    return len({each.trigger_id for each in arrivals if each.namespace == "once"}) < triggers


def _now() -> int:
    return time.time_ns() // 1_000_000


def _sleep_until(instant: int) -> None:
    time.sleep(max(0, instant - _now()) / SECOND_MS)


def _show(text: str) -> None:
    print(f"  {text}", flush=True)


def _report(groups: Mapping[str, Punctuality], created: _Created, loads: Sequence[float]) -> Report:
    rows = [
        (
            name,
            str(each.owed),
            str(each.delivered),
            against(each.lost, 0, 0),
            against(each.early, 0, 0),
            str(each.duplicates),
            str(each.p50_ms),
            against(each.p99_ms, _P99_MS, 0),
            str(each.max_ms),
        )
        for name, each in groups.items()
    ]
    shown = ", ".join(f"{load:.1f}" for load in loads)
    wheel = f"{created.beyond} of {len(created.due_at)}"
    return Report(
        title=f"Lateness on the local stack, {os.cpu_count()} cores, load {shown} (before, amid, after)",
        columns=("jobs", "owed", "delivered", "lost", "early", "twice", "p50 ms", "p99 ms", "max ms"),
        rows=rows,
        figures={
            "groups": {name: asdict(each) for name, each in groups.items()},
            "created": {"jobsPerS": round(created.jobs_per_s, 1), "seconds": round(created.seconds, 1)},
            "beyondDirectWindow": created.beyond,
            "loads": [round(load, 2) for load in loads],
        },
        is_within=all(map(_is_within, groups.values())),
        notes=(
            f"Created in {created.seconds:.0f} s, {created.jobs_per_s:.0f} a second; {wheel} by the wheel.",
            "From the due time to the first byte at the consumer. The local AWS, the functions, the consumer",
            "and whatever else runs share this machine's cores.",
        ),
    )


def _is_within(group: Punctuality) -> bool:
    return not group.lost and not group.early and group.p99_ms <= _P99_MS
