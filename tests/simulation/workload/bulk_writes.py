"""Calls that write many jobs, and what other clients do to these jobs meanwhile. Only some seeds have them.

The random numbers of this module are its own, so that other seeds stay what they are.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Final
from unittest.mock import patch

from tests.simulation.workload.forms import RETRIES
from tests.simulation.workload.quotas import Quotas
from tests.simulation.workload.scenario import Scenario
from tests.simulation.world.faults import FIRST_BATCHED, is_backlogged, is_poisoned, stream

from sweephand.base.instants import MINUTE_MS, SECOND_MS, Instant, rfc3339
from sweephand.wheel import packing

#: The share of seeds with such calls. From this seed on, all seeds up to FIRST_BATCHED have them and little
#: else.
_SEEDS: Final = 1 / 16
FIRST_TOGETHER: Final = 6_000_000

#: The share of these seeds that run on the production adapters, whose batches may be answered in part.
_ON_WIRE: Final = 1 / 6

#: The actions of clients, by their names in verbs.ACTIONS: such a call, and a PUT of one of its jobs.
WRITE_MANY: Final = "write many"
WRITE_ONE: Final = "write one of many"

#: How many calls a seed has, and how many jobs a call has: mostly few, since each job is work.
_CALLS: Final = (1, 3)
_CALLS_TOGETHER: Final = (3, 7)
_SIZES: Final = (2, 2, 3, 3, 4, 5, 6, 8)
_LARGE: Final = 1 / 12
_LARGE_SIZES: Final = (9, 25)
_WHOLE: Final = 1 / 150
_WHOLE_SIZE: Final = 100

#: The share of calls that come just after the call before them, and of calls whose client sends them twice.
_AT_ONCE: Final = 1 / 2
_AT_ONCE_MS_MAX: Final = 300
_TWICE: Final = 1 / 4
_TWICE_MS_MAX: Final = 8 * SECOND_MS

#: The shares of entries that are invalid, that have the name of an earlier entry, and that are written as in
#: an earlier call. The last is the share of those that have the name of a job that clients also write alone.
_INVALID: Final = 1 / 12
_DOUBLE: Final = 1 / 15
_EQUAL: Final = 1 / 8
_ALONE: Final = 1 / 25

#: The share of entries whose data is stored apart from the job.
_DATA_APART: Final = 1 / 15
_DATA_LENGTH: Final = 2_500

#: The times of new jobs: within 300 s, so that they are sent at once, or later, so that they share packs.
_NEAR: Final[tuple[dict[str, Any], ...]] = (
    {"dueTime": "0s"},
    {"dueTime": "5s"},
    {"dueTime": "45s"},
    {"dueTime": "240s"},
    {"schedule": "@every 23s", "repeats": 3},
)
_BEYOND: Final[tuple[dict[str, Any], ...]] = (
    {"dueTime": "301s"},
    {"dueTime": "305s"},
    {"dueTime": "330s"},
    {"dueTime": "400s"},
    {"schedule": "* * * * *", "repeats": 7},
    {"schedule": "0 */3 * * * *", "repeats": 3},
    {"schedule": "@every 61s", "repeats": 6},
    {"schedule": "@every 121s", "repeats": 4},
    {"schedule": "R3/PT170S"},
)
_NEAR_SHARE: Final = 1 / 4

#: The share of jobs that fire once, at a full minute so many minutes ahead. Those of several calls share
#: their buckets.
_AT_MINUTE: Final = 1 / 3
_MINUTES: Final = (6, 6, 7, 8)

#: What makes a document invalid: a time, which the API reads when it drafts the job, or something else. A
#: second entry of the name is refused only after an entry that is read so far.
_WRONG_TIMES: Final[tuple[Mapping[str, Any], ...]] = (
    {"schedule": "every now and then"},
    {"schedule": "0 0 30 2 *"},
    {"dueTime": "2026-01-01T00:00:00Z"},
)
_WRONG: Final[tuple[Mapping[str, Any], ...]] = (
    *_WRONG_TIMES,
    {"target": {"type": "pigeon"}},
    {"name": "no name/of a job"},
    {"repeats": 0},
    {"colour": "red"},
)

_TARGET: Final[dict[str, Any]] = {"type": "http", "url": "https://consumer.example/hook"}

#: What other clients do to the jobs of a call: how many of them, and what.
_OTHERS: Final = (0, 1, 1, 2, 3)
_ACTIONS: Final = ("touch", "pause", "delete", "delete", WRITE_ONE, WRITE_ONE)
_RESUMED_MS_MAX: Final = 20 * SECOND_MS

#: If a pack holds few timers, a few jobs fill several packs.
_PACKS: Final = (2, 3, 100, 100)


@dataclass(frozen=True, slots=True)
class Entry:
    """What a client sends of one job.

    `is_valid` says whether the API has to accept it. `is_read` says whether all of it is valid but its times,
    and the size of its data where the namespace limits it.
    """

    document: Any
    is_valid: bool
    is_read: bool

    @property
    def name(self) -> str | None:
        """The name of the job, or None if there is no name."""
        return self.document["name"] if isinstance(self.document, dict) else None


@dataclass(frozen=True, slots=True)
class BulkWrites:
    """The calls of a seed."""

    seed: int
    is_on: bool

    @classmethod
    def of(cls, seed: int) -> "BulkWrites":
        """Return the calls of a seed. A seed that lasts for days or has no trouble of its own has none."""
        has_none = is_backlogged(seed) or is_poisoned(seed) or Scenario.of(seed).is_sparse
        is_drawn = _is_dedicated(seed) or stream(seed, "bulk writes").random() < _SEEDS
        return cls(seed, is_drawn and not has_none)

    @property
    def are_on_wire(self) -> bool:
        """Whether the seed runs on the production adapters."""
        return self.is_on and stream(self.seed, "bulk writes/wire").random() < _ON_WIRE

    def scenario(self, usual: Scenario) -> Scenario:
        """Return the scenario of the seed. In half of the seeds all jobs share one shard."""
        if not self.is_on:
            return usual
        random = stream(self.seed, "bulk writes/scenario")
        if random.random() < 1 / 2:
            usual = replace(usual, shards=1)
        if not _is_dedicated(self.seed):
            return usual
        return replace(usual, jobs=1, writes=random.randint(1, 3), minutes=random.randint(6, 10))

    def asked(self, begins_at: Instant, ends_at: Instant) -> list[tuple[Instant, str, str]]:
        """Return when clients make which call, and what other clients do to its jobs meanwhile."""
        if not self.is_on:
            return []
        steps: list[tuple[Instant, str, str]] = []
        at = begins_at
        for call in range(self._calls):
            random = stream(self.seed, f"bulk writes/{call}/asked")
            is_at_once = call > 0 and random.random() < _AT_ONCE
            at = (
                at + random.randrange(_AT_ONCE_MS_MAX) if is_at_once else random.randrange(begins_at, ends_at)
            )
            steps.append((at, WRITE_MANY, f"call-{call}"))
            if random.random() < _TWICE:
                steps.append((at + random.randrange(_TWICE_MS_MAX), WRITE_MANY, f"call-{call}"))
            steps += self._of_others(call, at, random)
        return sorted(step for step in steps if begins_at <= step[0] <= ends_at)

    def entries(self, name: str, at: Instant) -> tuple[Entry, ...]:
        """Return what the client of the call of that name sends, if its clock shows that instant."""
        call, seen = int(name.rpartition("-")[2]), set[str]()
        found = []
        for position in range(self._size(call)):
            entry = self._entry(call, position, at)
            if entry.name in seen:
                # The data of an entry that is refused is no other entry's.
                document = {**entry.document, "data": f"{call}/{position}, a name again"}
                entry = Entry(document, is_valid=False, is_read=entry.is_read)
            if entry.is_read and entry.name is not None:
                seen.add(entry.name)
            found.append(entry)
        return tuple(found)

    def one(self, number: int, at: Instant) -> dict[str, Any]:
        """Return the fields that step `number` writes into one of these jobs."""
        return _fields(stream(self.seed, f"bulk writes/one/{number}"), at)

    @contextmanager
    def bounds(self) -> Iterator[None]:
        """Patch how many timers a pack holds."""
        timers_max = stream(self.seed, "bulk writes/packs").choice(_PACKS)
        with patch.object(packing, "PACK_TIMERS_MAX", timers_max) if self.is_on else nullcontext():
            yield

    @property
    def _calls(self) -> int:
        counts = _CALLS_TOGETHER if _is_dedicated(self.seed) else _CALLS
        return stream(self.seed, "bulk writes/calls").randint(*counts)

    def _size(self, call: int) -> int:
        random = stream(self.seed, f"bulk writes/{call}/size")
        drawn, usual, large = random.random(), random.choice(_SIZES), random.randint(*_LARGE_SIZES)
        if drawn < _WHOLE:
            return _WHOLE_SIZE
        return large if drawn < _LARGE else usual

    def _name(self, call: int, position: int) -> str:
        """Return the name of a job. Calls of one seed share most of their names."""
        offset = stream(self.seed, f"bulk writes/{call}/names").randrange(3)
        random = stream(self.seed, f"bulk writes/{call}/{position}/name")
        if position and random.random() < _DOUBLE:
            position = random.randrange(position)
        return "job-0" if random.random() < _ALONE else f"many-{offset + position}"

    def _entry(self, call: int, position: int, at: Instant) -> Entry:
        random = stream(self.seed, f"bulk writes/{call}/{position}")
        name = self._name(call, position)
        is_equal, is_invalid = random.random() < _EQUAL, random.random() < _INVALID
        if is_invalid and random.random() < 1 / len(_WRONG):
            return Entry("no object", is_valid=False, is_read=False)
        if is_equal and call and not is_invalid:
            of_earlier = random.randrange(self._size(call - 1))
            earlier = self._entry(call - 1, of_earlier, at)
            if earlier.is_valid and self._name(call, position) == earlier.name:
                return earlier
        filling = "x" * _DATA_LENGTH if random.random() < _DATA_APART else ""
        document = {"name": name, "target": _TARGET, "data": f"{call}/{position}{filling}"}
        document |= _fields(random, at)
        if not is_invalid:
            most = Quotas.of(self.seed).payload_bytes_max
            is_small = most is None or len(json.dumps(document["data"])) <= most
            return Entry(document, is_valid=is_small, is_read=True)
        wrong = random.choice(_WRONG)
        return Entry({**document, **wrong}, is_valid=False, is_read=wrong in _WRONG_TIMES)

    def _of_others(self, call: int, at: Instant, random: Random) -> Iterator[tuple[Instant, str, str]]:
        for _ in range(random.choice(_OTHERS)):
            name, action = self._name(call, random.randrange(self._size(call))), random.choice(_ACTIONS)
            asked_at = at + random.randrange(-50, random.choice((100, 3 * SECOND_MS, 25 * SECOND_MS)))
            yield asked_at, action, name
            if action == "pause":
                yield asked_at + random.randrange(_RESUMED_MS_MAX), "resume", name


def _is_dedicated(seed: int) -> bool:
    return FIRST_TOGETHER <= seed < FIRST_BATCHED


def _fields(random: Random, at: Instant) -> dict[str, Any]:
    """Return the fields of a job: when it fires, and its rules."""
    drawn = random.random()
    fields = dict(random.choice(_NEAR if drawn < _NEAR_SHARE else _BEYOND))
    if random.random() < _AT_MINUTE:
        fields = {"dueTime": rfc3339(at - at % MINUTE_MS + random.choice(_MINUTES) * MINUTE_MS)}
    if random.random() < 1 / 2:
        fields["history"] = "failures"
    return {**fields, "retry": random.choice(RETRIES)}
