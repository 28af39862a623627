"""The seeds with bundles and full packs: the jobs that fill them, and the trigger that kills functions."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final
from unittest.mock import patch

from tests.simulation.workload.bulk_writes import FIRST_TOGETHER
from tests.simulation.workload.scenario import Scenario
from tests.simulation.world.faults import is_at_margins, is_backlogged, is_poisoned, stream

from sweephand.base.instants import MINUTE_MS, SECOND_MS, Instant
from sweephand.runs import intake
from sweephand.wheel import sending

#: The action that creates or replaces a job that fires together with others.
GATHER: Final = "gather"

#: In a third of the seeds, sweepers write no sending.
_SPANS_MS: Final = (0, SECOND_MS, 2 * SECOND_MS)

#: If a function has few threads, a few triggers suffice: some wait for a thread, and some wait too long.
_THREADS: Final = (None, None, 2, 3)

#: If a bundle holds few triggers, one sweep sends several sending.
_TRIGGERS: Final = (None, None, 2, 5)

#: The share of the seeds with bundles in which some jobs fire together. Clients seldom update these jobs.
_TOGETHER: Final = 1 / 4
_PERIODS_MS: Final = {
    "*/15 * * * * *": 15 * SECOND_MS,
    "*/30 * * * * *": 30 * SECOND_MS,
    "@every 11s": 11 * SECOND_MS,
    "@every 17s": 17 * SECOND_MS,
}
_JOBS: Final = ("together-0", "together-1", "together-2", "together-3")
_MINUTES_MIN: Final = 12

#: All of them are replaced at about one moment. That is soon after the first sending, which come five minutes
#: after the jobs: a crash may have left claims that the new definitions do not ask for.
_REPLACED_MS: Final = (7 * MINUTE_MS, 10 * MINUTE_MS)

#: The time between the creations of two such jobs. With an interval as schedule, they fall due as far apart.
_CREATED_MS: Final = 700

#: Before that, a client pauses each of them once, a bit more than a second before it falls due. Then the read
#: of a job that is older than it may be shows. The client resumes the job after this time at most.
_PAUSED_MS: Final = (330 * SECOND_MS, 420 * SECOND_MS)
_BEFORE_DUE_MS: Final = (1_150, 1_500)
_RESUMED_MS_MAX: Final = 20 * SECOND_MS

#: The share of the seeds with bundles in which a trigger of a bundle kills every function that requests it.
_POISON: Final = 1 / 6

#: That trigger is the first trigger of a bundle after this number of requests, at most.
_REQUESTS_MAX: Final = 30


@dataclass(frozen=True, slots=True)
class Bundling:
    """The settings of a seed. If `threads` or `triggers` is None, production's own number holds.

    After `poison_at` requests, the next trigger of a bundle kills every function that makes a request for it.
    If `poison_at` is None, no trigger does. `schedule` is the schedule of the jobs that fire together; None
    if there are no such jobs.
    """

    seed: int
    span_ms: int
    threads: int | None = None
    triggers: int | None = None
    poison_at: int | None = None
    schedule: str | None = None

    @classmethod
    def of(cls, seed: int) -> "Bundling":
        """Return the settings of a seed."""
        random = stream(seed, "bundles")
        span_ms, threads, triggers = (random.choice(each) for each in (_SPANS_MS, _THREADS, _TRIGGERS))
        schedule, poison_at = random.choice(tuple(_PERIODS_MS)), random.randrange(_REQUESTS_MAX)
        are_together, has_poison = random.random() < _TOGETHER, random.random() < _POISON
        if is_poisoned(seed) and not Scenario.of(seed).is_sparse:
            return cls(seed, max(_SPANS_MS), poison_at=poison_at, schedule=schedule)
        is_usual = not (Scenario.of(seed).is_sparse or is_at_margins(seed) or is_backlogged(seed))
        return cls(
            seed,
            span_ms or 0,
            threads,
            triggers,
            poison_at if has_poison and span_ms and is_usual else None,
            schedule if are_together and span_ms and is_usual else None,
        )

    def scenario(self, usual: Scenario) -> Scenario:
        """Return the scenario of the seed. Jobs that fire together share a shard, so one sweep meets them."""
        if self.schedule is None:
            return usual
        return replace(usual, shards=1, minutes=max(usual.minutes, _MINUTES_MIN))

    def asked(self, begins_at: Instant, ends_at: Instant) -> list[tuple[Instant, str, str]]:
        """Return when clients create the jobs that fire together, and replace, pause and resume them."""
        if self.schedule is None:
            return []
        random = stream(self.seed, "bundles/asked")
        offsets = [number * _CREATED_MS for number in range(len(_JOBS))]
        steps = [(begins_at + each, GATHER, name) for each, name in zip(offsets, _JOBS, strict=True)]
        replaced_at = begins_at + random.randrange(*_REPLACED_MS)
        steps += [(replaced_at + each, GATHER, name) for each, name in zip(offsets, _JOBS, strict=True)]
        for offset_ms, name in zip(offsets, _JOBS, strict=True):
            since_ms = random.randrange(*_PAUSED_MS)
            due_at = begins_at + offset_ms + since_ms - since_ms % _PERIODS_MS[self.schedule]
            paused_at = due_at - random.randrange(*_BEFORE_DUE_MS)
            steps.append((paused_at, "pause", name))
            steps.append((paused_at + random.randrange(_RESUMED_MS_MAX), "resume", name))
        return [step for step in steps if step[0] <= ends_at]

    def definition(self, *, is_new: bool) -> dict[str, Any]:
        """Return the definition of a job that fires with others: as it is created, or as it is replaced.

        A new job claims each first attempt. A replaced one does not. So a claim that a crash left behind is
        ended by a delivery that needs no claim.
        """
        return {"schedule": self.schedule, "history": "full" if is_new else "failures"}

    @contextmanager
    def bounds(self) -> Iterator[None]:
        """Patch the production constants that differ by seed."""
        with ExitStack() as stack:
            if self.span_ms and self.threads is not None:
                stack.enter_context(patch.object(intake, "DELIVERIES_AT_ONCE", self.threads))
            if self.triggers is not None:
                stack.enter_context(patch.object(sending, "BUNDLE_TRIGGERS_MAX", self.triggers))
            yield


#: Every trigger travels alone.
NO_BUNDLES: Final = Bundling(0, 0)


#: So many seeds have many jobs in one shard, and all seeds from this one on to those of bulk_writes.py.
#: Both chances have to be met. One draw would choose other seeds than those that are known for mutations.
_CROWDED: Final = (0.8, 1 / 8)
FIRST_CROWDED: Final = 5_000_000

#: Timers of these schedules lead to few buckets. Those with long periods are written long before they are
#: read, so that a sweeper that was stopped may write them once more meanwhile.
_SCHEDULES: Final = (
    "* * * * *",
    "*/30 * * * * *",
    "@every 20s",
    "@every 45s",
    "@every 61s",
    "0 */2 * * * *",
    "0 */3 * * * *",
    "15 */5 * * * *",
    "@every 4m",
)

#: So many definitions have one of them.
_COMMON: Final = 0.85

#: Triggers between two commits, and timers of a page: a chunk has more triggers than one turn sends.
_PACKED_TRIGGERS: Final = (1, 2, 3, 5)
_PAGES: Final = (3, 6, 1_000)


@dataclass(frozen=True, slots=True)
class Packs:
    """What of this a seed has."""

    seed: int
    are_crowded: bool

    @classmethod
    def of(cls, seed: int) -> "Packs":
        """That of a seed. A seed that lasts for days or uses up the margins between clocks has no crowd."""
        random = stream(seed, "packs")
        is_drawn = all(random.random() < each for each in _CROWDED) or FIRST_CROWDED <= seed < FIRST_TOGETHER
        has_none = is_at_margins(seed) or is_backlogged(seed) or Scenario.of(seed).is_sparse
        return cls(seed, is_drawn and not has_none)

    def scenario(self, usual: Scenario) -> Scenario:
        """The scenario of the seed: in a crowd eight jobs and one shard."""
        if not self.are_crowded:
            return usual
        random = stream(self.seed, "packs/scenario")
        jobs = random.randint(6, 9)
        return replace(usual, jobs=jobs, writes=jobs + random.randint(0, usual.minutes), shards=1)

    def added(self, written: dict[str, Any], number: int) -> dict[str, Any]:
        """The definition of a job that step `number` writes. In a crowd most have one of few schedules."""
        random = stream(self.seed, f"packs/{number}")
        if not self.are_crowded or random.random() >= _COMMON:
            return written
        return {**written, "schedule": random.choice(_SCHEDULES)}

    @property
    def bounds(self) -> tuple[int, int] | None:
        """The triggers between two commits and the timers of a page, at most; None for production's."""
        if not self.are_crowded:
            return None
        random = stream(self.seed, "packs/bounds")
        return random.choice(_PACKED_TRIGGERS), random.choice(_PAGES)
