"""Chains in which any job may follow any other one, and itself. Only some seeds have them.

In other seeds a job is followed by one with a lower number, so that every chain ends. Here chains go upward
and in circles, and each ends where production ends a chain that is too long.

The random numbers of this module are its own, and so are its seeds, so that other seeds stay what they are.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from typing import Final
from unittest.mock import patch

from tests.simulation.traces.rare_events import ChainBound
from tests.simulation.workload.scenario import Scenario
from tests.simulation.world.faults import stream

from sweephand.base.instants import Instant
from sweephand.runs import notify

#: The jobs of these seeds follow each other in circles.
FIRST_WITH_CIRCLES: Final = 4_200_000
_AFTER_CIRCLES: Final = 4_300_000

#: The longest chains of these seeds, where production allows a hundred links.
_LINKS: Final = (1, 2, 3, 5)


@dataclass(frozen=True, slots=True)
class Circles:
    """The chains of a seed: up to `links` long, among so many jobs; 0 stands for chains as elsewhere."""

    links: int = 0
    jobs: int = 0

    @classmethod
    def of(cls, seed: int) -> "Circles":
        """Return those of a seed. A seed that lasts for days has none."""
        scenario = Scenario.of(seed)
        if not FIRST_WITH_CIRCLES <= seed < _AFTER_CIRCLES or scenario.is_sparse:
            return cls()
        return cls(stream(seed, "circles").choice(_LINKS), scenario.jobs)

    @property
    def are_on(self) -> bool:
        """Whether jobs follow each other in circles."""
        return self.links > 0

    def follower(self, random: Random) -> str:
        """Return the name of a job that is to follow another one."""
        return f"job-{random.randrange(self.jobs)}"

    def note(self, now: Instant, add: Callable[[ChainBound], object]) -> None:
        """At the world's beginning: note in the trace how long chains are."""
        if self.are_on:
            add(ChainBound(now, self.links))

    @contextmanager
    def bounds(self) -> Iterator[None]:
        """Patch the length of the longest chain: a few links do what a hundred would."""
        if not self.are_on:
            yield
            return
        with patch.object(notify, "CHAIN_LENGTH_MAX", self.links):
            yield
