"""Batches in a seed: jobs whose occurrences have many triggers, and changes in the middle of a batch.

The random numbers of this module are its own, so that other seeds stay what they are.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tests.simulation.workload.scenario import Scenario
from tests.simulation.workload.watches import Watches
from tests.simulation.world.faults import FIRST_BATCHED, FIRST_FOR_WEEKS, is_backlogged, is_poisoned, stream

#: The share of seeds in which jobs have batches, and in these seeds the share of such definitions. All seeds
#: from FIRST_BATCHED up to those that last for weeks have them. The seeds before `_USUAL_FROM` have none, so
#: that those which catch other mutations stay what they are.
_SEEDS: Final = 1 / 10
_USUAL_FROM: Final = 2_000
_USUAL_BEFORE: Final = 5_000_000
_BATCHED: Final = 0.6

#: Batches within a bucket, over several buckets, over the border of 300 s, and all at once.
_FORMS: Final[tuple[dict[str, Any], ...]] = (
    {"schedule": "@every 61s", "batch": {"count": 3}},
    {"schedule": "@every 23s", "batch": {"count": 2, "window": "9s"}},
    {"schedule": "@every 121s", "batch": {"count": 7, "window": "115s"}},
    {"schedule": "*/2 * * * *", "batch": {"count": 11, "window": "90s"}},
    {"schedule": "@every 290s", "batch": {"count": 40, "window": "280s"}},
    {"schedule": "@every 7m", "repeats": 2, "batch": {"count": 30, "window": "5m"}},
    {"schedule": "@every 9m", "dueTime": "10s", "batch": {"count": 50, "window": "8m"}},
    {"dueTime": "20s", "batch": {"count": 60, "window": "10m"}},
    {"dueTime": "20s", "batch": {"count": 150, "window": "150s"}},
    {"dueTime": "299s", "batch": {"count": 25}},
    {"dueTime": "301s", "batch": {"count": 30, "window": "7m"}},
    {"dueTime": "330s", "batch": {"count": 80, "window": "90s"}},
)

#: A batch whose retries come half an hour later has at most so many triggers.
_RETRIED_MAX: Final = 20

#: In the seeds from this one on, `repeats` or `ttl` end the schedule. A batch without a following occurrence
#: may last for longer than a period.
FIRST_LASTING: Final = 7_500_000
_LASTING: Final[tuple[dict[str, Any], ...]] = (
    {"schedule": "*/2 * * * *", "repeats": 1, "batch": {"count": 30, "window": "7m"}},
    {"schedule": "@every 30s", "repeats": 1, "batch": {"count": 20, "window": "4m"}},
    {"schedule": "* * * * *", "ttl": "70s", "batch": {"count": 12, "window": "6m"}},
    {"schedule": "@every 70s", "dueTime": "30s", "ttl": "90s", "batch": {"count": 9, "window": "5m"}},
    {"schedule": "@every 2m", "repeats": 2, "batch": {"count": 20, "window": "115s"}},
    {"schedule": "@every 50s", "ttl": "4m", "batch": {"count": 10, "window": "45s"}},
)

#: What a PATCH changes of a batch. Each window is shorter than the periods above.
_CHANGES: Final[tuple[dict[str, Any], ...]] = (
    {},
    {},
    {"batch": {"count": 5, "window": "8s"}},
    {"batch": {"count": 4}},
)

#: When a job fires, and what a job with a batch cannot have.
_REPLACED: Final = frozenset({"schedule", "timezone", "dst", "dueTime", "ttl", "repeats", "jitter"})
_WITHOUT: Final = frozenset({"overlap", "waitLimit", "deleteAfterCompletion"})


@dataclass(frozen=True, slots=True)
class Batches:
    """The jobs and changes of this kind in a seed."""

    seed: int
    is_on: bool

    @classmethod
    def of(cls, seed: int) -> "Batches":
        """Return those of a seed. A seed that lasts for days, or has a backlog or poison, has none."""
        has_none = Scenario.of(seed).is_sparse or is_backlogged(seed) or is_poisoned(seed)
        # A batch cannot be watched.
        has_none = has_none or Watches.of(seed).are_on
        is_drawn = stream(seed, "batches").random() < _SEEDS and _USUAL_FROM <= seed < _USUAL_BEFORE
        return cls(seed, (is_drawn or FIRST_BATCHED <= seed < FIRST_FOR_WEEKS) and not has_none)

    def added(self, written: dict[str, Any], number: int) -> dict[str, Any]:
        """Return the definition of a job that step `number` writes, in some seeds with a batch."""
        random = stream(self.seed, f"batches/{number}")
        if not self.is_on or random.random() >= _BATCHED:
            return written
        kept = {name: value for name, value in written.items() if name not in _REPLACED | _WITHOUT}
        forms = _LASTING if self.seed >= FIRST_LASTING else _FORMS
        form = random.choice(forms)
        # Other jobs may start the batch again and again until its last retry.
        is_long = kept.get("retry", {}).get("initialDelay") == "32m" and form["batch"]["count"] > _RETRIED_MAX
        return kept | form | ({"batch": {**form["batch"], "count": _RETRIED_MAX}} if is_long else {})

    def patched(self, number: int) -> dict[str, Any]:
        """Return what a PATCH changes of it."""
        return dict(stream(self.seed, f"batches/patch/{number}").choice(_CHANGES)) if self.is_on else {}


def allowed_with_batch(written: Mapping[str, Any]) -> dict[str, Any]:
    """Return a definition without the fields that a batch does not allow, if it has a batch."""
    without = _WITHOUT if "batch" in written else frozenset()
    return {name: value for name, value in written.items() if name not in without}
