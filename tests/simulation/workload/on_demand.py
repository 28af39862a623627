"""The jobs that fire only on demand, by hand or in a chain. Only some seeds have them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tests.simulation.workload.flows import FAST, SLOW
from tests.simulation.workload.leaving import FIELD
from tests.simulation.workload.scenario import Scenario
from tests.simulation.world.faults import is_at_margins, is_backlogged, stream

from sweephand.base.instants import Instant

#: The share of seeds with such jobs.
_SEEDS: Final = 1 / 5

#: In these seeds, the share of definitions without a time, of jobs with a low number. Other jobs lead to
#: these.
_LOW: Final = 0.6
_OTHERS: Final = 0.15
_LOW_MAX: Final = 1

#: The share of the other definitions that lead to a job with a lower number. So no two jobs follow each other
#: for ever.
_FOLLOWED: Final = 0.5

#: The share of these jobs that end by a `ttl`.
_ENDING: Final = 1 / 4
_TTLS: Final = ("90s", "400s", "30m")

#: The share of updates of a job's timing that remove every field that says when it fires.
_TAKEN_AWAY: Final = 0.4

#: The number of additional triggers by hand.
_TRIGGERS: Final = 12

#: Fields about occurrences, which a job on demand does not have. Production refuses each.
_TIMES: Final = frozenset({"schedule", "dst", "dueTime", "ttl", "repeats", "jitter"})
_UNJUDGED: Final = frozenset({"catchup", FIELD})

#: The action, by its name in verbs.ACTIONS.
_TRIGGER: Final = "trigger"


@dataclass(frozen=True, slots=True)
class OnDemand:
    """The jobs of this kind in a seed."""

    seed: int
    is_on: bool
    is_sparse: bool

    @classmethod
    def of(cls, seed: int) -> "OnDemand":
        """Return those of a seed.

        A seed that uses up the margins between clocks or lasts for weeks has none.
        """
        scenario = Scenario.of(seed)
        has_none = is_at_margins(seed) or is_backlogged(seed) or scenario.is_for_weeks
        is_drawn = stream(seed, "on demand").random() < _SEEDS
        return cls(seed, is_drawn and not has_none, scenario.is_sparse)

    def added(self, written: dict[str, Any], name: str, number: int) -> dict[str, Any]:
        """Return the definition of a job that step `number` writes, in some seeds without a time."""
        if not self.is_on:
            return written
        random = stream(self.seed, f"on demand/{number}")
        place = int(name.rpartition("-")[2])
        if random.random() >= (_LOW if place <= _LOW_MAX else _OTHERS):
            # Over days, triggers that follow a paused job are put back too often.
            is_followed = place > 0 and not self.is_sparse and random.random() < _FOLLOWED
            return self._followed(written, f"job-{random.randrange(place)}") if is_followed else written
        fields = {name: value for name, value in written.items() if name not in _TIMES | _UNJUDGED}
        if random.random() < _ENDING:
            fields["ttl"] = random.choice(_TTLS)
        return fields

    def _followed(self, written: dict[str, Any], name: str) -> dict[str, Any]:
        fields = {**written, "onComplete": {"type": "job", "name": name, "when": "always"}}
        return {**fields, "schedule": SLOW} if fields.get("schedule") in FAST else fields

    def retimed(self, written: dict[str, Any], number: int) -> dict[str, Any]:
        """Return a definition whose timing step `number` changes, in some seeds without any time left."""
        random = stream(self.seed, f"on demand/retimed/{number}")
        if not self.is_on or random.random() >= _TAKEN_AWAY:
            return written
        return {name: value for name, value in written.items() if name not in _TIMES | _UNJUDGED}

    def asked(self, names: list[str], begins_at: Instant, ends_at: Instant) -> list[tuple[Instant, str, str]]:
        """Return when clients trigger which job besides."""
        if not self.is_on:
            return []
        random = stream(self.seed, "on demand/asked")
        low = names[: _LOW_MAX + 1]
        return sorted(
            (random.randrange(begins_at, ends_at), _TRIGGER, random.choice(low)) for _ in range(_TRIGGERS)
        )


def is_on_demand(definition: Mapping[str, Any]) -> bool:
    """Whether a definition says no time at which its job fires."""
    return definition.get("schedule") is None and definition.get("dueTime") is None


def judged(definition: Mapping[str, Any]) -> dict[str, Any]:
    """Return a definition without the fields that the API refuses for a job on demand."""
    if not is_on_demand(definition):
        return dict(definition)
    return {name: value for name, value in definition.items() if name not in _UNJUDGED}
