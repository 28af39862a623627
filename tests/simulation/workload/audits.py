"""When the jobs of a seed are audited, and when a timer is lost before that. Only some seeds have that.

The random numbers of this module are its own, and so are its seeds, so that other seeds stay what they are.
"""

from dataclasses import dataclass
from typing import Final

from tests.simulation.workload.scenario import Scenario
from tests.simulation.world.faults import is_backlogged, stream

from sweephand.base.instants import MINUTE_MS

#: The jobs of these seeds are audited again and again.
FIRST_WITH_AUDITS: Final = 3_700_000
_AFTER_AUDITS: Final = 3_800_000

#: The time between two audits, and how long they go on after the faults.
_EVERY_MINUTES: Final = (1, 3)
_AFTER_MINUTES: Final = 12


@dataclass(frozen=True, slots=True)
class Audits:
    """The audits of a seed, as times after the world's beginning."""

    at_ms: tuple[int, ...]

    @classmethod
    def of(cls, seed: int) -> "Audits | None":
        """Return those of a seed. A seed that lasts for days, or has a backlog, has none."""
        scenario = Scenario.of(seed)
        is_among = FIRST_WITH_AUDITS <= seed < _AFTER_AUDITS
        if not is_among or scenario.is_sparse or is_backlogged(seed):
            return None
        random = stream(seed, "audits")
        found, at_ms = [], 0
        while at_ms < (scenario.minutes + _AFTER_MINUTES) * MINUTE_MS:
            at_ms += random.randrange(*(each * MINUTE_MS for each in _EVERY_MINUTES))
            found.append(at_ms)
        return cls(tuple(found))
