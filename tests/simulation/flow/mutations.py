"""Ways to break the worker of a line, and a search for seeds that complain.

`python -m tests.simulation.flow.mutations [part of a name]` prints the first such seed of each.
"""

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Final
from unittest.mock import patch

from tests.fakes.flow_memory import MemoryPermits, MemoryPolicyLines
from tests.simulation.flow.seeds import run

from sweephand.model.policy_line import LineEntry, LinePlace
from sweephand.model.trigger import TriggerMessage
from sweephand.runs.flow import permits
from sweephand.runs.flow.line_walk import LineWalk, TakenEntry
from sweephand.runs.flow.line_worker import LineWorker
from sweephand.runs.flow.permits import Permits

#: A seed is searched among so many.
SEEDS_MAX: Final = 200

_WORK: Final = LineWorker.work
_RELEASE: Final = Permits.release


def _deletes_any_content(lines: MemoryPolicyLines, place: LinePlace, entry: LineEntry) -> bool:
    stored = lines.get(place, entry.sort_key)
    if stored is not None:
        lines._entries[place].pop(entry.sort_key, None)
    return True


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


#: Each way by its name: what it replaces.
MUTATIONS: Final[dict[str, Callable[[], AbstractContextManager[Any]]]] = {
    "a holder shorter than its worker": lambda: patch.object(permits, "HOLDER_MS", 5_000),
    "an entry deleted without its token": lambda: patch.object(
        MemoryPolicyLines, "delete", _deletes_any_content
    ),
    "a remainder that is not written back": lambda: patch.object(LineWalk, "_split", _drops_the_rest),
    "a second receive without its delayed copy": lambda: patch.object(LineWorker, "work", _works_once),
    "a dropped message without the line being read again": lambda: patch.object(
        LineWorker, "_look_back", lambda *_: None
    ),
    "open requests of a leaving worker that count for nothing": lambda: patch.object(
        Permits, "release", _forgets_open_requests
    ),
    "a wake mark that is never cleared": lambda: patch.object(MemoryPermits, "clear_mark", lambda *_: None),
    "a policy that is read once": lambda: patch.object(permits, "POLICY_AGE_MAX_MS", 10**9),
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
