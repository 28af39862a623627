"""How late triggers are on the local stack: one-offs off the wheel, and jobs that fire often or at `:00`.

The bench wakes tick itself, at every phase of the minute, because EventBridge may start it at any second, or
too late.
"""

import os
import random
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final, NamedTuple, Self

from infra.bench.bulk import write_jobs
from infra.bench.consumer import Arrival, Consumer
from infra.bench.local_stack import deployed, job, now, sleep_until
from infra.bench.punctuality import Punctuality, judge, series_owed
from infra.bench.report import Cell, Report
from infra.local.client import Client
from infra.local.deploy import outputs, session
from infra.local.places import Place

from sweephand.base.instants import MINUTE_MS, SECOND_MS, rfc3339
from sweephand.base.timing import DIRECT_WINDOW_MS, HORIZON_MS

#: The jobs of each kind that recurs. Those of `minutes` are due at second 0, as most cron jobs are.
_JOBS: Final = 100
_PERIOD_MS: Final = 5 * SECOND_MS

#: When tick wakes, counted from the start of each minute in turn. The tick after second 59.8 begins
#: after the end of its minute. A sweep has to read so far ahead that triggers due at `:00` are still in time.
PHASES_MS: Final = (0, 20_000, 40_000, 59_800, 60_300, 30_000)

#: The one-offs fall due within this range of time. Writing one takes no longer than the given time.
_SPREAD_MS: Final = 120 * SECOND_MS
_WRITING_MS: Final = 10

#: The first one-off is due so long after the start of creation that it goes by the wheel, and that ticks of
#: every phase come first.
_LEAD_MS: Final = DIRECT_WINDOW_MS + (len(PHASES_MS) + 1) * MINUTE_MS

#: The functions start meanwhile, all at once on this machine's few cores. On AWS each has cores of its own.
_WARM_UP_MS: Final = 15 * SECOND_MS

#: After the creation of the one-offs of an idle stack, nothing is due for this long.
_IDLE_MS: Final = 10 * MINUTE_MS

#: A trigger that has not come this long after the last due time counts as lost.
_PATIENCE_S: Final = 90

#: The aims of the design: one-offs spread over two minutes, the same after an idle time, and all others,
#: which fall due together.
_P99_MS: Final = 250
_IDLE_P99_MS: Final = 500
_TOGETHER_P99_MS: Final = 1_000


def measure(place: Place, triggers: int) -> Report:
    """Fill a stack, and wait until everything is due."""
    with deployed(place) as client, Consumer() as consumer, _Ticks(place) as ticks:
        _write(client, "ticking", f"@every {_PERIOD_MS // SECOND_MS}s", consumer.url)
        _write(client, "minutes", "* * * * *", consumer.url)
        sleep_until(now() + _WARM_UP_MS)
        warm_at = now()
        due_at = _create(client, consumer.url, triggers, _LEAD_MS)
        created_at = now()
        arrivals = _arrivals(consumer, due_at)
    until = max(due_at.values())
    ticking = [each for each in arrivals if each.namespace == "ticking"]
    minutes = [each for each in arrivals if each.namespace == "minutes"]

    def often(name: str, after: int, until: int) -> Mapping[str, Cell]:
        found = judge(series_owed(ticking, _PERIOD_MS, after=after, until=until), ticking)
        return {"jobs": name, **found.cells(_TOGETHER_P99_MS)}

    # Earlier triggers were armed directly, so no tick has sent them.
    owed = series_owed(minutes, MINUTE_MS, after=warm_at + DIRECT_WINDOW_MS, until=until)
    rows = [
        _one_offs("one-offs", due_at, arrivals, _P99_MS),
        often("@every 5s", created_at, until),
        often("@every 5s, while the API creates", warm_at, created_at),
    ]
    rows += [
        {"jobs": f"at `:00`, ticks at second {phase_ms / SECOND_MS:g}", **found.cells(_TOGETHER_P99_MS)}
        for phase_ms, found in by_phase(owed, minutes, ticks.woken).items()
    ]
    return _report("Lateness", rows)


def measure_idle(place: Place, triggers: int) -> Report:
    """Leave a new stack idle, and wait for the one-offs. None is left out."""
    with deployed(place) as client, Consumer() as consumer:
        due_at = _create(client, consumer.url, triggers, _IDLE_MS + triggers * _WRITING_MS)
        arrivals = _arrivals(consumer, due_at)
    name = f"one-offs after {_IDLE_MS // MINUTE_MS} idle minutes"
    return _report("Lateness after an idle time", [_one_offs(name, due_at, arrivals, _IDLE_P99_MS)])


def _write(client: Client, namespace: str, schedule: str, url: str) -> None:
    times = {"schedule": schedule}
    write_jobs(client, namespace, [job(f"job-{number}", times, url) for number in range(_JOBS)])


def _create(client: Client, url: str, triggers: int, lead_ms: int) -> Mapping[str, int]:
    """Write the one-offs, the earliest due first, and return their due times by name."""
    chance = random.Random(7)  # noqa: S311 - any spread will do, as long as it is the same
    dues = sorted(now() + lead_ms + chance.randrange(_SPREAD_MS) for _ in range(triggers))
    due_at = {f"job-{number}": due for number, due in enumerate(dues)}
    write_jobs(client, "once", [job(name, {"dueTime": rfc3339(due)}, url) for name, due in due_at.items()])
    assert now() + DIRECT_WINDOW_MS < dues[0], "this machine writes too slowly: one-offs miss the wheel"
    return due_at


def _arrivals(consumer: Consumer, due_at: Mapping[str, int]) -> Sequence[Arrival]:
    """What came until each one-off had come, or was lost, and a little longer for duplicates."""
    sleep_until(max(due_at.values()) + 2 * SECOND_MS)
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline:
        if len({each.trigger_id for each in _once(consumer.arrivals())}) == len(due_at):
            break
        time.sleep(2)
    time.sleep(5)
    return consumer.arrivals()


def _once(arrivals: Sequence[Arrival]) -> Sequence[Arrival]:
    return [each for each in arrivals if each.namespace == "once"]


def _one_offs(
    name: str, due_at: Mapping[str, int], arrivals: Sequence[Arrival], p99_most_ms: int
) -> Mapping[str, Cell]:
    return {"jobs": name, **judge(set(due_at.items()), _once(arrivals)).cells(p99_most_ms)}


def _report(subject: str, rows: Sequence[Mapping[str, Cell]]) -> Report:
    return Report(
        title=f"{subject}, on the local stack, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}",
        rows=rows,
        notes=(
            "From the due time to the first byte at the consumer. All programs share this machine's cores.",
        ),
    )


class Tick(NamedTuple):
    """When tick ran, and the phase at which it was meant to run."""

    at: int
    phase_ms: int


class _Ticks:
    """Runs tick instead of the schedule while the context is entered. `woken` are the ticks so far."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="ticks", daemon=True)
        self.woken: list[Tick] = []

    def __enter__(self) -> Self:
        client: Any = session().client("scheduler", endpoint_url=self._place.endpoint_url)
        (found,) = client.list_schedules()["Schedules"]
        schedule = client.get_schedule(Name=found["Name"], GroupName=found["GroupName"])
        kept = ("Name", "GroupName", "ScheduleExpression", "FlexibleTimeWindow", "Target")
        client.update_schedule(**{name: schedule[name] for name in kept}, State="DISABLED")
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _run(self) -> None:
        client = session().client("lambda", endpoint_url=self._place.endpoint_url)
        function = outputs(self._place)["TickFunctionName"]
        minute = now() // MINUTE_MS * MINUTE_MS + MINUTE_MS
        while True:
            for phase_ms in PHASES_MS:
                if self._is_over.wait(max(0, minute + phase_ms - now()) / SECOND_MS):
                    return
                self.woken.append(Tick(now(), phase_ms))
                client.invoke(FunctionName=function, Qualifier="live", InvocationType="Event", Payload=b"{}")
                minute += MINUTE_MS


def by_phase(
    owed: AbstractSet[tuple[str, int]], arrivals: Sequence[Arrival], ticks: Iterable[Tick]
) -> Mapping[int, Punctuality]:
    """The owed triggers, by the phase of the first tick that could send them.

    Triggers that no tick could send are left out.
    """
    woken = sorted(ticks)
    owed_of: dict[int, set[tuple[str, int]]] = {}
    for job_name, due_at in owed:
        tick = reaching(woken, due_at)
        if tick is not None:
            owed_of.setdefault(tick.phase_ms, set()).add((job_name, due_at))
    return {phase_ms: judge(some, arrivals) for phase_ms, some in sorted(owed_of.items())}


def reaching(woken: Iterable[Tick], due_at: int) -> Tick | None:
    """The first of those ticks, in order of time, whose sweep reads as far as that instant."""
    return next((tick for tick in woken if tick.at - tick.at % MINUTE_MS + HORIZON_MS > due_at), None)
