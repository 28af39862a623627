"""Jobs with a watch. Only some seeds have them.

The random numbers of this module are its own, and so are its seeds, so that other seeds stay what they are.
"""

from dataclasses import dataclass
from typing import Any, Final

from tests.simulation.workload.drills import Drill
from tests.simulation.workload.scenario import Scenario
from tests.simulation.workload.windows import AFTER_WINDOWS, FIRST_WITH_WINDOWS
from tests.simulation.world.faults import stream

#: In these seeds, most jobs have a watch.
FIRST_WITH_WATCHES: Final = 3_500_000
_AFTER_WATCHES: Final = 3_600_000

#: So have those of this share of the seeds whose Timers table is lost.
_WITH_DRILL: Final = 1 / 3

#: So have those of this share of the seeds with windows.
_WITH_WINDOWS: Final = 1 / 3

#: The share of definitions with a watch. Where a later definition has none, the watch ends.
_WATCHED: Final = 0.9

#: A retry of a consumer that fails once is mostly over before the first of these, and an outage is not.
_TIMES: Final = ("1m", "1m", "2m", "5m", "PT2M30S")

_ALERTED: Final = {"type": "http", "url": "https://ops.example/alerts"}

#: Fields that a job with a watch cannot have with every value.
_WITHOUT: Final = frozenset({"batch", "history"})


@dataclass(frozen=True, slots=True)
class Watches:
    """The watches of a seed."""

    seed: int
    are_on: bool = False

    @classmethod
    def of(cls, seed: int) -> "Watches":
        """Return those of a seed. A seed that lasts for days has none."""
        is_among = FIRST_WITH_WATCHES <= seed < _AFTER_WATCHES
        if Drill.of(seed) is not None:
            is_among = stream(seed, "watches of a drill").random() < _WITH_DRILL
        if FIRST_WITH_WINDOWS <= seed < AFTER_WINDOWS:
            is_among = stream(seed, "watches of windows").random() < _WITH_WINDOWS
        return cls(seed, is_among and not Scenario.of(seed).is_sparse)

    def added(self, written: dict[str, Any], number: int) -> dict[str, Any]:
        """Return the definition of a job that step `number` writes, mostly with a watch."""
        random = stream(self.seed, f"watches/{number}")
        if not self.are_on or random.random() >= _WATCHED:
            return written
        kept = {name: value for name, value in written.items() if name not in _WITHOUT}
        if random.random() < 1 / 3:
            kept["history"] = "full"
        return kept | {"alertAfter": random.choice(_TIMES), "onAlert": _ALERTED}
