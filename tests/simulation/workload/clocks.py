"""When the clocks of a seed's machines step, as a service that sets the time does. Only some seeds have that.

The random numbers of this module are its own, and so are its seeds, so that other seeds stay what they are.
"""

from dataclasses import dataclass
from typing import Final

from tests.simulation.world.faults import SKEW_MAX_MS, is_backlogged, is_poisoned, stream

from sweephand.base.instants import Instant

#: The clocks of these seeds step.
FIRST_WITH_STEPS: Final = 4_100_000
_AFTER_STEPS: Final = 4_200_000

#: How often they do in a seed, and how far a clock is wrong afterwards. Some steps are of a second.
_STEPS: Final = (4, 30)
_WRONG_MS: Final = (-SKEW_MAX_MS, -1_000, 0, 1_000, SKEW_MAX_MS)


@dataclass(frozen=True, slots=True)
class ClockStep:
    """A clock that is `ahead_ms` ahead from an instant on. `code` chooses the machine."""

    at: Instant
    code: int
    ahead_ms: int


def clock_steps(seed: int, begins_at: Instant, ends_at: Instant) -> list[ClockStep]:
    """Return the steps of a seed between two instants."""
    if not FIRST_WITH_STEPS <= seed < _AFTER_STEPS or is_backlogged(seed) or is_poisoned(seed):
        return []
    random = stream(seed, "clock steps")
    return [
        ClockStep(random.randrange(begins_at, ends_at), random.getrandbits(32), random.choice(_WRONG_MS))
        for _ in range(random.randint(*_STEPS))
    ]
