"""Running many seeds on all cores."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Final

from tests.simulation.simulation import run

#: Seeds that a process takes at once: enough to make handing over cheap, few enough to share well.
_CHUNK: Final = 10


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is kept of a seed."""

    seed: int
    figures: Mapping[str, int]
    complaints: Sequence[str]


def outcomes(seeds: Sequence[int], processes: int) -> Iterator[Outcome]:
    """What came of each seed, in the order in which they end."""
    if len(seeds) == 1 or processes == 1:
        yield from map(outcome_of, seeds)
        return
    with get_context("spawn").Pool(processes) as pool:
        yield from pool.imap_unordered(outcome_of, seeds, _CHUNK)


def outcome_of(seed: int) -> Outcome:
    """What came of one seed."""
    result = run(seed)
    return Outcome(seed, result.figures, result.complaints)
