"""What becomes of one-offs when processes die or stand still, the consumer is down, or a clock is wrong."""

import os
import signal
import struct
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from infra.bench.local_stack import sleep_until
from infra.shootout.bench import Bench
from infra.shootout.scenarios import Size, figures, spread

from sweephand.base.instants import SECOND_MS

#: The one-offs are due within this time. The fault begins so long after the first.
_SPREAD_S: Final = 40
_FAULT_AT_S: Final = 10

_FROZEN_S: Final = 30
_OUTAGE_S: Final = 60

#: A clock is wrong by so many seconds, in both directions, for so long each.
_WRONG_S: Final = 30
_WRONG_FOR_S: Final = 10

#: Nothing may come for so long after a fault before what is missing counts as lost. BullMQ takes up to a
#: minute to try again what a killed worker had.
_QUIET_S: Final = 75
_PATIENCE_S: Final = 180

#: What moves the clock of programs that ask the C library.
_SOURCE: Final = Path(__file__).with_name("wrong_clock.c")


def clock_env(home: Path) -> dict[str, str]:
    """The environment in which `_wrong_clock` moves the wall clock of programs, and no other clock."""
    library, offset = home / "wrong_clock.so", home / "wrong_clock"
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", library, _SOURCE], check=True)
    _set(offset, 0)
    return {"LD_PRELOAD": str(library), "WRONG_CLOCK": str(offset)}


def _set(offset: Path, seconds: int) -> None:
    # A new file would not be the one that is mapped.
    with offset.open("r+b" if offset.exists() else "wb") as file:
        file.write(struct.pack("q", seconds))


def _kill(bench: Bench) -> None:
    _signal(bench, signal.SIGKILL)
    bench.peer.restart()


def _freeze(bench: Bench) -> None:
    _signal(bench, signal.SIGSTOP)
    time.sleep(_FROZEN_S)
    _signal(bench, signal.SIGCONT)


def _signal(bench: Bench, number: int) -> None:
    for pid in bench.peer.pids():
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def _outage(bench: Bench) -> None:
    bench.sink.refuse(refuses=True)
    time.sleep(_OUTAGE_S)
    bench.sink.refuse(refuses=False)


def _wrong_clock(bench: Bench) -> None:
    for seconds in (_WRONG_S, -_WRONG_S, 0):
        _set(Path(bench.sink.run.env["WRONG_CLOCK"]), seconds)
        time.sleep(_WRONG_FOR_S if seconds else 0)


_FAULTS: Final[Mapping[str, Callable[[Bench], None]]] = {
    "kill": _kill,
    "freeze": _freeze,
    "outage": _outage,
    "clock": _wrong_clock,
}
FAULTS: Final = tuple(_FAULTS)


def measure(bench: Bench, fault: str, size: Size) -> Mapping[str, float]:
    """The figures of one-offs during which a fault happens."""
    due_at = bench.create(spread(size.faulty, _SPREAD_S))
    sleep_until(min(due_at.values()) + _FAULT_AT_S * SECOND_MS)
    _FAULTS[fault](bench)
    clocks_ms = _WRONG_S * SECOND_MS if fault == "clock" else 0
    return figures(bench.wait(due_at, _QUIET_S, _PATIENCE_S, clocks_ms))
