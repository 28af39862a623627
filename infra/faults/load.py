"""What a run asks of the stack, and what the stack owes for it.

Everything is written through the API while calls fail. A caller repeats a call until it is answered. So a
caller owes nothing to a call without an answer, and the stack owes all that follows from one with an answer.
"""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import urllib3
from infra.bench.consumer import Consumer
from infra.bench.local_stack import job, now, sleep_until
from infra.local.client import Client

from sweephand.base.instants import MINUTE_MS, SECOND_MS, rfc3339
from sweephand.base.timing import DIRECT_WINDOW_MS

#: The kinds of jobs. Those of `retried` have a consumer that fails the first attempts. Those of `updated` get
#: new data again and again. Those of `limited` share the slots of a policy. Those of `deleted` must not come.
KINDS: Final = ("one-off", "recurring", "minutely", "updated", "retried", "limited", "batch", "deleted")

#: So many attempts of each trigger fail.
FAILURES: Final = 2

#: The policy has so many slots. Its consumer takes so long for an answer.
SLOTS: Final = 10
_ANSWER_S: Final = 0.3

#: One-offs of each kind that fall due in each second.
_PER_S: Final = {"one-off": 2, "retried": 0.5, "limited": 1, "deleted": 0.25}

#: The recurring jobs, and their schedules. Cron's times are known without asking the stack.
_SERIES: Final = {
    "recurring": (20, 10 * SECOND_MS),
    "minutely": (20, MINUTE_MS),
    "updated": (5, 5 * SECOND_MS),
}
_CRON: Final = {10 * SECOND_MS: "*/10 * * * * *", MINUTE_MS: "* * * * *", 5 * SECOND_MS: "*/5 * * * * *"}
_UPDATE_MS: Final = 7 * SECOND_MS

#: A batch begins so often, with so many events over so long. Every second one has the policy.
_BATCH_MS: Final = 60 * SECOND_MS
_EVENTS: Final = 200
_WINDOW_MS: Final = 20 * SECOND_MS

#: A one-off is due so long after it is written. The longer ones go by the wheel.
_LEAD_MS: Final = (3 * SECOND_MS, 60 * SECOND_MS)
_WHEEL_LEAD_MS: Final = (DIRECT_WINDOW_MS + 10 * SECOND_MS, DIRECT_WINDOW_MS + 60 * SECOND_MS)
_WHEEL_SHARE: Final = 0.3

_WRITERS: Final = 4
_AGAIN_S: Final = 0.5

#: What says nothing about the request: an authorizer or a function that failed, or a write that lost a race.
_REPEATED: Final = frozenset({401, 403, 408, 409, 429})
_GONE: Final = 404


@dataclass(frozen=True, slots=True)
class Key:
    """Names one trigger: its job, the due time of its occurrence in epoch ms, and its index in a batch."""

    job: str
    due_at: int
    index: int = 0


@dataclass(frozen=True, slots=True)
class Promise:
    """When a trigger is due, and from when on the stack may have sent it, in epoch ms."""

    due_at: int
    armed_from: int


@dataclass
class Load:
    """What the stack owes, by the kind of job, and what became of the calls. Several threads write it."""

    consumers: Mapping[str, Consumer]
    owed: dict[str, dict[Key, Promise]] = field(default_factory=lambda: {kind: {} for kind in KINDS})
    #: When the deletion of a job was answered, in epoch ms.
    deleted_at: dict[str, int] = field(default_factory=dict)
    #: Calls that were repeated, by the answer.
    repeated: Counter[str] = field(default_factory=Counter)
    #: Calls that were refused.
    refused: list[str] = field(default_factory=list)
    #: Calls that were not answered before their job was due.
    late: int = 0


@contextmanager
def consumers() -> Iterator[Mapping[str, Consumer]]:
    """A consumer for each kind of jobs."""
    with ExitStack() as entered:
        made = {kind: Consumer() for kind in KINDS}
        made |= {"retried": Consumer(failures=FAILURES), "limited": Consumer(_ANSWER_S)}
        yield {kind: entered.enter_context(each) for kind, each in made.items()}


#: When to do something, in epoch ms, and what.
_Step = tuple[int, Callable[[], None]]


class Writer:
    """Writes the jobs of a run by the API of a stack. The last trigger of each is due by `until`."""

    def __init__(self, client: Client, load: Load, chance: random.Random, until: int) -> None:
        self._client = client
        self._load = load
        self._chance = chance
        self._until = until
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Write what recurs, and the policy. Return when all of it is written."""
        self._call("PUT", "/v1/namespaces/limited/policies/slots", {"maxConcurrent": SLOTS}, self._until)
        with ThreadPoolExecutor(_WRITERS) as threads:
            for kind, (count, period_ms) in _SERIES.items():
                for number in range(count):
                    threads.submit(self._series, kind, f"{kind}-{number}", period_ms)

    def go_on(self) -> None:
        """Write one-offs, batches and updates, each at its time. Return after the last answer."""
        with ThreadPoolExecutor(_WRITERS) as threads:
            for at, step in sorted(self._plan(now()), key=lambda step: step[0]):
                sleep_until(at)
                threads.submit(step)

    def _plan(self, from_at: int) -> Iterator[_Step]:
        chance, until = self._chance, self._until
        for version, at in enumerate(range(from_at, until - _UPDATE_MS, _UPDATE_MS)):
            for number in range(_SERIES["updated"][0]):
                yield at + number * SECOND_MS, partial(self._update, f"updated-{number}", version)
        for number, at in enumerate(range(from_at, until - _LEAD_MS[1] - _WINDOW_MS, _BATCH_MS)):
            due_at = at + chance.randrange(*_LEAD_MS)
            yield at, partial(self._batch, f"batch-{number}", due_at, is_limited=number % 2 == 1)
        for kind, per_s in _PER_S.items():
            for number in range(int((until - from_at) / SECOND_MS * per_s)):
                lead_ms = chance.randrange(*(_WHEEL_LEAD_MS if chance.random() < _WHEEL_SHARE else _LEAD_MS))
                if from_at + lead_ms >= until:
                    lead_ms = chance.randrange(*_LEAD_MS)
                at = chance.randrange(from_at, until - lead_ms)
                yield at, partial(self._one_off, kind, f"{kind}-{number}", at + lead_ms)

    def _series(self, kind: str, name: str, period_ms: int) -> None:
        if self._put(kind, name, {"schedule": _CRON[period_ms]}, self._until):
            first_at = -(-(now() + 1) // period_ms) * period_ms
            self._owe(
                kind, {Key(name, each): each for each in range(first_at, self._until + 1, period_ms)}, 0
            )

    def _update(self, name: str, version: int) -> None:
        schedule = _CRON[_SERIES["updated"][1]]
        self._put("updated", name, {"schedule": schedule, "data": {"version": version}}, self._until)

    def _batch(self, name: str, due_at: int, *, is_limited: bool) -> None:
        kind = "limited" if is_limited else "batch"
        batch = {"count": _EVENTS, "window": f"{_WINDOW_MS}ms"}
        began_at = now()
        if self._put(kind, name, {"dueTime": rfc3339(due_at), "batch": batch}, due_at):
            planned = {
                Key(name, due_at, each): due_at + each * _WINDOW_MS // _EVENTS for each in range(_EVENTS)
            }
            self._owe(kind, planned, began_at)

    def _one_off(self, kind: str, name: str, due_at: int) -> None:
        began_at = now()
        if not self._put(kind, name, {"dueTime": rfc3339(due_at)}, due_at):
            return
        if kind != "deleted":
            self._owe(kind, {Key(name, due_at): due_at}, began_at)
        elif self._call("DELETE", f"/v1/namespaces/deleted/jobs/{name}", None, due_at):
            self._load.deleted_at[name] = now()

    def _owe(self, kind: str, due_at: Mapping[Key, int], began_at: int) -> None:
        promises = {
            key: Promise(each, max(began_at, each - DIRECT_WINDOW_MS)) for key, each in due_at.items()
        }
        with self._lock:
            self._load.owed[kind] |= promises

    def _put(self, kind: str, name: str, fields: Mapping[str, Any], until: int) -> bool:
        """Whether the job was written, as `_call` says."""
        more: dict[str, Any] = {"policy": "slots"} if kind == "limited" else {}
        if kind == "retried":
            more["retry"] = {"initialDelay": "1s", "multiplier": 1, "maxAttempts": 20}
        definition = {**job(name, {}, self._load.consumers[kind].url), **more, **fields}
        del definition["name"]
        return self._call("PUT", f"/v1/namespaces/{kind}/jobs/{name}", definition, until)

    def _call(self, method: str, path: str, body: Any, until: int) -> bool:
        """Repeat a call until it is answered. Return whether it succeeded before that instant.

        A job that is written at its due time is due a little later. Nobody is told when, so nothing is owed.
        """
        tries = 0
        while now() < until:
            tries += 1
            try:
                answer = self._client.call(method, path, body)
            except urllib3.exceptions.HTTPError as error:
                status, why = 0, type(error).__name__
            else:
                status, why = answer.status, f"{answer.status}: {answer.body}"
            # A deletion that is repeated may find that it has happened.
            is_gone = method == "DELETE" and status == _GONE and tries > 1
            if 200 <= status < 300 or is_gone:  # noqa: PLR2004 - 2xx
                if now() < until:
                    return True
                break
            with self._lock:
                self._load.repeated[str(status or why)] += 1
                # Once a job's time has come, a call that is repeated asks for something else.
                if 400 <= status < 500 and status not in _REPEATED and now() < until:  # noqa: PLR2004 - 4xx
                    self._load.refused.append(f"{method} {path}: {why}")
                    return False
            time.sleep(_AGAIN_S)
        with self._lock:
            self._load.late += 1
        return False
