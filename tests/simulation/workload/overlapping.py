"""The jobs of a seed whose runs take turns, and what makes their runs last.

Definitions and consumers use this.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from tests.simulation.world.faults import fraction, mixed, stream

from sweephand.base.instants import SECOND_MS

#: The share of seeds in which runs take turns.
_SEEDS: Final = 1 / 3

#: The settings of a job in such a seed. Most jobs keep one setting, since only a setting that stays shows
#: whether an order is kept. "any" draws another one for each definition.
_KINDS: Final = ("skip", "wait", "wait", "wait", "waitLatest", "waitLatest", "any", "allow")

#: The settings from which "any" draws.
SETTINGS: Final[tuple[dict[str, Any], ...]] = (
    {"overlap": "skip"},
    {"overlap": "wait"},
    {"overlap": "wait", "waitLimit": 2},
    {"overlap": "waitLatest"},
    {"overlap": "allow"},
    {},
)

#: How many triggers may wait: so few that more come, or more than ever come.
_WAIT_LIMITS: Final = (1, 2, 3, 8, None)

#: A retry rule beside the usual ones, which holds a job for a minute and more.
_RETRY: Final[Mapping[str, Any]] = {"maxAttempts": 5, "initialDelay": "25s", "multiplier": 1}

#: How long a consumer of such a job works, at most. Dense schedules come every few seconds.
_WORKS_MS: Final = (0, 3 * SECOND_MS, 14 * SECOND_MS)

#: The share of these seeds in which one trigger ends as a dead letter and holds a line for an hour. Such a
#: seed takes long.
_CRASHES: Final = 1 / 25

#: This number picks the chance that decides how long a consumer works.
_WORK: Final = 6


@dataclass(frozen=True, slots=True)
class Overlapping:
    """The settings of a seed's jobs: the setting of each name, and how long its consumer may work.

    When `crashes_at` triggers were requested, the next one kills each function that begins it.
    """

    kinds: Mapping[str, str]
    works_ms: Mapping[str, int]
    crashes_at: int | None = None

    @classmethod
    def of(cls, seed: int) -> "Overlapping":
        """Return the settings of a seed. Most seeds have none."""
        random = stream(seed, "overlap")
        if random.random() >= _SEEDS:
            return cls({}, {})
        names = [f"job-{number}" for number in range(4)]
        kinds = {name: random.choice(_KINDS) for name in names}
        works_ms = {name: random.choice(_WORKS_MS) for name, kind in kinds.items() if kind != "allow"}
        return cls(kinds, works_ms, random.randrange(1, 12) if random.random() < _CRASHES else None)

    def written(self, name: str, random: Random) -> dict[str, Any]:
        """Return the fields of a new definition of the job. There are none if its runs may overlap."""
        kind = self.kinds.get(name, "allow")
        if kind == "allow":
            return {}
        written: dict[str, Any] = {"retry": dict(_RETRY)} if random.random() < 1 / 3 else {}
        if kind == "any":
            return written | random.choice(SETTINGS)
        written["overlap"] = kind
        limit = random.choice(_WAIT_LIMITS)
        return written | ({"waitLimit": limit} if limit is not None and kind == "wait" else {})

    def patched(self, name: str, random: Random) -> dict[str, Any]:
        """Return what a PATCH changes of them, which is mostly nothing."""
        return (
            dict(random.choice(SETTINGS)) if self.kinds.get(name) == "any" and random.random() < 1 / 2 else {}
        )

    def takes_turns(self, name: str) -> bool:
        """Whether the runs of the job mostly take turns."""
        return name in self.works_ms

    def work_ms(self, name: str, code: int) -> int:
        """Return how long the consumer of a job works at a request with that chance."""
        return int(self.works_ms.get(name, 0) * fraction(mixed(code, _WORK)))


#: A seed in which no runs take turns and no consumer works for long.
NONE: Final = Overlapping({}, {})
