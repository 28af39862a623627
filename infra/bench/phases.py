"""Runs tick at every phase of the minute, because EventBridge may start it at any second, or too late."""

import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final, NamedTuple, Self

from infra.bench.consumer import Arrival
from infra.bench.punctuality import Punctuality, judge
from infra.local.deploy import outputs, session
from infra.local.places import Place

from sweephand.base.instants import MINUTE_MS, SECOND_MS
from sweephand.base.timing import HORIZON_MS

#: When tick wakes, counted from the start of each minute in turn. The tick after second 59.8 begins
#: after the end of its minute. A sweep has to read so far ahead that triggers due at `:00` are still in time.
PHASES_MS: Final = (0, 20_000, 40_000, 59_800, 60_300, 30_000)


class Tick(NamedTuple):
    """When tick ran, and the phase at which it was meant to run."""

    at: int
    phase_ms: int


class Ticks:
    """Runs tick instead of the schedule while the context is entered. `woken` are the ticks so far."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="ticks", daemon=True)
        self.woken: list[Tick] = []

    def __enter__(self) -> Self:
        _disable_schedule(self._place)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _run(self) -> None:
        client = session().client("lambda", endpoint_url=self._place.endpoint_url)
        function = outputs(self._place)["TickFunctionName"]
        now = _now()
        minute = now - now % MINUTE_MS + MINUTE_MS
        while True:
            for phase_ms in PHASES_MS:
                if self._is_over.wait(max(0, minute + phase_ms - _now()) / SECOND_MS):
                    return
                self.woken.append(Tick(_now(), phase_ms))
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
    for job, due_at in owed:
        tick = reaching(woken, due_at)
        if tick is not None:
            owed_of.setdefault(tick.phase_ms, set()).add((job, due_at))
    return {phase_ms: judge(some, arrivals) for phase_ms, some in sorted(owed_of.items())}


def reaching(woken: Iterable[Tick], due_at: int) -> Tick | None:
    """The first of those ticks, in order of time, whose sweep reads as far as that instant."""
    return next((tick for tick in woken if tick.at - tick.at % MINUTE_MS + HORIZON_MS > due_at), None)


def _disable_schedule(place: Place) -> None:
    client: Any = session().client("scheduler", endpoint_url=place.endpoint_url)
    (found,) = client.list_schedules()["Schedules"]
    schedule = client.get_schedule(Name=found["Name"], GroupName=found["GroupName"])
    kept = ("Name", "GroupName", "ScheduleExpression", "FlexibleTimeWindow", "Target")
    client.update_schedule(**{name: schedule[name] for name in kept}, State="DISABLED")


def _now() -> int:
    return time.time_ns() // 1_000_000
