"""Which jobs of a seed take turns, and what makes their runs last: definitions and consumers ask here."""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from tests.simulation.world.faults import fraction, mixed, stream

from sweephand.base.instants import SECOND_MS

#: In so many seeds jobs take turns, the others are as they would be without.
_SEEDS: Final = 1 / 3

#: What a job may be in such a seed. Most keep to one setting, since an order that is kept is only seen there;
#: "any" is another with each definition.
_KINDS: Final = ("skip", "wait", "wait", "wait", "waitLatest", "waitLatest", "any", "allow")

#: What "any" draws from.
SETTINGS: Final[tuple[dict[str, Any], ...]] = (
    {"overlap": "skip"},
    {"overlap": "wait"},
    {"overlap": "wait", "waitLimit": 2},
    {"overlap": "waitLatest"},
    {"overlap": "allow"},
    {},
)

#: How many may wait: so few that more come, or as many as ever will.
_WAIT_LIMITS: Final = (1, 2, 3, 8, None)

#: Beside the usual policies, one that holds a job for a minute and more.
_RETRY: Final[Mapping[str, Any]] = {"maxAttempts": 5, "initialDelay": "25s", "multiplier": 1}

#: How long a consumer of such a job may work at most: dense schedules come every few seconds.
_WORKS_MS: Final = (0, 3 * SECOND_MS, 14 * SECOND_MS)

#: In so many of those seeds one trigger ends as a dead letter and leaves a line held for an hour: that takes
#: long.
_CRASHES: Final = 1 / 25

#: Chances are told apart by this.
_WORK: Final = 6


@dataclass(frozen=True, slots=True)
class Overlapping:
    """The settings of a seed's jobs: by name, how each is, and how long its consumer may work.

    When `crashes_at` triggers were requested, the next kills whoever begins it, however often it is tried.
    """

    kinds: Mapping[str, str]
    works_ms: Mapping[str, int]
    crashes_at: int | None = None

    @classmethod
    def of(cls, seed: int) -> "Overlapping":
        """The settings of a seed: none in most."""
        random = stream(seed, "overlap")
        if random.random() >= _SEEDS:
            return cls({}, {})
        names = [f"job-{number}" for number in range(4)]
        kinds = {name: random.choice(_KINDS) for name in names}
        works_ms = {name: random.choice(_WORKS_MS) for name, kind in kinds.items() if kind != "allow"}
        return cls(kinds, works_ms, random.randrange(1, 12) if random.random() < _CRASHES else None)

    def written(self, name: str, random: Random) -> dict[str, Any]:
        """What a new definition of the job says of it; nothing where runs may overlap."""
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
        """What a PATCH may change of it: as a rule nothing."""
        return (
            dict(random.choice(SETTINGS)) if self.kinds.get(name) == "any" and random.random() < 1 / 2 else {}
        )

    def takes_turns(self, name: str) -> bool:
        """Whether the job does, as a rule."""
        return name in self.works_ms

    def work_ms(self, name: str, code: int) -> int:
        """How long the consumer of a job works at a request with that chance."""
        return int(self.works_ms.get(name, 0) * fraction(mixed(code, _WORK)))


#: No job takes turns, no consumer works for long.
NONE: Final = Overlapping({}, {})
