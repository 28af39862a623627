"""Ways to break the worker of a line, and a search for seeds that complain.

`python -m tests.simulation.flow.mutations [part of a name]` prints the first such seed of each.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final
from unittest.mock import patch

from tests.fakes.flow_memory import MemoryPermits
from tests.simulation.flow.seeds import run

from sweephand.model.trigger import TriggerMessage
from sweephand.runs.flow import line_worker, permits
from sweephand.runs.flow.line_walk import LineWalk, TakenEntry
from sweephand.runs.flow.line_worker import LineWorker
from sweephand.runs.flow.permits import Permits

#: A seed is searched among so many.
SEEDS_MAX: Final = 200

_WORK: Final = LineWorker.work
_RELEASE: Final = Permits.release


def _drops_the_rest(
    walk: LineWalk, taken: TakenEntry, _: Any, still_open: dict[int, TriggerMessage], until: int
) -> None:
    _SPLIT(walk, taken, [], still_open, until)


_SPLIT: Final = LineWalk._split


def _works_once(worker: LineWorker, message: Any, receives: int, *others: Any) -> Any:
    return _WORK(worker, message, min(receives, 1), *others)


def _forgets_open_requests(held: Permits) -> None:
    held._open.clear()
    _RELEASE(held)


@contextmanager
def _short_holders() -> Iterator[None]:
    with patch.object(line_worker, "HOLDER_MS", 5_000), patch.object(permits, "CLOCK_SKEW_MAX_MS", 0):
        yield


#: Each way by its name: what it replaces. Two more show in too few seeds, and other tests find them. A policy
#: that is read once: tests/unit/runs/flow/test_line_worker.py. An entry deleted without its token:
#: tests/contract/test_policy_lines.py.
MUTATIONS: Final[dict[str, Callable[[], AbstractContextManager[Any]]]] = {
    "a holder shorter than its worker": _short_holders,
    "a remainder that is not written back": lambda: patch.object(LineWalk, "_split", _drops_the_rest),
    "a second receive without its delayed copy": lambda: patch.object(LineWorker, "work", _works_once),
    "a dropped message without the line being read again": lambda: patch.object(
        LineWorker, "_look_back", lambda *_: None
    ),
    "a message that is dropped before its time and does not come again": lambda: patch.object(
        LineWorker, "_drop", lambda _worker, _message, why: why
    ),
    "open requests of a leaving worker that count for nothing": lambda: patch.object(
        Permits, "release", _forgets_open_requests
    ),
    "a wake mark that is never cleared": lambda: patch.object(MemoryPermits, "clear_mark", lambda *_: None),
}


def main(wanted: list[str], first: int = 0) -> None:
    """Search a seed for each mutation."""
    for name, broken in MUTATIONS.items():
        if wanted and not any(each in name for each in wanted):
            continue
        found = "no seed"
        for seed in range(first, first + SEEDS_MAX):
            with broken():
                complaints = run(seed).complaints
            if complaints:
                found = f"seed {seed}: {dict(complaints)}"
                break
        print(f"{name}: {found}", flush=True)  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1:])
