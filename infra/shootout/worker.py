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


def arrive(home: str, key: str, due: object = "-") -> None:
    """Write down that a trigger has come. RefusedError while the harness plays a consumer that is down."""
    came = time.monotonic_ns()
    if Path(home, "refusing").exists():
        raise RefusedError(key)
    os.write(_file(home, os.getpid()), f"{key} {due} {came}\n".encode())


@cache
def _file(home: str, pid: int) -> int:
    return os.open(f"{home}/arrivals/{pid}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)


def wanted() -> Any:
    """What a program that creates triggers shall create: the JSON of its standard input."""
    return json.load(sys.stdin)


def took(began_s: float) -> None:
    """Tell the harness the seconds since `time.monotonic()` was `began_s`."""
    print(time.monotonic() - began_s)
