"""Jobs that are deleted while their creation may still be repeated.

Some of the seeds with repeats have them.
"""

from dataclasses import dataclass
from typing import Final

from tests.simulation.workload.scenario import Scenario
from tests.simulation.world.faults import NO_MASK, Troubles, is_at_margins, is_backlogged, stream

from sweephand.base.instants import SECOND_MS, Instant

#: The share of the seeds with repeats that have such jobs.
_SEEDS: Final = 1 / 3

#: The number of such jobs.
_LIVES: Final = 10

#: The job of the name is deleted at most this long before, so that a creation follows.
_BEFORE_MS_MAX: Final = 4 * SECOND_MS

#: How long after the creation the deletion comes at most. It mostly comes sooner: the SDK makes a request
#: again within 9 s.
_AFTER_MS_MAX: Final = 9 * SECOND_MS

#: The share of deletions that another creation follows within the same time.
_CREATED_AGAIN: Final = 0.4


@dataclass(frozen=True, slots=True)
class ShortLives:
    """Whether a seed has such jobs."""

    seed: int
    is_on: bool

    @classmethod
    def of(cls, seed: int) -> "ShortLives":
        """What a seed has. A seed that lasts for days or uses up the margins between clocks has none."""
        has_none = is_at_margins(seed) or is_backlogged(seed) or Scenario.of(seed).is_sparse
        is_on = not has_none and stream(seed, "short lives").random() < _SEEDS
        return cls(seed, is_on and Troubles.of(seed, NO_MASK)["repeats"] > 0)

    def asked(self, names: list[str], begins_at: Instant, ends_at: Instant) -> list[tuple[Instant, str, str]]:
        """Return when clients delete, create and delete which job in a row."""
        if not self.is_on:
            return []
        random = stream(self.seed, "short lives/asked")
        found = []
        for _ in range(_LIVES):
            at, name = random.randrange(begins_at, ends_at), random.choice(names)
            found.append((at, "delete", name))
            at += random.randrange(1, _BEFORE_MS_MAX)
            found.append((at, "put", name))
            at += int(_AFTER_MS_MAX * random.random() ** 2)
            found.append((at, "delete", name))
            if random.random() < _CREATED_AGAIN:
                found.append((at + random.randrange(1, _AFTER_MS_MAX), "put", name))
        return sorted((min(at, ends_at), action, name) for at, action, name in found)
