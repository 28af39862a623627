"""Jobs that go with their last run, and jobs that are deleted while their creation may still be repeated."""

from dataclasses import dataclass
from typing import Any, Final

from tests.simulation.workload.forms import BOUND
from tests.simulation.workload.scenario import Scenario
from tests.simulation.world.faults import NO_MASK, Troubles, is_at_margins, is_backlogged, stream

from sweephand.base.instants import SECOND_MS, Instant

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


#: The share of the seeds with repeats that have such jobs.
_SEEDS: Final = 1 / 3

#: The number of such jobs.
_LIVES: Final = 10

#: The job of the name is deleted at most this long before, so that a creation follows.
_BEFORE_MS_MAX: Final = 4 * SECOND_MS

#: How long after the creation the deletion comes at most. It mostly comes sooner: the SDK makes a request
#: again within 9 s.
_AFTER_MS_MAX: Final = 9 * SECOND_MS

#: The share of deletions that another creation follows within the same time.
_CREATED_AGAIN: Final = 0.4


@dataclass(frozen=True, slots=True)
class ShortLives:
    """Whether a seed has such jobs."""

    seed: int
    is_on: bool

    @classmethod
    def of(cls, seed: int) -> "ShortLives":
        """What a seed has. A seed that lasts for days or uses up the margins between clocks has none."""
        has_none = is_at_margins(seed) or is_backlogged(seed) or Scenario.of(seed).is_sparse
        is_on = not has_none and stream(seed, "short lives").random() < _SEEDS
        return cls(seed, is_on and Troubles.of(seed, NO_MASK)["repeats"] > 0)

    def asked(self, names: list[str], begins_at: Instant, ends_at: Instant) -> list[tuple[Instant, str, str]]:
        """Return when clients delete, create and delete which job in a row."""
        if not self.is_on:
            return []
        random = stream(self.seed, "short lives/asked")
        found = []
        for _ in range(_LIVES):
            at, name = random.randrange(begins_at, ends_at), random.choice(names)
            found.append((at, "delete", name))
            at += random.randrange(1, _BEFORE_MS_MAX)
            found.append((at, "put", name))
            at += int(_AFTER_MS_MAX * random.random() ** 2)
            found.append((at, "delete", name))
            if random.random() < _CREATED_AGAIN:
                found.append((at + random.randrange(1, _AFTER_MS_MAX), "put", name))
        return sorted((min(at, ends_at), action, name) for at, action, name in found)
