"""The bulk calls of clients, and the filters by which they choose jobs. Only some seeds have them.

The random numbers of this module are its own, so that other seeds stay what they are.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from random import Random
from typing import Any, Final
from unittest.mock import patch

from tests.simulation.workload.scenario import Scenario
from tests.simulation.world.faults import is_at_margins, stream

from sweephand.base.instants import MINUTE_MS, SECOND_MS, Instant
from sweephand.jobs import bulk, read

#: The share of seeds in which clients ask in bulk.
_BULKS: Final = 1 / 3

#: The label `team` of every job of such a seed, unless a PATCH removes it.
TEAMS: Final = ("red", "blue")

#: The actions of bulk calls, by their names in verbs.ACTIONS.
PAUSE_MANY: Final = "pause many"
RESUME_MANY: Final = "resume many"
DELETE_MANY: Final = "delete many"

#: There are more resumes than pauses, and few deletions, so that jobs are left to pause.
_ASKED: Final = (*[PAUSE_MANY] * 4, *[RESUME_MANY] * 5, DELETE_MANY)

#: The share of the jobs of such a seed that are written in bulk. Each is the only job of its call.
_WRITTEN_IN_BULK: Final = 1 / 2

#: The number of bulk calls for each minute of the seed, at most.
_ASKED_EACH_MINUTE: Final = 0.6
_MINUTES_MAX: Final = 20

#: In this share of those seeds there are many jobs, and all are written at once: paused, and resumed soon
#: after.
_AT_ONCE: Final = 1 / 2
_MANY_JOBS: Final = 3
_PAUSED_MS_MAX: Final = 40 * SECOND_MS


@dataclass(frozen=True, slots=True)
class Bulks:
    """The bulk calls of a seed."""

    seed: int
    is_on: bool
    is_at_once: bool

    @classmethod
    def of(cls, seed: int) -> "Bulks":
        """Return the bulk calls of a seed. A seed that uses up the margins between clocks has none."""
        is_on = stream(seed, "bulks").random() < _BULKS and not is_at_margins(seed)
        has_many = is_on and Scenario.of(seed).jobs >= _MANY_JOBS
        return cls(seed, is_on, has_many and stream(seed, "bulks/at once").random() < _AT_ONCE)

    def added(self, written: dict[str, Any], number: int) -> dict[str, Any]:
        """Return the definition of a job that step `number` writes, in some seeds with a label."""
        if not self.is_on:
            return written
        return {**written, "labels": {"team": stream(self.seed, f"bulks/{number}").choice(TEAMS)}}

    def writes_in_bulk(self, number: int) -> bool:
        """Whether step `number` writes its job in bulk, if it writes one."""
        return self.is_on and stream(self.seed, f"bulks/{number}/write").random() < _WRITTEN_IN_BULK

    def asked(self, names: list[str], begins_at: Instant, ends_at: Instant) -> list[tuple[Instant, str, str]]:
        """Return when clients make which call. The name is that of one job that the call should reach."""
        if not self.is_on:
            return []
        random = stream(self.seed, "bulks/asked")
        minutes = min((ends_at - begins_at) // MINUTE_MS, _MINUTES_MAX)
        count = random.randrange(1, 2 + int(minutes * _ASKED_EACH_MINUTE))
        begins_at += 30 * SECOND_MS
        if self.is_at_once:
            return sorted(self._in_pairs(names, begins_at, ends_at, random, count))
        return sorted(
            (random.randrange(begins_at, ends_at), random.choice(_ASKED), random.choice(names))
            for _ in range(count)
        )

    def _in_pairs(
        self, names: list[str], begins_at: Instant, ends_at: Instant, random: Random, count: int
    ) -> Iterator[tuple[Instant, str, str]]:
        for _ in range(count):
            at, name = random.randrange(begins_at, ends_at), random.choice(names)
            yield at, PAUSE_MANY, name
            yield min(at + random.randrange(_PAUSED_MS_MAX), ends_at), RESUME_MANY, name
        # A job that is paused in the end owes no trigger, so what it lost before would not show.
        yield ends_at - SECOND_MS, RESUME_MANY, names[0]

    @contextmanager
    def bounds(self) -> Iterator[None]:
        """Patch how many jobs a call looks at: a few, so that few jobs do what thousands would.

        In some seeds the call's time is over before its page is. Where all jobs are written at once, time is
        the only bound.
        """
        with ExitStack() as stack:
            # A call creates even a single job in the way in which it creates many.
            stack.enter_context(patch.object(bulk, "_TOGETHER_MIN", 1))
            if self.is_at_once:
                yield
                return
            random = stream(self.seed, "bulks/bounds")
            stack.enter_context(patch.object(read, "_PAGE_MAX", random.choice((1, 2, 3, 100))))
            stack.enter_context(patch.object(bulk, "_AT_ONCE", random.choice((1, 2, 16))))
            stack.enter_context(patch.object(read, "BULK_EXAMINED_MAX", random.choice((1, 2, 3, 1_000))))
            stack.enter_context(patch.object(bulk, "BULK_TIME_LIMIT_MS", random.choice((20, 200, 10_000))))
            yield
