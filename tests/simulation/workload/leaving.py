"""Which jobs go with their last run (`deleteAfterCompletion`): in some seeds, apart from all else."""

from dataclasses import dataclass
from typing import Any, Final

from tests.simulation.workload.forms import BOUND
from tests.simulation.workload.scenario import Scenario
from tests.simulation.world.faults import is_at_margins, stream

#: In so many seeds jobs go with their last run, and all that last for days.
_LEAVING: Final = 1 / 4

#: There, so many of the definitions end, for so many that do it is asked for, and of the others for so many.
_BOUND: Final = 0.5
_ASKED: Final = 0.75
_IN_VAIN: Final = 0.15

#: And so many of the patches change their mind about it.
_PATCHED: Final = 0.3

#: What says when a job fires, and what bounds it.
_TIMING: Final = frozenset(
    {"schedule", "timezone", "dst", "dueTime", "ttl", "repeats", "jitter", "retention"}
)
_BOUNDS: Final = frozenset({"dueTime", "ttl", "repeats"})

FIELD: Final = "deleteAfterCompletion"


@dataclass(frozen=True, slots=True)
class Leaving:
    """What of this a seed has."""

    seed: int
    is_on: bool

    @classmethod
    def of(cls, seed: int) -> "Leaving":
        """That of a seed: one that asks of the margins between clocks all that they allow for has none."""
        is_drawn = stream(seed, "leaving").random() < _LEAVING and not is_at_margins(seed)
        return cls(seed, is_drawn or Scenario.of(seed).is_sparse)

    def added(self, written: dict[str, Any], number: int, *, is_sparse: bool) -> dict[str, Any]:
        """The definition of a job that step `number` writes, and in some seeds whether it goes by itself."""
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
        """What a PATCH says of it; mostly nothing."""
        random = stream(self.seed, f"leaving/patch/{number}")
        if not self.is_on or random.random() >= _PATCHED:
            return {}
        return {FIELD: random.random() < 2 / 3}
