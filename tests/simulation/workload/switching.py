"""When the operator of a seed's stack switches it off, and on again. Only some seeds have that.

The random numbers of this module are its own, and so are its seeds, so that other seeds stay what they are.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from tests.simulation.workload.lanes import also_has
from tests.simulation.workload.scenario import Scenario
from tests.simulation.world.faults import stream
from tests.simulation.world.processes import Scheduler

from sweephand.base.instants import DAY_MS, MINUTE_MS, Instant

#: The stacks of these seeds are switched off.
FIRST_OFF: Final = 3_000_000
_AFTER_OFF: Final = 3_100_000

#: So are these, which last for weeks: once, for a month.
FIRST_OFF_FOR_A_MONTH: Final = 10_500_000
_MONTH_MS: Final = 30 * DAY_MS
_ON_DAYS: Final = (2, 9)
_ON_AFTER_MS: Final = 12 * DAY_MS

#: So are those of this share of the seeds with lanes.
_WITH_LANES: Final = 1 / 4

#: How long the stack is on before that and after it, and how long it is off. An hour or more is beyond the
#: window within which everything fires.
_ON_MINUTES: Final = (3, 10)
_OFF_MINUTES: Final = (2, 8, 15, 40, 75)
_TWICE: Final = 1 / 4


@dataclass(frozen=True, slots=True)
class Switching:
    """When the stack is off, as times after the world's beginning: from when, and for how long."""

    spans: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(cls, seed: int) -> "Switching":
        """Return those of a seed."""
        if seed >= FIRST_OFF_FOR_A_MONTH:
            at = stream(seed, "switch").randrange(_ON_DAYS[0] * DAY_MS, _ON_DAYS[1] * DAY_MS)
            return cls(((at, _MONTH_MS),))
        if not (FIRST_OFF <= seed < _AFTER_OFF or also_has(seed, "switch", _WITH_LANES)):
            return cls()
        random = stream(seed, "switch")
        spans, at = [], 0
        for _ in range(2 if random.random() < _TWICE else 1):
            at += random.randrange(_ON_MINUTES[0] * MINUTE_MS, _ON_MINUTES[1] * MINUTE_MS)
            lasts_ms = random.choice(_OFF_MINUTES) * MINUTE_MS + random.randrange(MINUTE_MS)
            spans.append((at, lasts_ms))
            at += lasts_ms
        return cls(tuple(spans))

    def scenario(self, scenario: Scenario) -> Scenario:
        """Return the scenario, long enough for the switching. A seed of days stays as it is."""
        if not self.spans or (scenario.is_sparse and not scenario.is_for_weeks):
            return scenario
        after_ms, lasts_ms = self.spans[-1]
        on_ms = _ON_AFTER_MS if scenario.is_for_weeks else _ON_MINUTES[1] * MINUTE_MS
        minutes = (after_ms + lasts_ms + on_ms) // MINUTE_MS
        return replace(scenario, minutes=max(scenario.minutes, minutes))

    def plan(self, scheduler: Scheduler, calm_at: Instant, switch_off: Callable[[int], None]) -> None:
        """At the world's beginning: plan to switch the stack off, at instants before the calm."""
        for after_ms, lasts_ms in self.spans:
            if (at := scheduler.now + after_ms) < calm_at:
                scheduler.call_at(at, partial(switch_off, lasts_ms))
