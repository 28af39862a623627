"""Runs many seeds of worlds with one policy on all cores."""

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from typing import Final, Literal, get_args

from tests.simulation.flow.keyed import run_keyed
from tests.simulation.flow.outages import run_outages
from tests.simulation.flow.seeds import CHANGING_RATES, run, run_calm
from tests.simulation.flow.world import FlowWorld

#: Clocks differ in the usual worlds. In the others they agree, or the policy changes its rates, or the stack
#: has few flow functions, or nothing goes wrong. In those with pauses, the policy is paused and resumed. In
#: those with keys, it has `by`. In those with outages, it has a breaker.
Kind = Literal[
    "usual",
    "agree",
    "rates",
    "few",
    "calm",
    "pauses",
    "calm-pauses",
    "keys",
    "calm-keys",
    "outages",
    "calm-outages",
]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

#: How many seeds a process takes at once.
_CHUNK: Final = 2

#: A stack with few functions has so many, and up to two more.
_FEW: Final = 2


@dataclass(frozen=True, slots=True)
class Outcome:
    """The figures of a seed, and how often it has each complaint."""

    seed: int
    figures: Mapping[str, int]
    complaints: Mapping[str, int]


def outcomes(seeds: Sequence[int], kind: Kind, processes: int) -> Iterator[Outcome]:
    """Yield the outcome of each seed, in the order in which they end."""
    if len(seeds) == 1 or processes == 1:
        yield from map(partial(outcome_of, kind=kind), seeds)
        return
    with get_context("spawn").Pool(processes) as pool:
        yield from pool.imap_unordered(partial(outcome_of, kind=kind), seeds, _CHUNK)


def outcome_of(seed: int, kind: Kind) -> Outcome:
    """Run one seed and return its outcome."""
    world = world_of(seed, kind)
    figures = {**world.figures, "triggers": len(world.consumer.triggers)}
    outcome = Outcome(seed, figures, dict(world.complaints))
    gc.collect()
    return outcome


def world_of(seed: int, kind: Kind) -> FlowWorld:
    """The world of a seed at its end."""
    return _RUNS[kind](seed)


_RUNS: Final[Mapping[Kind, Callable[[int], FlowWorld]]] = {
    "usual": run,
    "agree": partial(run, clocks_differ=False),
    "rates": partial(run, rates=CHANGING_RATES),
    "few": lambda seed: run(seed, functions_max=_FEW + seed % 3),
    "calm": run_calm,
    "pauses": partial(run, has_pauses=True),
    "calm-pauses": partial(run_calm, has_pauses=True),
    "keys": partial(run_keyed, is_calm=False),
    "calm-keys": partial(run_keyed, is_calm=True),
    "outages": partial(run_outages, is_calm=False),
    "calm-outages": partial(run_outages, is_calm=True),
}
