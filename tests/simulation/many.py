"""Runs many seeds on all cores."""

import gc
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Final

from tests.simulation.simulation import run

#: How many seeds a process takes at once. More make the exchange cheaper, fewer share the work better.
_CHUNK: Final = 10

#: How many times a process takes some. It collects no garbage, which would take a fifth of the time. A world
#: leaves about 5 MB behind.
_CHUNKS_OF_PROCESS: Final = 10


@dataclass(frozen=True, slots=True)
class Outcome:
    """The figures and complaints of a seed."""

    seed: int
    figures: Mapping[str, int]
    complaints: Sequence[str]


def outcomes(seeds: Sequence[int], processes: int) -> Iterator[Outcome]:
    """Yield the outcome of each seed, in the order in which they end."""
    if len(seeds) == 1 or processes == 1:
        yield from map(outcome_of, seeds)
        return
    with get_context("spawn").Pool(processes, _begin, maxtasksperchild=_CHUNKS_OF_PROCESS) as pool:
        yield from pool.imap_unordered(outcome_of, seeds, _CHUNK)


def outcome_of(seed: int) -> Outcome:
    """Run one seed and return its outcome."""
    result = run(seed)
    return Outcome(seed, result.figures, result.complaints)


def _begin() -> None:
    """Collect no garbage: what a world makes it mostly keeps until its end, and the process ends soon."""
    gc.disable()
