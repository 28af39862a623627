"""What jobs deliver to and how their runs complete, and how that changes while retries are under way."""

from dataclasses import dataclass
from typing import Any, Final

from tests.fakes.fifo import URL
from tests.simulation.workload.scenario import Scenario
from tests.simulation.world.faults import is_at_margins, stream

from sweephand.base.instants import SECOND_MS, Instant

#: In so many seeds jobs deliver to FIFO queues and change their mode, in so many connections take up to a
#: minute.
_FIFO: Final = 1 / 8
_SLOW: Final = 1 / 10

#: There, so many of the definitions name a queue, and complete asynchronously.
_QUEUED: Final = 2 / 3
_ASYNC: Final = 1 / 2

_HTTP: Final[dict[str, Any]] = {"type": "http", "url": "https://consumer.example/hook"}
_QUEUE: Final[dict[str, Any]] = {"type": "sqs", "queueUrl": URL}

_REPORTED: Final[dict[str, Any]] = {"completion": "async", "heartbeatTimeout": "20s", "maxRunTime": "3m"}

#: What a PATCH makes of a job: another way of completing, of taking turns, another consumer.
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

#: So long consumers may take, where connecting does.
_TIMEOUTS: Final = ("15s", "30s", "60s", "60s")

#: What is reported on is much more work than what is not: such jobs fire no more often.
_RARELY: Final = "@every 41s"
_OFTEN: Final = ("@every 5s", "@every 7s", "@every 13s", "@every 17s", "@every 23s", "*/20 * * * * *")

#: So often jobs are patched, and so many times in a row where connections are slow: the job is another each
#: time.
_PATCHES: Final = 8
_ROWS: Final = 2
_IN_A_ROW: Final = 5
_APART_MS_MAX: Final = 20 * SECOND_MS

#: As verbs.ACTIONS names it.
_PATCH: Final = "patch"


@dataclass(frozen=True, slots=True)
class Modes:
    """What of this a seed has."""

    seed: int
    is_fifo: bool
    is_slow: bool

    @classmethod
    def of(cls, seed: int) -> "Modes":
        """That of a seed: one that lasts for days or asks of the margins between clocks has none."""
        random = stream(seed, "modes")
        has_none = is_at_margins(seed) or Scenario.of(seed).is_sparse
        is_fifo, is_slow = random.random() < _FIFO, random.random() < _SLOW
        return cls(seed, is_fifo and not has_none, is_slow and not has_none)

    def added(self, written: dict[str, Any], number: int) -> dict[str, Any]:
        """The definition of a job that step `number` writes, and in some seeds what it delivers to."""
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
        """What a PATCH changes of it."""
        if not self.is_fifo:
            return {}
        return dict(stream(self.seed, f"modes/patch/{number}").choice(_CHANGES))

    def asked(self, names: list[str], begins_at: Instant, ends_at: Instant) -> list[tuple[Instant, str, str]]:
        """When clients patch which job besides."""
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
