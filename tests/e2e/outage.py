"""A separate stack whose processes stop for some minutes and then go on."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from infra.local import processes
from infra.local import stack as local
from infra.local.client import Client
from infra.local.places import Place
from tests.e2e.scene import Scene
from tests.e2e.wheel import timer_keys

from sweephand.base.instants import SECOND_MS, Instant, rfc3339
from sweephand.base.limits import CATCHUP_WINDOW_S_MIN
from sweephand.base.timing import DIRECT_WINDOW_MS

MODES = ("latest", "all", "none")

#: From one occurrence to the next. At the end of the outage the first four are a catch-up window late; the
#: last two are half of one late.
_APART_MS = (0, 1_000, 2_000, 3_000, 60_000, 61_000)
MISSED = 4

#: The jobs are written within this time.
_WRITE_MS = 10 * SECOND_MS


@dataclass(frozen=True)
class Outage:
    """The stack, and a job for each way to catch up, named after it; all due at `dues`, all by the wheel.

    The job `sent` was due during the outage, too, and was in the queue when it began.
    """

    scene: Scene
    dues: tuple[Instant, ...]
    over: threading.Event

    @property
    def left_s(self) -> float:
        """Seconds until the stack runs again. The number is negative once it runs."""
        return self.dues[MISSED - 1] / SECOND_MS + CATCHUP_WINDOW_S_MIN + 1 - time.time()

    def wait_for_its_end(self) -> None:
        """Return when the stack goes on; at once if it does already."""
        assert self.over.wait(self.left_s + 30), "nobody has ended the outage"


@contextmanager
def outage(place: Place) -> Iterator[Outage]:
    """An outage that has begun. Ends the stack, whether it goes on or not."""
    try:
        stack = local.up(place, say=lambda _: None)
        with Client.of(stack) as client, Scene.of(client, "outage") as scene:
            first_at = time.time_ns() // 1_000_000 + DIRECT_WINDOW_MS + _WRITE_MS
            dues = tuple(first_at + each_ms for each_ms in _APART_MS)
            for name, job in _jobs(scene, dues).items():
                # One by one: in one call their timers would share a pack, whose key names no job.
                scene.schedule.put(name, **job)
            keys = timer_keys(stack)
            for mode in MODES:
                assert any(f"outage/{mode}#" in key for key in keys), f"no timer was written for {mode}"
            client.hang_up()  # nobody answers on these for minutes, and then they are closed
            begun = Outage(scene, dues, threading.Event())
            with _standing_still(place, begun):
                yield begun
    finally:
        local.down(place)


@contextmanager
def _standing_still(place: Place, begun: Outage) -> Iterator[None]:
    """Stops the stack, and lets it go on in time: a test may come later than it has to."""
    pid = processes.recorded(place.pid_file)
    assert pid is not None, "the stack has ended by itself"

    def go_on() -> None:
        os.killpg(pid, signal.SIGCONT)
        begun.over.set()

    alarm = threading.Timer(begun.left_s, go_on)
    os.killpg(pid, signal.SIGSTOP)
    alarm.start()
    try:
        yield
    finally:
        alarm.cancel()
        go_on()  # what stands still cannot end


def _jobs(scene: Scene, dues: tuple[Instant, ...]) -> dict[str, dict[str, Any]]:
    jobs: dict[str, dict[str, Any]] = {
        mode: {
            "schedule": [rfc3339(due_at) for due_at in dues],
            "catchup": {"mode": mode, "window": f"{CATCHUP_WINDOW_S_MIN}s"},
        }
        for mode in MODES
    }
    jobs["sent"] = {"dueTime": "60s", "catchup": {"mode": "none"}}
    for name, job in jobs.items():
        job["target"] = scene.target(name)
    return jobs
