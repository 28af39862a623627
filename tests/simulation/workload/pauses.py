"""Pauses that end by themselves, and with which catch-up. Only some seeds have them.

The random numbers of this module are its own, so that other seeds stay what they are.
"""

from typing import Final

from tests.simulation.workload.forms import MODES
from tests.simulation.workload.scenario import Scenario
from tests.simulation.world.faults import stream

from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, Instant
from sweephand.model.job import PauseEnd

#: The share of seeds in which pauses end by themselves, and of the pauses of such a seed that do.
_SEEDS: Final = 1 / 2
_ENDING: Final = 3 / 4

#: The bounds of how long such a pause lasts. Those over 15 minutes have a timer in the wheel.
_LASTS_MS: Final = ((1, 30 * SECOND_MS), (30 * SECOND_MS, 5 * MINUTE_MS), (5 * MINUTE_MS, 20 * MINUTE_MS))
_LASTS_LONG_MS: Final = ((MINUTE_MS, HOUR_MS), (HOUR_MS, 3 * DAY_MS))


def have_ends(seed: int) -> bool:
    """Whether some pauses of a seed end by themselves."""
    return stream(seed, "pauses").random() < _SEEDS


def pause_end(seed: int, number: int, asked_at: Instant) -> PauseEnd | None:
    """Return the end of the pause of step `number`, which is asked for at that instant, or None."""
    random = stream(seed, f"pauses/{number}")
    if not have_ends(seed) or random.random() > _ENDING:
        return None
    bounds = random.choice(_LASTS_LONG_MS if Scenario.of(seed).is_sparse else _LASTS_MS)
    return PauseEnd(asked_at + random.randint(*bounds), random.choice(MODES))
