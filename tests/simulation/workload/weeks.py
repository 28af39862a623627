"""Seeds that last for weeks: their jobs, what clients ask of them, and how long consumers work.

Pauses are longer than any record is kept. Retentions are short, runs of a line take a day each, retries take
days, and names are used again when their jobs are gone.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from tests.simulation.workload.flows import CANCEL, COMPLETE, REDRIVE
from tests.simulation.workload.scenario import is_for_weeks
from tests.simulation.world.faults import stream

from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS, Instant

#: For this long before the calm no fault happens, no client asks, and every consumer answers at once. It is
#: longer than any retry, run or deadline that began before.
WINDING_DOWN_MS: Final = 5 * DAY_MS

#: The longest that a run or a retry of these seeds takes, and by how much a timer or a message may be late.
LONGEST_WAIT_MS: Final = 4 * DAY_MS
LATE_MS: Final = 2 * DAY_MS

#: Jobs whose runs take turns. Their series are short, so that every trigger has its turn within the seed.
_LINES: Final[tuple[dict[str, Any], ...]] = (
    {"schedule": "R8/PT1H"},
    {"schedule": "R5/PT1M"},
    {"schedule": "R5/PT1M"},
    {"schedule": "@every 7h", "repeats": 6},
    {"schedule": "R4/P1D"},
)
_OVERLAPS: Final = ("wait", "wait", "wait", "waitLatest", "waitLatest", "skip")

#: Jobs whose runs may overlap.
_OTHERS: Final[tuple[dict[str, Any], ...]] = (
    {"dueTime": "10h"},
    {"dueTime": "50h"},
    {"schedule": "R3/PT1M"},
    {"schedule": "@every 10h", "repeats": 4},
    {"schedule": "@daily", "repeats": 9},
    {"schedule": "0 30 2 * * MON", "timezone": "Europe/Paris"},
)

#: The times by which a consumer that has accepted a trigger has to report, or send a heartbeat.
_RUN_TIMES: Final[tuple[dict[str, Any], ...]] = (
    {"maxRunTime": "24h", "heartbeatTimeout": "24h"},
    {"maxRunTime": "96h", "heartbeatTimeout": "96h"},
    {"maxRunTime": "96h", "heartbeatTimeout": "96h"},
    {"maxRunTime": "96h", "heartbeatTimeout": "30h"},
)

_RETRIES: Final[tuple[dict[str, Any], ...]] = (
    {"maxAttempts": 1},
    {"maxAttempts": 2, "maxAge": "10m"},
    {"maxAttempts": 3, "initialDelay": "32m"},
    {"maxAttempts": 4, "maxAge": "240h", "initialDelay": "20h", "maxDelay": "48h"},
    {"maxAttempts": 4, "maxAge": "240h", "initialDelay": "20h", "maxDelay": "48h"},
)
_RETENTIONS: Final = ("0s", "0s", "1m", "24h", None)
_HISTORIES: Final = ("24h", "24h", "48h", None)

#: What a PATCH writes beside a label.
PATCHES: Final[tuple[dict[str, Any], ...]] = ({}, {"retention": "0s"}, {"historyRetention": "24h"})

_ASYNC: Final = 0.8
_ASYNC_OTHERS: Final = 0.3
_TAKES_TURNS: Final = 0.6


@dataclass(frozen=True, slots=True)
class Weeks:
    """The jobs and actions of this kind in a seed."""

    seed: int
    is_on: bool

    @classmethod
    def of(cls, seed: int) -> "Weeks":
        """Return those of a seed."""
        return cls(seed, is_for_weeks(seed))

    def written(self, random: Random) -> dict[str, Any]:
        """Return a definition."""
        takes_turns = random.random() < _TAKES_TURNS
        written = dict(random.choice(_LINES if takes_turns else _OTHERS))
        if takes_turns:
            written["overlap"] = random.choice(_OVERLAPS)
        if random.random() < (_ASYNC if takes_turns else _ASYNC_OTHERS):
            written |= {"completion": "async", **random.choice(_RUN_TIMES)}
        written["retry"] = random.choice(_RETRIES)
        for name, values in (("retention", _RETENTIONS), ("historyRetention", _HISTORIES)):
            value = random.choice(values)
            if value is not None:
                written[name] = value
        if random.random() < 1 / 3:
            written["history"] = random.choice(("failures", "full"))
        if random.random() < 1 / 4:
            written["catchup"] = {"mode": random.choice(("all", "none"))}
        return written

    def asked(self, names: list[str], begins_at: Instant, ends_at: Instant) -> list[tuple[Instant, str, str]]:
        """Return when clients do which action on which job. At the end every pause ends."""
        random = stream(self.seed, "weeks/asked")
        until = ends_at - WINDING_DOWN_MS
        wished = []
        for name in names:
            at = begins_at + random.randrange(HOUR_MS)
            while at < until:
                wished.append((at, "put", name))
                story = list(_story(random, at))
                wished += [(each, action, name) for each, action in story if each < until]
                at = max([at, *(each for each, _ in story)]) + int(DAY_MS * random.choice((0.5, 3, 9, 20)))
            wished.append((until, "resume", name))
        return sorted(wished)


def _story(random: Random, at: Instant) -> Iterator[tuple[Instant, str]]:
    """Return the actions on a job after it was written at that instant, in order."""

    def within(longest_ms: float) -> Instant:
        return at + 1 + int(longest_ms * random.random())

    match random.choice(("left alone", "pause", "pause", "pauses", "asked", "again")):
        case "pause":
            # The pause begins soon after the first triggers, or while the first run goes on.
            at = within(random.choice((12 * MINUTE_MS, 12 * MINUTE_MS, 11 * HOUR_MS, 3 * DAY_MS)))
            yield at, "pause"
            if random.random() < 1 / 2:
                yield within(10 * MINUTE_MS), random.choice((CANCEL, COMPLETE, COMPLETE))
            yield within(random.choice((4, 4, 20, 70)) * DAY_MS), "resume"
        case "pauses":
            for _ in range(3):
                at = within(2 * DAY_MS)
                yield at, "pause"
                at = within(3 * DAY_MS)
                yield at, "resume"
        case "asked":
            for _ in range(random.randrange(1, 6)):
                at = within(4 * DAY_MS)
                yield at, random.choice((REDRIVE, REDRIVE, CANCEL, COMPLETE, "trigger", "patch"))
        case "again":
            yield within(20 * DAY_MS), random.choice(("create", "create", "delete"))
        case _:
            yield within(30 * DAY_MS), "trigger"
