"""The windows of a seed's namespace, and when an operator writes and removes them. Only some seeds have them.

The random numbers of this module are its own, and so are its seeds, so that other seeds stay what they are.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from tests.contract.builders import admin_change
from tests.fakes.flow_memory import MemoryNamespaces
from tests.fakes.world import key_of
from tests.simulation.traces.rare_events import WindowSet
from tests.simulation.workload.scenario import Scenario
from tests.simulation.world.faults import stream
from tests.simulation.world.processes import Scheduler

from sweephand.base.instants import HOUR_MS, MINUTE_MS, SECOND_MS, Instant
from sweephand.model.window import Then, Window
from sweephand.model.window import Windows as Stored
from sweephand.schedules import Series

#: The namespaces of these seeds have windows.
FIRST_WITH_WINDOWS: Final = 4_000_000
AFTER_WINDOWS: Final = 4_100_000

#: How long the seeds last at least, and how long before their calm the last window closes.
_MINUTES: Final = 24
_CLOSED_MS: Final = 2 * MINUTE_MS

_LONG_MS: Final = (4 * MINUTE_MS, 10 * MINUTE_MS)
_AHEAD_MS: Final = (0, 90 * SECOND_MS, 4 * MINUTE_MS)
_SPREADS_MS: Final = (0, 10 * SECOND_MS, MINUTE_MS, 2 * MINUTE_MS)

#: In the seeds from this one on, all windows recur, and most spreads outlast the time until the next opening.
FIRST_WITH_SPREADS: Final = 4_050_000
_LONG_SPREADS_MS: Final = (5 * MINUTE_MS, 12 * MINUTE_MS, 2 * HOUR_MS)
_PREFIXES: Final = ("", "", "job-0", "job-1")
_THEN: Final[tuple[Then, ...]] = ("hold", "hold", "skip")
_CHANGED: Final = 1 / 2
_RECURRING: Final = 1 / 4
_PERIOD_MINUTES: Final = 10


@dataclass(frozen=True, slots=True)
class Windows:
    """The writes of a seed's windows, each with when it is made after the world's beginning."""

    steps: tuple[tuple[int, WindowSet], ...] = ()

    @classmethod
    def of(cls, seed: int) -> "Windows":
        """Return those of a seed. A seed that lasts for days has none."""
        if not FIRST_WITH_WINDOWS <= seed < AFTER_WINDOWS or Scenario.of(seed).is_sparse:
            return cls()
        random = stream(seed, "windows")
        begins_at = Scenario.of(seed).begins_at
        closed_by = max(Scenario.of(seed).minutes, _MINUTES) * MINUTE_MS - _CLOSED_MS
        has_spreads = seed >= FIRST_WITH_SPREADS
        steps: list[tuple[int, WindowSet]] = []
        for number in range(random.randint(1, 3)):
            opens_ms = random.randrange(closed_by - _LONG_MS[0])
            closes_ms = min(opens_ms + random.randrange(*_LONG_MS), closed_by)
            written_ms = max(0, opens_ms - random.choice(_AHEAD_MS))
            one = WindowSet(
                begins_at + written_ms,
                f"window-{number}",
                random.choice(_THEN),
                random.choice(_PREFIXES),
                ((begins_at + opens_ms, begins_at + closes_ms),),
                random.choice(_LONG_SPREADS_MS if has_spreads else _SPREADS_MS),
            )
            if random.random() < _RECURRING or has_spreads:
                one = replace(one, openings=_recurring(begins_at, closes_ms - opens_ms), is_recurring=True)
            steps.append((written_ms, one))
            if one.is_recurring or random.random() < _CHANGED:
                # It is removed, or is open for longer or shorter.
                at = random.randrange(opens_ms, closes_ms) if not one.is_recurring else closed_by
                until_ms = random.randrange(opens_ms + 1, closed_by)
                is_removed = one.is_recurring or random.random() < 1 / 2
                openings = () if is_removed else ((begins_at + opens_ms, begins_at + until_ms),)
                steps.append((at, replace(one, at=begins_at + at, openings=openings, is_recurring=False)))
        return cls(tuple(sorted(steps, key=lambda each: each[0])))

    @property
    def are_on(self) -> bool:
        """Whether there are any."""
        return bool(self.steps)

    def scenario(self, scenario: Scenario) -> Scenario:
        """Return the scenario, long enough for the windows."""
        return replace(scenario, minutes=max(scenario.minutes, _MINUTES)) if self.are_on else scenario

    def plan(
        self, scheduler: Scheduler, store: MemoryNamespaces | None, add: Callable[[WindowSet], object]
    ) -> None:
        """At the world's beginning: plan the writes."""
        assert store is not None or not self.are_on, "windows need a store in memory"
        for after_ms, step in self.steps:
            scheduler.call_at(scheduler.now + after_ms, partial(_write, store, step, add))


def _write(store: MemoryNamespaces | None, step: WindowSet, add: Callable[[WindowSet], object]) -> None:
    assert store is not None, "as plan() has it"
    namespace = key_of(step.name).namespace
    stored = store.windows(namespace)
    rest = [each for each in (stored.windows if stored else ()) if each.name != step.name]
    windows = (*rest, _window(step)) if step.openings else tuple(rest)
    version = f"{step.at}-{step.name}"
    replacing = None if stored is None else stored.version
    assert store.put_windows(Stored(namespace, version, windows, step.at), replacing, admin_change())
    add(step)


def _window(step: WindowSet) -> Window:
    opens_at, closes_at = step.openings[0]
    schedule = f"*/{_PERIOD_MINUTES} * * * *" if step.is_recurring else None
    duration_ms = closes_at - opens_at
    series = Series(schedule, "UTC", step.at - duration_ms, None if schedule else opens_at)
    return Window(
        step.name, "v", series, duration_ms, step.at, "operator", step.then, step.spread_ms, step.prefix
    )


def _recurring(begins_at: Instant, lasts_ms: int) -> tuple[tuple[int, int], ...]:
    """The openings at each tenth minute of the clock, for some hours."""
    period_ms = _PERIOD_MINUTES * MINUTE_MS
    first = begins_at - begins_at % period_ms
    lasts_ms = min(lasts_ms, period_ms - 2 * MINUTE_MS)
    return tuple((first + each * period_ms, first + each * period_ms + lasts_ms) for each in range(30))
