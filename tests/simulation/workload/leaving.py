"""The jobs that go with their last run (`deleteAfterCompletion`). Only some seeds have them."""

from dataclasses import dataclass
from typing import Any, Final

from tests.simulation.workload.forms import BOUND
from tests.simulation.workload.scenario import Scenario
from tests.simulation.world.faults import is_at_margins, stream

#: The share of seeds in which jobs go with their last run. All seeds that last for days have such jobs.
_LEAVING: Final = 1 / 4

#: In these seeds, the share of definitions that end; the share of those that ask for it; and the share of the
#: others that do.
_BOUND: Final = 0.5
_ASKED: Final = 0.75
_IN_VAIN: Final = 0.15

#: The share of patches that set or remove it.
_PATCHED: Final = 0.3

#: The fields that say when a job fires, and those that bound it.
_TIMING: Final = frozenset(
    {"schedule", "timezone", "dst", "dueTime", "ttl", "repeats", "jitter", "retention"}
)
_BOUNDS: Final = frozenset({"dueTime", "ttl", "repeats"})

FIELD: Final = "deleteAfterCompletion"


@dataclass(frozen=True, slots=True)
class Leaving:
    """The jobs of this kind in a seed."""

    seed: int
    is_on: bool

    @classmethod
    def of(cls, seed: int) -> "Leaving":
        """Return those of a seed. A seed that uses up the margins between clocks has none."""
        is_drawn = stream(seed, "leaving").random() < _LEAVING and not is_at_margins(seed)
        return cls(seed, is_drawn or Scenario.of(seed).is_sparse)

    def added(self, written: dict[str, Any], number: int, *, is_sparse: bool) -> dict[str, Any]:
        """Return the definition of a job that step `number` writes, in some seeds with the field."""
        if not self.is_on:
            return written
        random = stream(self.seed, f"leaving/{number}")
        fields = dict(written)
        if not is_sparse and random.random() < _BOUND:
            fields = {name: value for name, value in fields.items() if name not in _TIMING}
            fields |= random.choice(BOUND)
        if random.random() < (_ASKED if fields.keys() & _BOUNDS else _IN_VAIN):
            fields[FIELD] = True
        return fields

    def patched(self, number: int) -> dict[str, Any]:
        """Return what a PATCH says of it, which is mostly nothing."""
        random = stream(self.seed, f"leaving/patch/{number}")
        if not self.is_on or random.random() >= _PATCHED:
            return {}
        return {FIELD: random.random() < 2 / 3}
