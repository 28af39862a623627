"""Kills processes of functions while they work. A seed decides which function is hit next, and when."""

import os
import random
import re
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Final, NamedTuple

#: How often each function is hit, on average, in seconds. Tick works for a part of a second in each minute.
_EVERY_S: Final = {"Deliver": 6, "Flow": 20, "Api": 15, "Authorizer": 60, "Tick": 75}

#: How often the processes are looked at. Linux counts their CPU time in hundredths of a second.
_LOOK_S: Final = 0.05

#: Where a line of /proc/PID/stat has the parent and the two CPU times, after the name of the program.
_PARENT: Final = 1
_USER: Final = 11
_SYSTEM: Final = 12

#: What ministack calls the folder of a function's process, which its command line has.
_FOLDER: Final = re.compile(r"/ministack-lambda-sweephand-([A-Za-z]+)Function-")


@dataclass(frozen=True, slots=True)
class Kill:
    """A process of a function was killed at that time, in epoch ms."""

    at: int
    function: str


class Worker(NamedTuple):
    """A process of a function, with the CPU time that it has used, in clock ticks."""

    pid: int
    function: str
    cpu: int


def plan(chance: random.Random, seconds: float) -> Iterator[tuple[float, str]]:
    """Plans the kills in the order of time: after how many seconds, and of which function."""
    kills: list[tuple[float, str]] = []
    for function, every_s in _EVERY_S.items():
        at_s = chance.expovariate(1 / every_s)
        while at_s < seconds:
            kills.append((at_s, function))
            at_s += chance.expovariate(1 / every_s)
    return iter(sorted(kills))


def kill(kills: Iterator[tuple[float, str]], parent: int, began: float, is_over: Event) -> Iterator[Kill]:
    """Kill processes as planned, and return each. Only children of the process `parent` are killed.

    A process is killed as soon as it works. What has not worked when the time is over stays alive.
    """
    next_s, next_function = next(kills, (float("inf"), ""))
    pending: set[str] = set()
    before: Mapping[int, int] = {}
    while not is_over.wait(_LOOK_S):
        while began + next_s <= time.monotonic():
            pending.add(next_function)
            next_s, next_function = next(kills, (float("inf"), ""))
        found = list(workers(parent)) if pending else []
        for each in found:
            if each.function in pending and each.cpu > before.get(each.pid, each.cpu):
                with suppress(ProcessLookupError):
                    os.kill(each.pid, signal.SIGKILL)
                    pending.discard(each.function)
                    yield Kill(time.time_ns() // 1_000_000, each.function)
        before = {each.pid: each.cpu for each in found}


def workers(parent: int) -> Iterator[Worker]:
    """The processes of functions among the children of a process. Linux shows them in /proc (proc(5))."""
    for folder in Path("/proc").glob("[0-9]*"):
        # A process may end at any time.
        with suppress(OSError):
            status = (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            if int(status[_PARENT]) == parent:
                named = _FOLDER.search((folder / "cmdline").read_text(encoding="utf-8"))
                if named is not None:
                    yield Worker(int(folder.name), named[1], int(status[_USER]) + int(status[_SYSTEM]))
