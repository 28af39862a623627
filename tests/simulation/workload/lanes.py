"""Stacks whose triggers have a lane for each priority, and floods of one lane. Only some seeds have them.

The random numbers of this module are its own, and so are its seeds, so that other seeds stay what they are.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from tests.simulation.workload.bundling import Bundling
from tests.simulation.workload.scenario import Scenario
from tests.simulation.world.faults import stream

from sweephand.base.instants import MINUTE_MS, SECOND_MS, Instant, rfc3339
from sweephand.model.policy_names import PRIORITIES, Priority

#: The stacks of these seeds have lanes.
FIRST_WITH_LANES: Final = 3_300_000
_AFTER_LANES: Final = 3_400_000

#: The share of other definitions that give a priority.
_PRIORITY: Final = 0.6

#: The job that is to be on time, and the one whose triggers fall due together. Their lanes differ.
PROMPT: Final = "lane-prompt"
FLOOD: Final = "lane-flood"

#: The action of clients that creates these two, by its name in verbs.ACTIONS.
JOIN: Final = "create in a lane"
_JOINED_MS_MAX: Final = 20 * SECOND_MS

#: A flood keeps all functions of its lane busy for longer than a high trigger may wait. It is smaller where
#: functions have few threads, so that other triggers of the lane do not wait for minutes.
_FLOODS_EVERY: Final = "@every 4m"
_FLOOD: Final = 60
_FLOOD_OF_FEW_THREADS: Final = 12
#: Floods that fall due while the stack is off do not come together when it is on again.
_QUIET: Final[Mapping[str, Any]] = {"history": "failures", "catchup": {"mode": "none", "window": "5m"}}
_FLOOD_WORK_MS: Final = 5 * SECOND_MS
_FUNCTIONS_MAX: Final = 2

#: In these seeds no other job is written, and a single flood of low triggers falls due in the calm. It keeps
#: the functions of its lane busy for many minutes.
HERDS: Final = range(3_390_000, 3_390_010)
_HERD: Final = 10_000
_HERD_WORK_MS: Final = SECOND_MS // 5
_HERD_MINUTES: Final = 6
#: What was sent before the calm is over by then.
_HERD_AFTER_CALM_MS: Final = 11 * MINUTE_MS

#: A stack that is switched on for so long shows a few floods.
_MINUTES_MIN: Final = 6


def also_has(seed: int, what: str, share: float) -> bool:
    """Whether a seed with lanes is among the share of them that has something else too."""
    is_among = FIRST_WITH_LANES <= seed < _AFTER_LANES
    return is_among and stream(seed, f"lanes/{what}").random() < share


@dataclass(frozen=True, slots=True)
class Lanes:
    """The lanes of a seed, and the priority of its floods."""

    seed: int
    are_on: bool = False
    flooded: Priority = "low"
    is_herd: bool = False

    @classmethod
    def of(cls, seed: int) -> "Lanes":
        """Return those of a seed. A seed that lasts for days has none."""
        if not FIRST_WITH_LANES <= seed < _AFTER_LANES or Scenario.of(seed).is_sparse:
            return cls(seed)
        if seed in HERDS:
            return cls(seed, are_on=True, is_herd=True)
        return cls(seed, are_on=True, flooded=stream(seed, "lanes").choice(("low", "normal")))

    def scenario(self, scenario: Scenario) -> Scenario:
        """Return the scenario, with few functions in each lane."""
        if not self.are_on:
            return scenario
        if self.is_herd:
            scenario = replace(scenario, minutes=_HERD_MINUTES, jobs=1, writes=0)
        minutes = max(scenario.minutes, _MINUTES_MIN)
        return replace(scenario, minutes=minutes, deliveries_at_once=_FUNCTIONS_MAX)

    def added(self, written: dict[str, Any], number: int) -> dict[str, Any]:
        """Return the definition of a job that step `number` writes, mostly with a priority."""
        random = stream(self.seed, f"lanes/{number}")
        if not self.are_on or random.random() >= _PRIORITY:
            return written
        return written | {"priority": random.choice(PRIORITIES)}

    def asked(self, begins_at: Instant, ends_at: Instant) -> list[tuple[Instant, str, str]]:
        """Return when clients create the two jobs of these seeds."""
        del ends_at
        random = stream(self.seed, "lanes/asked")
        if not self.are_on:
            return []
        return [(begins_at + random.randrange(_JOINED_MS_MAX), JOIN, name) for name in (PROMPT, FLOOD)]

    def definition(self, name: str) -> Mapping[str, Any]:
        """Return the definition of one of them."""
        if name == PROMPT:
            return {"schedule": "@every 7s", "priority": "high"}
        if self.is_herd:
            due_at = Scenario.of(self.seed).begins_at + _HERD_MINUTES * MINUTE_MS + _HERD_AFTER_CALM_MS
            herd = {"count": _HERD, "window": "0s"}
            return {"dueTime": rfc3339(due_at), "batch": herd, "priority": self.flooded, **_QUIET}
        few = Bundling.of(self.seed).threads is not None
        flood = {"count": _FLOOD_OF_FEW_THREADS if few else _FLOOD, "window": "0s"}
        return {"schedule": _FLOODS_EVERY, "batch": flood, "priority": self.flooded, **_QUIET}

    def work_ms(self, name: str) -> int:
        """Return how long the consumer of a job works at a request, also in the calm."""
        if not self.are_on or name != FLOOD:
            return 0
        return _HERD_WORK_MS if self.is_herd else _FLOOD_WORK_MS


#: A stack with one queue.
NO_LANES: Final = Lanes(0)
