"""What clients ask of runs, and the jobs of those runs. Only some seeds have this.

The random numbers of this module are its own, so that other seeds stay what they are.
"""

from dataclasses import dataclass
from random import Random
from typing import Any, Final

from tests.simulation.workload.circles import Circles
from tests.simulation.workload.scenario import Scenario
from tests.simulation.world.faults import stream

from sweephand.base.instants import MINUTE_MS, SECOND_MS, Instant

#: The share of seeds in which jobs complete asynchronously, notify of their ends and follow one another. All
#: seeds that last for days have this.
_FLOWS: Final = 1 / 3

#: In these seeds, the share of jobs that complete asynchronously, and the share that notify or follow.
_ASYNC: Final = 0.5
_TOLD: Final = 0.4
_TOLD_OFTEN: Final = 0.8
_PAUSED_ON_ERROR: Final = 0.15

#: The share of jobs that give up at once, so that there are runs to redrive.
_ONCE: Final = 0.35

#: The limits of silence. The first ones are within the queue's reach, and the last is found by a timer.
_TIMEOUTS: Final = ("20s", "20s", "20s", "40s", "40s", "60s", "60s", "3m", "3m", "16m")
_RUN_TIMES: Final = ("3m", "3m", "6m", "18m")

#: The schedules of jobs with reports or notifications. These make much more work, so such a job fires no more
#: often.
SLOW: Final = "@every 41s"
FAST: Final = ("@every 5s", "@every 7s", "@every 17s", "@every 23s", "*/20 * * * * *")

_HTTP: Final[dict[str, Any]] = {"type": "http", "url": "https://told.example/ends"}
#: The schedules of such jobs over days: a few times a day. While a following job is paused, its triggers are
#: put back each quarter of an hour.
_RARE: Final[tuple[dict[str, Any], ...]] = (
    {"schedule": "@daily"},
    {"schedule": "0 30 2 * * *", "timezone": "Europe/Paris"},
    {"schedule": "@every 7h", "repeats": 5},
    {"schedule": "@every 11h"},
    {"schedule": "R/P1D", "timezone": "Europe/Dublin"},
    {"dueTime": "10h"},
)

#: Other fields that say when a job fires.
_TIMING: Final = frozenset({"schedule", "timezone", "dst", "dueTime", "ttl", "repeats", "jitter"})

_WHEN: Final = ("succeeded", "failed", "always", None)

_WHEN_IN_CIRCLES: Final = ("succeeded", "always", "always", "failed")

#: The actions on runs, by their names in clients.ACTIONS.
CANCEL: Final = "cancel a run"
COMPLETE: Final = "complete a run"
REDRIVE: Final = "redrive a run"
REDRIVE_MANY: Final = "redrive many"

_ASKED: Final = (*[CANCEL] * 3, COMPLETE, *[REDRIVE] * 4, REDRIVE_MANY)

#: The number of actions on runs for each minute of the seed, at most.
_ASKED_EACH_MINUTE: Final = 3.0
_MINUTES_MAX: Final = 20


@dataclass(frozen=True, slots=True)
class Flows:
    """The jobs and actions of this kind in a seed."""

    seed: int
    is_on: bool

    @classmethod
    def of(cls, seed: int) -> "Flows":
        """Return those of a seed."""
        is_drawn = stream(seed, "flows").random() < _FLOWS
        return cls(seed, is_drawn or Scenario.of(seed).is_sparse or Circles.of(seed).are_on)

    def added(self, written: dict[str, Any], name: str, number: int, *, is_sparse: bool) -> dict[str, Any]:
        """Return the definition of a job that step `number` writes, in some seeds with fields for this."""
        if not self.is_on:
            return written
        random = stream(self.seed, f"flows/{number}")
        fields = dict(written)
        if random.random() < _ASYNC:
            fields |= {
                "completion": "async",
                "heartbeatTimeout": random.choice(_TIMEOUTS),
                "maxRunTime": random.choice(_RUN_TIMES),
            }
        is_often = is_sparse or Circles.of(self.seed).are_on
        if random.random() < (_TOLD_OFTEN if is_often else _TOLD):
            fields["onComplete"] = told = self._told(random, name)
            if is_sparse and told["type"] == "job":
                kept = {name: value for name, value in fields.items() if name not in _TIMING}
                fields = kept | random.choice(_RARE)
        if random.random() < _PAUSED_ON_ERROR:
            fields["onError"] = "pause"
        if random.random() < _ONCE:
            fields["retry"] = {"maxAttempts": 1}
        if fields.get("schedule") in FAST and fields.keys() & {"completion", "onComplete"}:
            fields["schedule"] = SLOW
        return fields

    def asked(self, names: list[str], begins_at: Instant, ends_at: Instant) -> list[tuple[Instant, str, str]]:
        """Return when clients do which action on the runs of which job."""
        if not self.is_on:
            return []
        random = stream(self.seed, "flows/asked")
        minutes = min((ends_at - begins_at) // MINUTE_MS, _MINUTES_MAX)
        count = random.randrange(1 + int(minutes * _ASKED_EACH_MINUTE))
        begins_at += 30 * SECOND_MS
        return sorted(
            (random.randrange(begins_at, ends_at), random.choice(_ASKED), random.choice(names))
            for _ in range(count)
        )

    def _told(self, random: Random, name: str) -> dict[str, Any]:
        """Return the target of notifications: a consumer, or a job with a lower number.

        So no two jobs follow each other for ever. In seeds with circles it is any job.
        """
        circles = Circles.of(self.seed)
        if circles.are_on:
            return {"type": "job", "name": circles.follower(random), "when": random.choice(_WHEN_IN_CIRCLES)}
        stem, _, number = name.rpartition("-")
        if number == "0" or random.random() < 1 / 3:
            return _HTTP
        when = random.choice(_WHEN)
        chained = {"type": "job", "name": f"{stem}-{random.randrange(int(number))}"}
        return chained if when is None else {**chained, "when": when}
