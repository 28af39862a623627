"""What clients ask of many jobs at once, and by what they choose them: in some seeds, apart from all else.

Seeds without it stay what they are: what is drawn here is drawn from a chance of its own.
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
from sweephand.jobs import bulk, bulk_write

#: In so many seeds clients ask in bulk.
_BULKS: Final = 1 / 3

#: What every job of such a seed has as its label `team`, unless a PATCH takes it away.
TEAMS: Final = ("red", "blue")

#: What is asked for, as verbs.ACTIONS names it.
PAUSE_MANY: Final = "pause many"
RESUME_MANY: Final = "resume many"
DELETE_MANY: Final = "delete many"

#: More is resumed than paused, and little deleted, so that there is something to pause.
_ASKED: Final = (*[PAUSE_MANY] * 4, *[RESUME_MANY] * 5, DELETE_MANY)

#: So many jobs of such a seed are written in bulk. Each is the only job of its call.
_WRITTEN_IN_BULK: Final = 1 / 2

#: So often at most, for each minute of the seed.
_ASKED_EACH_MINUTE: Final = 0.6
_MINUTES_MAX: Final = 20

#: In so many of those seeds that have many jobs, all are written at once: paused, and resumed soon after.
_AT_ONCE: Final = 1 / 2
_MANY_JOBS: Final = 3
_PAUSED_MS_MAX: Final = 40 * SECOND_MS


@dataclass(frozen=True, slots=True)
class Bulks:
    """What of this a seed has."""

    seed: int
    is_on: bool
    is_at_once: bool

    @classmethod
    def of(cls, seed: int) -> "Bulks":
        """That of a seed: one that asks of the margins between clocks all that they allow for has none."""
        is_on = stream(seed, "bulks").random() < _BULKS and not is_at_margins(seed)
        has_many = is_on and Scenario.of(seed).jobs >= _MANY_JOBS
        return cls(seed, is_on, has_many and stream(seed, "bulks/at once").random() < _AT_ONCE)

    def added(self, written: dict[str, Any], number: int) -> dict[str, Any]:
        """The definition of a job that step `number` writes, with a label in some seeds."""
        if not self.is_on:
            return written
        return {**written, "labels": {"team": stream(self.seed, f"bulks/{number}").choice(TEAMS)}}

    def writes_in_bulk(self, number: int) -> bool:
        """Whether step `number` writes its job in bulk, if it writes one."""
        return self.is_on and stream(self.seed, f"bulks/{number}/write").random() < _WRITTEN_IN_BULK

    def asked(self, names: list[str], begins_at: Instant, ends_at: Instant) -> list[tuple[Instant, str, str]]:
        """When clients ask for which thing; the name is that of a job that is meant among others."""
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
        # A job that is paused in the end owes nothing: whatever it lost before would not be seen.
        yield ends_at - SECOND_MS, RESUME_MANY, names[0]

    @contextmanager
    def bounds(self) -> Iterator[None]:
        """How many jobs a call looks at: a few, so that few jobs have it do what thousands would.

        In some seeds its patience is over before a page is. Where all jobs are written at once, nothing but
        time bounds it.
        """
        with ExitStack() as stack:
            # A call creates even a single job in the way in which it creates many.
            stack.enter_context(patch.object(bulk_write, "_TOGETHER_MIN", 1))
            if self.is_at_once:
                yield
                return
            random = stream(self.seed, "bulks/bounds")
            stack.enter_context(patch.object(bulk, "_PAGE_MAX", random.choice((1, 2, 3, 100))))
            stack.enter_context(patch.object(bulk, "_AT_ONCE", random.choice((1, 2, 16))))
            stack.enter_context(patch.object(bulk, "BULK_EXAMINED_MAX", random.choice((1, 2, 3, 1_000))))
            stack.enter_context(patch.object(bulk, "BULK_TIME_LIMIT_MS", random.choice((20, 200, 10_000))))
            yield
