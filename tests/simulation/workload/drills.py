"""When timers of a seed are lost, and when an operator audits or rebuilds them. Only some seeds have this."""

from dataclasses import dataclass, replace
from typing import Final

from tests.simulation.workload.scenario import Scenario
from tests.simulation.world.faults import is_backlogged, stream

from sweephand.base.instants import MINUTE_MS, SECOND_MS

#: The Timers tables of these seeds are lost.
FIRST_WITH_DRILL: Final = 3_600_000
_AFTER_DRILL: Final = 3_700_000

#: In half of them the table is set back to an earlier state instead of being emptied, by at most so much.
_RESTORED: Final = 1 / 2
_BACK_MS_MAX: Final = 12 * MINUTE_MS

#: When the table is lost, and how much later the operator rebuilds, with at least a minute in between: a job
#: that was armed before the loss may be committed until then.
_LOST_MINUTES: Final = (3, 12)
_REBUILT_MINUTES: Final = (2, 9)

#: The faults go on for so long after the rebuild begins.
_AFTER_MINUTES: Final = 4


@dataclass(frozen=True, slots=True)
class Drill:
    """The loss of a seed, as times after the world's beginning.

    The table is set back to what it was at `back_to_ms`; None if it is emptied.
    """

    lost_ms: int
    rebuilt_ms: int
    back_to_ms: int | None = None

    @classmethod
    def of(cls, seed: int) -> "Drill | None":
        """Return that of a seed. A seed that lasts for days, or has a backlog, has none."""
        if not FIRST_WITH_DRILL <= seed < _AFTER_DRILL:
            return None
        if Scenario.of(seed).is_sparse or is_backlogged(seed):
            return None
        random = stream(seed, "drill")
        lost_ms = random.randrange(*(each * MINUTE_MS for each in _LOST_MINUTES))
        later_ms = random.randrange(*(each * MINUTE_MS for each in _REBUILT_MINUTES))
        is_restored = random.random() < _RESTORED
        back_ms = random.randrange(SECOND_MS, _BACK_MS_MAX)
        back_to_ms = max(0, lost_ms - back_ms) if is_restored else None
        return cls(lost_ms, lost_ms + later_ms, back_to_ms)

    def scenario(self, scenario: Scenario) -> Scenario:
        """Return the scenario, long enough for the rebuild."""
        minutes = self.rebuilt_ms // MINUTE_MS + _AFTER_MINUTES
        return replace(scenario, minutes=max(scenario.minutes, minutes))


def looks_far_back(seed: int) -> bool:
    """Whether clients of a seed backfill times of days before, which rebuilds and audits have to find."""
    return Drill.of(seed) is not None or Audits.of(seed) is not None


#: The jobs of these seeds are audited again and again.
FIRST_WITH_AUDITS: Final = 3_700_000
_AFTER_AUDITS: Final = 3_800_000

#: The time between two audits, and how long they go on after the faults.
_EVERY_MINUTES: Final = (1, 3)
_LOST_AFTER_MINUTES: Final = 12


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
        while at_ms < (scenario.minutes + _LOST_AFTER_MINUTES) * MINUTE_MS:
            at_ms += random.randrange(*(each * MINUTE_MS for each in _EVERY_MINUTES))
            found.append(at_ms)
        return cls(tuple(found))
