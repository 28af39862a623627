"""Ways to break gates and the functions that serve them, and a search for seeds that complain.

`python -m tests.simulation.flow.mutations [part of a name]` prints the first such seed of each.
`tests/models` has most of these mistakes, too, each in the smallest world that shows it.
"""

import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final

from tests.simulation.flow.broken_breakers import OF_BREAKERS
from tests.simulation.flow.broken_gates import OF_GATES
from tests.simulation.flow.broken_keys import OF_KEYS
from tests.simulation.flow.broken_turns import OF_TURNS
from tests.simulation.flow.many import Kind, world_of

#: In which worlds a seed is searched, and among how many.
_SEARCHED: Final[Sequence[tuple[Kind, int]]] = (
    ("calm", 100),
    ("usual", 200),
    ("few", 50),
    ("rates", 50),
    ("agree", 50),
    ("calm-keys", 50),
    ("calm-pauses", 50),
    ("pauses", 50),
    ("calm-outages", 30),
    ("outages", 50),
)

MUTATIONS: Final = OF_GATES | OF_TURNS | OF_KEYS | OF_BREAKERS


def main(wanted: list[str], first: int = 0) -> None:
    """Search a seed for each mutation, in the worlds of each kind."""
    for name, broken in MUTATIONS.items():
        if not wanted or any(each in name for each in wanted):
            print(f"{name}: {_search(broken, first)}", flush=True)  # noqa: T201


def _search(broken: Callable[[], AbstractContextManager[Any]], first: int) -> str:
    for kind, seeds in _SEARCHED:
        for seed in range(first, first + seeds):
            with broken():
                complaints = world_of(seed, kind).complaints
            if complaints:
                return f"{kind} seed {seed}: {dict(complaints)}"
    return "no seed"


if __name__ == "__main__":
    main(sys.argv[1:])
