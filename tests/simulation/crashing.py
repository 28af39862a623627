"""A trigger that kills whoever has begun it, however often it is tried."""

from typing import Any, cast

from tests.simulation.consumers import Consumers
from tests.simulation.gate import Gate

from sweephand.instants import Instant
from sweephand.ports import RunStore
from sweephand.runs.run import Run


class Crashing:
    """ports.RunStore in which the claim of one trigger is the end of who was granted it.

    It is that of a job whose runs take turns, when so many requests were made as the seed says. So it holds
    its job's line, and goes to the dead-letter queue after it was received as often as may be.
    """

    def __init__(self, runs: RunStore, consumers: Consumers, gate: Gate) -> None:
        self._runs = runs
        self._consumers = consumers
        self._gate = gate

    def __getattr__(self, name: str) -> Any:
        return getattr(self._runs, name)

    def claim(self, run: Run, now: Instant) -> Run | None:
        """As ports.RunStore promises, but for that one."""
        consumers, overlapping = self._consumers, self._consumers.overlapping
        is_the_one = len(consumers.attempts) == overlapping.crashes_at
        if consumers.crasher is None and is_the_one and overlapping.takes_turns(run.key.name):
            consumers.crasher = run.trigger_id
        refused_by = self._runs.claim(run, now)
        if run.trigger_id == consumers.crasher and refused_by is None:
            self._gate.kill(f"claiming {run.trigger_id}")
        return refused_by


def crashing(runs: RunStore, consumers: Consumers, gate: Gate) -> RunStore:
    """Those runs; in most seeds as they are."""
    if consumers.overlapping.crashes_at is None and consumers.crasher is None:
        return runs
    return cast("RunStore", Crashing(runs, consumers, gate))
