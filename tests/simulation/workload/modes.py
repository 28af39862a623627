"""The targets of jobs and how their runs complete, and changes of both while retries are under way."""

from dataclasses import dataclass
from typing import Any, Final

from tests.fakes.fifo import URL
from tests.simulation.workload.scenario import Scenario
from tests.simulation.world.faults import is_at_margins, stream

from sweephand.base.instants import SECOND_MS, Instant

#: The share of seeds in which jobs deliver to FIFO queues and change their mode, and of seeds with slow
#: connections.
_FIFO: Final = 1 / 8
_SLOW: Final = 1 / 10

#: In these seeds, the share of definitions that name a queue, and of those that complete asynchronously.
_QUEUED: Final = 2 / 3
_ASYNC: Final = 1 / 2

_HTTP: Final[dict[str, Any]] = {"type": "http", "url": "https://consumer.example/hook"}
_QUEUE: Final[dict[str, Any]] = {"type": "sqs", "queueUrl": URL}

_REPORTED: Final[dict[str, Any]] = {"completion": "async", "heartbeatTimeout": "20s", "maxRunTime": "3m"}

#: What a PATCH changes of a job: how it completes, its overlap, or its consumer.
_CHANGES: Final[tuple[dict[str, Any], ...]] = (
    {"completion": "sync"},
    {"completion": "sync"},
    {"completion": "sync"},
    _REPORTED,
    {"target": _HTTP},
    {"target": _QUEUE},
    {"overlap": "wait"},
    {"overlap": "allow"},
)

#: How long consumers may take in seeds with slow connections.
_TIMEOUTS: Final = ("15s", "30s", "60s", "60s")

#: The schedules of jobs with reports. These make much more work, so such a job fires no more often.
_RARELY: Final = "@every 41s"
_OFTEN: Final = ("@every 5s", "@every 7s", "@every 13s", "@every 17s", "@every 23s", "*/20 * * * * *")

#: How many patches a seed has, and how many times in a row a job is patched in seeds with slow connections.
#: Each patch changes the job.
_PATCHES: Final = 8
_ROWS: Final = 2
_IN_A_ROW: Final = 5
_APART_MS_MAX: Final = 20 * SECOND_MS

#: The action, by its name in verbs.ACTIONS.
_PATCH: Final = "patch"


@dataclass(frozen=True, slots=True)
class Modes:
    """The jobs and changes of this kind in a seed."""

    seed: int
    is_fifo: bool
    is_slow: bool

    @classmethod
    def of(cls, seed: int) -> "Modes":
        """Return those of a seed.

        A seed that lasts for days or uses up the margins between clocks has none.
        """
        random = stream(seed, "modes")
        has_none = is_at_margins(seed) or Scenario.of(seed).is_sparse
        is_fifo, is_slow = random.random() < _FIFO, random.random() < _SLOW
        return cls(seed, is_fifo and not has_none, is_slow and not has_none)

    def added(self, written: dict[str, Any], number: int) -> dict[str, Any]:
        """Return the definition of a job that step `number` writes, in some seeds with another target."""
        random = stream(self.seed, f"modes/{number}")
        fields = dict(written)
        if self.is_slow:
            fields["target"] = {**_HTTP, "timeout": random.choice(_TIMEOUTS)}
        if self.is_fifo and random.random() < _QUEUED:
            fields["target"] = _QUEUE
        if self.is_fifo and random.random() < _ASYNC:
            fields |= _REPORTED
            if fields.get("schedule") in _OFTEN:
                fields["schedule"] = _RARELY
        return fields

    def patched(self, number: int) -> dict[str, Any]:
        """Return what a PATCH changes of it."""
        if not self.is_fifo:
            return {}
        return dict(stream(self.seed, f"modes/patch/{number}").choice(_CHANGES))

    def asked(self, names: list[str], begins_at: Instant, ends_at: Instant) -> list[tuple[Instant, str, str]]:
        """Return when clients patch which job besides."""
        if not (self.is_fifo or self.is_slow):
            return []
        random = stream(self.seed, "modes/asked")
        found = []
        for _ in range(_ROWS if self.is_slow else _PATCHES):
            at, name = random.randrange(begins_at, ends_at), random.choice(names)
            for _ in range(_IN_A_ROW if self.is_slow else 1):
                found.append((at, _PATCH, name))
                at = min(at + random.randrange(_APART_MS_MAX), ends_at)
        return sorted(found)
