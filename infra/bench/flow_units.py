"""What a trigger uses under a flow policy and without one: DynamoDB units and SQS requests.

Production's delivery and flow functions run as threads of this process, on DynamoDB Local, with the
machine's clock. Time matters here: a worker looks at its line again and again while its requests are open.

A batch goes by the wheel. So the clock is moved ahead once, from the creation of its job to five seconds
before it is due. Jobs that are due within five minutes go through the delivery queue instead.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict
from threading import Event, Thread
from typing import Any, Final

from infra import dynamodb_local
from infra.bench.clock import AheadClock
from infra.bench.meter import BATCH_MAX, CountedSqs, cells
from infra.bench.report import Cell, Figure, Report
from infra.bench.wheelhouse import Wheelhouse

from sweephand.base.concurrency import Result
from sweephand.base.instants import MINUTE_MS, SECOND_MS, rfc3339
from sweephand.jobs.policy_fields import PolicyLimits
from sweephand.model.policy import PolicyKey, Rate
from sweephand.runs.received import Received
from sweephand_engine.costs.measured import BatchCount, Usage

#: More than that would show the same units.
EVENTS: Final = 2_000

ANSWER_S: Final = 0.1

#: The limit of each batch (None: no policy) and its events a second (None: all at once), as in the aim.
_KINDS: Final = ((None, 167), (50, 167), (200, None))

#: The limit for jobs that go through the queue, all at once.
_LIMIT: Final = 50

#: The limit of each customer, and how many customers have jobs that are due at once.
_OF_CUSTOMER: Final = PolicyLimits(2, None, "label:customer")
_CUSTOMERS: Final = 40

#: Single triggers come so far apart that the worker of each has left before the next one comes.
_SINGLES: Final = 8
_APART_MS: Final = 3 * SECOND_MS

#: The policies of single triggers. To them, the size of a limit makes no difference.
_SINGLE_LIMITS: Final = (
    PolicyLimits(1, None),
    PolicyLimits(1_000, None),
    PolicyLimits(None, Rate(10, SECOND_MS)),
)

_DELIVERY_FUNCTIONS: Final = 2
PERMITS_OF_FUNCTION: Final = 10

#: A job is written so long before it is due, and the sweep of a batch comes so long before.
_AHEAD_MS: Final = 7 * MINUTE_MS
_SOON_MS: Final = 2 * MINUTE_MS
_SWEPT_MS: Final = 5 * SECOND_MS
_QUIET_MS: Final = 20 * SECOND_MS

#: What Lambda gives a function, and how long this bench waits for an event after which none came.
_TIME_LIMIT_MS: Final = 90 * SECOND_MS
_PATIENCE_S: Final = 60

#: The functions are idle when nothing was used for so long.
_SETTLED_S: Final = 4


def measure(events: int) -> Report:
    """Send a batch without a policy, spread over a time, and one under each limit. Then single jobs."""
    with dynamodb_local.running() as url:
        rows = []
        for limit, rate in _KINDS:
            each, seconds = _count(url, limit, rate, events)
            policy = "without a policy" if limit is None else f"under {limit}"
            rows.append(_row(f"batch {each.spread}, {policy}", each, seconds))
        for limits in (PolicyLimits(_LIMIT, None), _OF_CUSTOMER):
            rows += [_count_jobs(url, limits, events, 0, is_swept=each) for each in (False, True)]
        rows += [_count_jobs(url, limits, _SINGLES, _APART_MS) for limits in _SINGLE_LIMITS]
    return Report(
        title="Cost of a trigger under a policy, on DynamoDB Local",
        rows=rows,
        notes=(
            "A batch: from the creation of its job to its end, with a tick. Jobs: from after their creation.",
            "Swept: their jobs were written long before. Jobs of others were written two minutes before.",
            "One by one: each comes 3 s after the one before. Dollars are without the functions' time.",
        ),
    )


def _row(name: str, used: Usage, seconds: float) -> Mapping[str, Cell]:
    return {"triggers": name, **cells(used), "took s": Figure(seconds, 1)}


def count(events: int) -> list[BatchCount]:
    """The batches, each with what an event used."""
    with dynamodb_local.running() as url:
        return [_count(url, limit, rate, events)[0] for limit, rate in _KINDS]


class _House(Wheelhouse):
    """A stack whose functions are threads: they receive, work and delete until they are stopped."""

    def __init__(self, url: str, name: str, flow_functions: int) -> None:
        self.ahead = AheadClock()
        super().__init__(
            url,
            name,
            shards=1,
            clock=self.ahead,
            answer_s=ANSWER_S,
            concurrently=_in_threads,
            flow_functions=flow_functions,
        )
        self._flow_functions = flow_functions
        self._stopped = Event()
        self._failed: list[Any] = []

    def create_policy(self, limits: PolicyLimits) -> None:
        """Create the policy `limit` of the namespace of all jobs."""
        key, now = PolicyKey("bench", "limit"), self.clock.now()
        self._api.policy_writer.put(key, limits, who="bench", requested_at=now)

    def settle(self) -> None:
        """Return when nothing has been used for a while."""
        used, used_at = self.meter.usage, time.monotonic()
        while time.monotonic() < used_at + _SETTLED_S:
            if self.meter.usage != used:
                used, used_at = self.meter.usage, time.monotonic()
            time.sleep(0.1)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run the functions within the context, which is entered when they are idle.

        AssertionError if a function failed.
        """
        functions = [(self._sqs, BATCH_MAX, self._deliver_some)] * _DELIVERY_FUNCTIONS
        functions += [(self._work_sqs, 1, self._walk)] * self._flow_functions
        threads = [Thread(target=self._poll, args=each) for each in functions]
        for thread in threads:
            thread.start()
        try:
            # The creation of a policy has sent work messages, which are not those of its triggers.
            self.settle()
            yield
        finally:
            self._stopped.set()
            for thread in threads:
                thread.join()
        assert not self._failed, self._failed

    def await_all(self, due_at: int, events: int) -> float:
        """Return when all events have come that are due from then on, and the functions are idle again.

        The seconds that the events took.
        """
        delivered, came_at = -1, time.monotonic()
        while self.delivered < events and time.monotonic() < came_at + _PATIENCE_S:
            if self.delivered > delivered:
                delivered, came_at = self.delivered, time.monotonic()
            time.sleep(0.1)
        seconds = (self.clock.now() - due_at) / SECOND_MS
        self.settle()
        assert self.delivered == events, f"{self.delivered} of {events} were delivered"
        return seconds

    def _poll(self, queue: CountedSqs, at_most: int, handle: Callable[[list[Received]], None]) -> None:
        while not self._stopped.is_set():
            next_at = queue.next_at()
            batch = [] if next_at is None or next_at > self.clock.now() else queue.receive(at_most)
            if batch:
                self.meter.add(invocations=1)
                handle(batch)
                queue.delete()
            else:
                time.sleep(0.01)

    def _deliver_some(self, batch: list[Received]) -> None:
        handled = self._intake.handle(batch, deadline=self.clock.now() + _TIME_LIMIT_MS)
        self._failed += [each for each in handled if not each.is_done or each.error is not None]

    def _walk(self, batch: list[Received]) -> None:
        [message] = batch
        worked = self._flow_intake.handle(message, deadline=self.clock.now() + _TIME_LIMIT_MS)
        self._failed += worked.errors


def _count(url: str, limit: int | None, rate: int | None, events: int) -> tuple[BatchCount, float]:
    """What each event of a batch used, and the seconds that all took."""
    window_ms = SECOND_MS if rate is None else events * SECOND_MS // rate
    house = _House(url, f"flow-{limit}", -(-(limit or 0) // PERMITS_OF_FUNCTION))
    job: dict[str, Any] = {"batch": {"count": events, "window": f"{window_ms}ms"}, "history": "failures"}
    if limit is not None:
        house.create_policy(PolicyLimits(limit, None))
        job["policy"] = "limit"
    with house.running():
        house.tick()
        before = house.used()
        due_at = house.clock.now() // MINUTE_MS * MINUTE_MS + _AHEAD_MS
        house.create([{**job, "dueTime": rfc3339(due_at)}])
        house.ahead.move_to(due_at - _SWEPT_MS)
        house.tick()
        seconds = house.await_all(due_at, events)
    used = house.used().plus(before, -1).per(events)
    return BatchCount(limit=limit, rate=rate, events=events, **asdict(used)), seconds


def _count_jobs(
    url: str, limits: PolicyLimits, count: int, apart_ms: int, *, is_swept: bool = False
) -> Mapping[str, Cell]:
    """Jobs that are due soon, so that their triggers go through the delivery queue, all at once or apart.

    If they are `is_swept`, they were written long before, and a sweeper sends their triggers, ten in a
    message. Their creation is not counted.
    """
    house = _House(url, f"flow-{count}-{limits.concurrent_max}-{is_swept}", _LIMIT // PERMITS_OF_FUNCTION)
    due_at = house.clock.now() // MINUTE_MS * MINUTE_MS + (_AHEAD_MS if is_swept else _SOON_MS)
    house.create_policy(limits)
    house.create_in_bulk(
        {
            "history": "failures",
            "policy": "limit",
            "labels": {"customer": str(number % _CUSTOMERS)},
            "dueTime": rfc3339(due_at + number * apart_ms),
        }
        for number in range(count)
    )
    with house.running():
        # What the creation of the policy has sent comes before the first trigger.
        house.ahead.move_to(due_at - _QUIET_MS)
        house.settle()
        before = house.used()
        if is_swept:
            house.ahead.move_to(due_at - _SWEPT_MS)
            house.tick()
        seconds = house.await_all(due_at, count)
    used = house.used().plus(before, -1).per(count)
    rate, limit = limits.rate, limits.concurrent_max
    under = f"under {limit}" if rate is None else f"{rate.limit} in {rate.per_ms // SECOND_MS} s"
    under += f" for each of {_CUSTOMERS} keys" if limits.by else ""
    come = "one by one" if apart_ms else "at once, swept" if is_swept else "at once"
    return _row(f"jobs {come}, {under}", used, seconds)


def _in_threads(tasks: Sequence[Callable[[], Result]]) -> Iterable[Result]:
    """Run each task in a thread of its own. A function has its own threads, and here many share a process."""
    with ThreadPoolExecutor(max(1, len(tasks))) as threads:
        futures = [threads.submit(task) for task in tasks]
    return [future.result() for future in futures]
