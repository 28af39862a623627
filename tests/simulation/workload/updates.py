"""Jobs that are updated as often as they fire, while deliveries are held up. Only some seeds have them.

Each trigger then belongs to a revision of its own. More revisions owe a trigger than the job has room for.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from tests.simulation.workload.scenario import Scenario
from tests.simulation.world.faults import Mask, is_at_margins, is_backlogged, stream

from sweephand.base.instants import MINUTE_MS, SECOND_MS, Instant

#: The share of seeds with such a job, and of seeds in which jobs have room for few earlier revisions.
_SEEDS: Final = 0.05
_FORGETFUL: Final = 0.08
_ROOMS: Final = (1, 2, 3)

#: Its first definition. The series ends, since each update arms all of it that lies within five minutes.
_OFTEN: Final = ("@every 1s", "@every 1s", "@every 2s")
_REPEATS: Final = (40, 60, 80)

#: How often the job is updated, and the time between two updates.
_UPDATES: Final = (30, 70)
_APART_MS: Final = (SECOND_MS // 2, 3 * SECOND_MS // 2)

#: How long functions are short, from the job's first write on. Messages that are received meanwhile are shown
#: again later.
_SHORT_MS: Final = (10 * SECOND_MS, 90 * SECOND_MS)

#: The actions of clients, by their names in verbs.ACTIONS.
PUT_OFTEN: Final = "put often"
TOUCH: Final = "touch"


@dataclass(frozen=True, slots=True)
class Updates:
    """The updates of this kind in a seed.

    A job has `room` for that many earlier revisions; with None, for the usual number.
    """

    seed: int
    is_on: bool
    room: int | None

    @classmethod
    def of(cls, seed: int) -> "Updates":
        """Return those of a seed.

        A seed that lasts for days or uses up the margins between clocks has none.
        """
        random = stream(seed, "updates")
        is_drawn, is_forgetful = random.random() < _SEEDS, random.random() < _FORGETFUL
        has_none = is_at_margins(seed) or is_backlogged(seed) or Scenario.of(seed).is_sparse
        return cls(seed, is_drawn and not has_none, random.choice(_ROOMS) if is_forgetful else None)

    def asked(self, names: list[str], begins_at: Instant, ends_at: Instant) -> list[tuple[Instant, str, str]]:
        """Return when clients write which job: first so that it fires often, then as often as it fires."""
        if not self.is_on:
            return []
        random = stream(self.seed, "updates/asked")
        at, name = self._first_at(begins_at, ends_at), random.choice(names)
        found = [(at, PUT_OFTEN, name)]
        for _ in range(random.randint(*_UPDATES)):
            at += random.randint(*_APART_MS)
            found.append((min(at, ends_at), TOUCH, name))
        return found

    def shortages(self, begins_at: Instant, ends_at: Instant, mask: Mask) -> Iterator[tuple[Instant, int]]:
        """Return when functions are short besides, and for how many ms."""
        if self.is_on and "shortages" not in mask.troubles:
            lasts_ms = stream(self.seed, "updates/short").randint(*_SHORT_MS)
            yield self._first_at(begins_at, ends_at), lasts_ms

    def _first_at(self, begins_at: Instant, ends_at: Instant) -> Instant:
        until = max(begins_at + 1, ends_at - 2 * MINUTE_MS)
        return stream(self.seed, "updates/first").randrange(begins_at, until)


def often(random: Random) -> Mapping[str, Any]:
    """Return a definition that fires as often as the job will be written."""
    return {"schedule": random.choice(_OFTEN), "repeats": random.choice(_REPEATS), "history": "failures"}
