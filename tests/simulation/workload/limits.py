"""How many triggers a minute a seed's stack and its namespace may deliver. Only some seeds have such limits.

The random numbers of this module are its own, and so are its seeds, so that other seeds stay what they are.
"""

from dataclasses import dataclass
from typing import Final

from tests.simulation.workload.lanes import also_has
from tests.simulation.world.faults import stream

#: These seeds have limits.
FIRST_LIMITED: Final = 3_100_000
_AFTER_LIMITED: Final = 3_200_000

#: So has this share of the seeds with lanes.
_WITH_LANES: Final = 1 / 3

#: The limits until the calm. They are so low that most seeds exceed them.
_PER_MINUTE: Final = (3, 5, 8, 12, 20)

#: In the calm the operator raises both, so that what waits is delivered soon.
CALM_PER_MINUTE: Final = 2_000


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a seed, in triggers a minute; 0 stands for none."""

    stack: int = 0
    namespace: int = 0

    @classmethod
    def of(cls, seed: int) -> "Limits":
        """Return those of a seed."""
        if not (FIRST_LIMITED <= seed < _AFTER_LIMITED or also_has(seed, "limits", _WITH_LANES)):
            return cls()
        random = stream(seed, "limits")
        stack, namespace = (random.choice(_PER_MINUTE) for _ in range(2))
        return random.choice((cls(stack), cls(0, namespace), cls(stack, namespace)))

    @property
    def least(self) -> int:
        """The lower of the two limits; 0 if there is none."""
        return min((each for each in (self.stack, self.namespace) if each), default=0)

    @property
    def in_calm(self) -> "Limits":
        """The limits when the calm has begun."""
        return Limits(*(CALM_PER_MINUTE if each else 0 for each in (self.stack, self.namespace)))
