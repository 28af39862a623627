"""The seeds in which many jobs share one shard, so that packs are full."""

from dataclasses import dataclass, replace
from typing import Any, Final

from tests.simulation.workload.bulk_writes import FIRST_TOGETHER
from tests.simulation.workload.scenario import Scenario
from tests.simulation.world.faults import is_at_margins, is_backlogged, stream

#: So many seeds have many jobs in one shard, and all seeds from this one on to those of bulk_writes.py.
#: Both chances have to be met. One draw would choose other seeds than those that are known for mutations.
_CROWDED: Final = (0.8, 1 / 8)
FIRST_CROWDED: Final = 5_000_000

#: Timers of these schedules lead to few buckets. Those with long periods are written long before they are
#: read, so that a sweeper that was stopped may write them once more meanwhile.
_SCHEDULES: Final = (
    "* * * * *",
    "*/30 * * * * *",
    "@every 20s",
    "@every 45s",
    "@every 61s",
    "0 */2 * * * *",
    "0 */3 * * * *",
    "15 */5 * * * *",
    "@every 4m",
)

#: So many definitions have one of them.
_COMMON: Final = 0.85

#: Triggers between two commits, and timers of a page: a chunk has more triggers than one turn sends.
_TRIGGERS: Final = (1, 2, 3, 5)
_PAGES: Final = (3, 6, 1_000)


@dataclass(frozen=True, slots=True)
class Packs:
    """What of this a seed has."""

    seed: int
    are_crowded: bool

    @classmethod
    def of(cls, seed: int) -> "Packs":
        """That of a seed. A seed that lasts for days or uses up the margins between clocks has no crowd."""
        random = stream(seed, "packs")
        is_drawn = all(random.random() < each for each in _CROWDED) or FIRST_CROWDED <= seed < FIRST_TOGETHER
        has_none = is_at_margins(seed) or is_backlogged(seed) or Scenario.of(seed).is_sparse
        return cls(seed, is_drawn and not has_none)

    def scenario(self, usual: Scenario) -> Scenario:
        """The scenario of the seed: in a crowd eight jobs and one shard."""
        if not self.are_crowded:
            return usual
        random = stream(self.seed, "packs/scenario")
        jobs = random.randint(6, 9)
        return replace(usual, jobs=jobs, writes=jobs + random.randint(0, usual.minutes), shards=1)

    def added(self, written: dict[str, Any], number: int) -> dict[str, Any]:
        """The definition of a job that step `number` writes. In a crowd most have one of few schedules."""
        random = stream(self.seed, f"packs/{number}")
        if not self.are_crowded or random.random() >= _COMMON:
            return written
        return {**written, "schedule": random.choice(_SCHEDULES)}

    @property
    def bounds(self) -> tuple[int, int] | None:
        """The triggers between two commits and the timers of a page, at most; None for production's."""
        if not self.are_crowded:
            return None
        random = stream(self.seed, "packs/bounds")
        return random.choice(_TRIGGERS), random.choice(_PAGES)
