"""How late triggers are on the local stack: one-offs off the wheel, and jobs that fire often or at `:00`."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from infra.bench.bulk import write_jobs
from infra.bench.consumer import Arrival, Consumer
from infra.bench.lateness_report import Judged, report
from infra.bench.one_offs import ONE_OFFS, SPREAD_MS, Created, create, job, now, sleep_until, wait_for
from infra.bench.phases import PHASES_MS, Tick, Ticks, by_phase
from infra.bench.punctuality import judge, series_owed
from infra.bench.report import Report
from infra.local import stack
from infra.local.client import Client
from infra.local.places import Place

from sweephand.base.instants import MINUTE_MS, SECOND_MS
from sweephand.base.timing import DIRECT_WINDOW_MS

_TICKING: Final = 100
_PERIOD_MS: Final = 5 * SECOND_MS

#: Jobs that are due at second 0 of each minute, as most cron jobs are.
_ON_THE_MINUTE: Final = 100

#: The first one-off is due this long after the start of creation, so that ticks of every phase come first.
_LEAD_MS: Final = DIRECT_WINDOW_MS + (len(PHASES_MS) + 1) * MINUTE_MS

#: The functions start meanwhile, all at once on this machine's few cores. On AWS each has cores of its own.
_WARM_UP_MS: Final = 15 * SECOND_MS

#: The aims of the design: one-offs spread over two minutes, and all others, which fall due together.
_P99_MS: Final = 250
_TOGETHER_P99_MS: Final = 1_000


@dataclass(frozen=True, slots=True)
class _Measured:
    """What came, when the functions were warm, and when all one-offs had been created."""

    created: Created
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
    return report("Lateness", _groups(measured), measured.created, loads)


def _run(client: Client, consumer: Consumer, triggers: int, loads: list[float], ticks: Ticks) -> _Measured:
    every = {"schedule": f"@every {_PERIOD_MS // SECOND_MS}s"}
    write_jobs(client, "ticking", [job(f"job-{number}", every, consumer.url) for number in range(_TICKING)])
    minutely = {"schedule": "* * * * *"}
    write_jobs(
        client, "minutes", [job(f"job-{number}", minutely, consumer.url) for number in range(_ON_THE_MINUTE)]
    )
    sleep_until(now() + _WARM_UP_MS)
    warm_at = now()
    created = create(client, consumer.url, triggers, after_start_ms=_LEAD_MS)
    created_at = now()
    sleep_until(created.last_due_at - SPREAD_MS // 2)
    loads.append(os.getloadavg()[0])
    wait_for(consumer, created)
    return _Measured(created, consumer.arrivals(), warm_at, created_at, ticks.woken)


def _groups(measured: _Measured) -> dict[str, Judged]:
    """The one-offs, and what the other jobs owed: during the writing of the one-offs, and after it."""
    once = [each for each in measured.arrivals if each.namespace == ONE_OFFS]
    ticking = [each for each in measured.arrivals if each.namespace == "ticking"]
    until = measured.created.last_due_at

    minutes = [each for each in measured.arrivals if each.namespace == "minutes"]
    # Earlier triggers were armed directly, so no tick has sent them.
    by_wheel_from = measured.warm_at + DIRECT_WINDOW_MS
    owed = series_owed(minutes, MINUTE_MS, after=by_wheel_from, until=until)
    phases = {
        f"at `:00`, ticks at second {phase_ms / SECOND_MS:g}": Judged(each, _TOGETHER_P99_MS)
        for phase_ms, each in by_phase(owed, minutes, measured.woken).items()
    }

    def often(after: int, until: int) -> Judged:
        found = judge(series_owed(ticking, _PERIOD_MS, after=after, until=until), ticking)
        return Judged(found, _TOGETHER_P99_MS)

    return {
        "one-offs": Judged(judge(set(measured.created.due_at.items()), once), _P99_MS),
        "@every 5s": often(measured.created_at, until),
        "@every 5s, while the API creates": often(measured.warm_at, measured.created_at),
        **phases,
    }
