"""What each worker in Python does with a trigger. Its environment has no package of this repository."""

import json
import os
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any


class RefusedError(Exception):
    """The harness plays a consumer that is down."""


def check(home: str) -> None:
    """RefusedError while the harness plays a consumer that is down."""
    if Path(home, "refusing").exists():
        raise RefusedError


def arrive(home: str, key: str, due: object = "-", came_ns: int | None = None) -> None:
    """Write down that a trigger came, now or at that time of the monotonic clock, unless `check` refuses."""
    came_ns = came_ns or time.monotonic_ns()
    check(home)
    os.write(_file(home, os.getpid()), f"{key} {due} {came_ns}\n".encode())


@cache
def _file(home: str, pid: int) -> int:
    return os.open(f"{home}/arrivals/{pid}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)


def wanted() -> Any:
    """What a program that creates triggers shall create: the JSON of its standard input."""
    return json.load(sys.stdin)


def took(began_s: float) -> None:
    """Tell the harness the seconds since `time.monotonic()` was `began_s`."""
    print(time.monotonic() - began_s)
