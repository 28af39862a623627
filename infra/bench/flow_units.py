"""What a trigger uses under a flow policy and without one: DynamoDB units and SQS requests.

Production's delivery and flow functions run as threads of this process, on DynamoDB Local, with the
machine's clock. Time matters here: a worker looks at its line again and again while its requests are open.

A batch goes by the wheel. So the clock is moved ahead once, from the creation of its job to five seconds
before it is due. Jobs that are due within five minutes go through the delivery queue instead.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event, Thread
from typing import Any, Final, TypeVar

from infra import dynamodb_local
from infra.bench.clock import AheadClock
from infra.bench.meter import Usage
from infra.bench.prices import requests_per_million
from infra.bench.report import Report
from infra.bench.sqs import CountedSqs
from infra.bench.wheelhouse import Wheelhouse

from sweephand.base.instants import MINUTE_MS, SECOND_MS, rfc3339
from sweephand.jobs.policies import PolicyLimits
from sweephand.model.job import JobKey
from sweephand.model.policy import PolicyKey, Rate
from sweephand.runs.received import Received

_Result = TypeVar("_Result")

#: More than that would show the same units.
EVENTS: Final = 2_000

ANSWER_S: Final = 0.1

#: The limit of each batch (None: no policy) and its events a second (None: all at once), as in the aim.
_KINDS: Final = ((None, 167), (50, 167), (200, None))

#: The limit for jobs that go through the queue, and for the batch of a job that is paused.
_LIMIT: Final = 50

#: The jobs are due so long after the first of them is created.
_CREATED_MS: Final = 2 * MINUTE_MS

#: Single triggers come so far apart that the worker of each has left before the next one comes.
_SINGLES: Final = 8
_APART_MS: Final = 3 * SECOND_MS

#: The policies of single triggers. The number of partitions of a line follows from its policy.
_SINGLE_LIMITS: Final = (
    PolicyLimits(1, None),
    PolicyLimits(50, None),
    PolicyLimits(200, None),
    PolicyLimits(1_000, None),
    PolicyLimits(None, Rate(10, SECOND_MS)),
)

#: A pause that has lasted for so long has rounds of 15 minutes.
_PAUSED_MS: Final = 20 * MINUTE_MS
_ROUND_MS: Final = 15 * MINUTE_MS

#: A round is over when nothing was used for so long.
_SETTLED_S: Final = 4

_DELIVERY_FUNCTIONS: Final = 2
PERMITS_OF_FUNCTION: Final = 10

#: The job is written so long before its batch is due, and the sweep comes so long before.
_AHEAD_MS: Final = 7 * MINUTE_MS
_SWEPT_MS: Final = 5 * SECOND_MS

#: What Lambda gives a function, and how long this bench waits for an event after which none came.
_TIME_LIMIT_MS: Final = 90 * SECOND_MS
_PATIENCE_S: Final = 60

#: A worker leaves its line within this time after the last event.
_LEAVING_S: Final = 3


@dataclass(frozen=True, slots=True)
class Counted:
    """A batch under a limit (None: no policy), and what it used from its job's creation to its end.

    `rate` is its events a second, or None if all are due at once. `others` names triggers of another kind, or
    of another policy.
    """

    limit: int | None
    rate: int | None
    events: int
    usage: Usage
    seconds: float
    others: str = ""

    @property
    def kind(self) -> str:
        """The triggers, as the report names them."""
        if self.others:
            return self.others
        spread = "at once" if self.rate is None else f"over {self.events / self.rate:.0f} s"
        return f"batch {spread}, " + ("without a policy" if self.limit is None else f"under {self.limit}")


def measure(events: int) -> Report:
    """Send a batch without a policy, spread over a time, and one under each limit."""
    counted = count(events)
    with dynamodb_local.running() as url:
        counted += [_count_jobs(url, events), _count_held(url, events)]
        counted += [_count_singles(url, limits) for limits in _SINGLE_LIMITS]
    return Report(
        title="Cost of a trigger under a policy, on DynamoDB Local",
        columns=("triggers", "WRU", "RRU", "SQS", "Lambda calls", "$ per million", "took s"),
        rows=[_row(each) for each in counted],
        figures={
            "kinds": {
                each.kind: {
                    "writes": round(each.usage.writes / each.events, 4),
                    "reads": round(each.usage.reads / each.events, 4),
                    "sqs": round(each.usage.sqs / each.events, 4),
                    "invocations": round(each.usage.invocations / each.events, 4),
                    "seconds": round(each.seconds, 1),
                    "unitsByCall": {
                        call: round(units / each.events, 4) for call, units in each.usage.by_call.items()
                    },
                }
                for each in counted
            }
        },
        is_within=True,
        notes=(
            "A batch: from the creation of its job to its end, with `history: failures` and a tick. Jobs:",
            "from after their creation. Held: one round of a pause. One by one: each comes 3 s after the one",
            "before. Dollars: units, SQS requests and Lambda calls at list price, without functions' time",
            "and empty receives.",
        ),
    )


def count(events: int) -> list[Counted]:
    """The same batches, each with what it used."""
    with dynamodb_local.running() as url:
        return [_count(url, limit, rate, events) for limit, rate in _KINDS]


class _House(Wheelhouse):
    """A stack whose functions are threads: they receive, work and delete until they are stopped."""

    def __init__(self, url: str, name: str, clock: AheadClock, flow_functions: int) -> None:
        super().__init__(
            url,
            name,
            shards=1,
            clock=clock,
            answer_s=ANSWER_S,
            concurrently=_in_threads,
            flow_functions=flow_functions,
        )
        self._flow_functions = flow_functions
        self._stopped = Event()
        self._threads: list[Thread] = []
        self._failed: list[Any] = []

    def create_policy(self, limits: PolicyLimits) -> None:
        """Create the policy `limit` of the namespace of all jobs."""
        self._app.policies.policy_writer.put(
            PolicyKey("bench", "limit"),
            limits,
            who="bench",
            requested_at=self.clock.now(),
        )

    def pause(self) -> None:
        """Pause the first job."""
        key = JobKey("bench", "job-000000")
        self._app.pauser.pause(key, reason=None, who="bench", requested_at=self.clock.now())

    def settle(self) -> None:
        """Return when nothing has been used for a while."""
        before, used_at = None, time.monotonic()
        while time.monotonic() < used_at + _SETTLED_S:
            usage = self.meter.usage
            if (usage.reads, usage.writes, usage.sqs) != before:
                before, used_at = (usage.reads, usage.writes, usage.sqs), time.monotonic()
            time.sleep(0.1)

    def start(self) -> None:
        """Start the functions."""
        functions = [(self._sqs, 10, self._deliver_some)] * _DELIVERY_FUNCTIONS
        functions += [(self._work, 1, self._walk)] * self._flow_functions
        self._threads = [Thread(target=self._poll, args=each) for each in functions]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Stop the functions after their present calls. AssertionError if one of them failed."""
        self._stopped.set()
        for thread in self._threads:
            thread.join()
        assert not self._failed, self._failed

    def _poll(self, queue: CountedSqs, at_most: int, handle: Callable[[list[Received]], None]) -> None:
        while not self._stopped.is_set():
            next_at = queue.next_at()
            batch = [] if next_at is None or next_at > self.clock.now() else queue.receive(at_most)
            if batch:
                self.meter.invocation()
                handle(batch)
                queue.delete()
            else:
                time.sleep(0.01)

    def _deliver_some(self, batch: list[Received]) -> None:
        handled = self._app.intake.handle(batch, deadline=self.clock.now() + _TIME_LIMIT_MS)
        self._failed += [each for each in handled if not each.is_done or each.error is not None]

    def _walk(self, batch: list[Received]) -> None:
        [message] = batch
        worked = self._app.flow.work_intake.handle(message, deadline=self.clock.now() + _TIME_LIMIT_MS)
        self._failed += worked.errors


def _count(url: str, limit: int | None, rate: int | None, events: int) -> Counted:
    window_ms = SECOND_MS if rate is None else events * SECOND_MS // rate
    clock = AheadClock()
    house = _House(url, f"flow-{limit}", clock, -(-(limit or 0) // PERMITS_OF_FUNCTION))
    job: dict[str, Any] = {
        "batch": {"count": events, "window": f"{window_ms}ms"},
        "history": "failures",
    }
    if limit is not None:
        house.create_policy(PolicyLimits(limit, None))
        job["policy"] = "limit"
    house.start()
    try:
        # The creation of the policy has sent work messages, which are not the batch's.
        time.sleep(_LEAVING_S)
        house.tick()
        house.meter.reset()
        due_at = clock.now() // MINUTE_MS * MINUTE_MS + _AHEAD_MS
        house.create([{**job, "dueTime": rfc3339(due_at)}])
        clock.move_to(due_at - _SWEPT_MS)
        house.tick()
        _wait(house, events)
        seconds = (clock.now() - due_at) / SECOND_MS
        time.sleep(_LEAVING_S)
    finally:
        house.stop()
    assert house.delivered == events, f"{house.delivered} of {events} were delivered"
    return Counted(limit, rate, events, house.meter.usage, seconds)


def _count_jobs(url: str, count: int) -> Counted:
    """Jobs that are due soon, so that their triggers go through the delivery queue."""
    clock = AheadClock()
    due_at = clock.now() // SECOND_MS * SECOND_MS + _CREATED_MS
    name = f"jobs at once, under {_LIMIT}"
    return _count_due(url, clock, PolicyLimits(_LIMIT, None), [due_at] * count, name)


def _count_singles(url: str, limits: PolicyLimits) -> Counted:
    """Jobs that are due one after the other."""
    clock = AheadClock()
    due_at = clock.now() // SECOND_MS * SECOND_MS + _CREATED_MS
    due_ats = [due_at + number * _APART_MS for number in range(_SINGLES)]
    rate, limit = limits.rate, limits.concurrent_max
    under = f"under {limit}" if rate is None else f"{rate.limit} in {rate.per_ms // SECOND_MS} s"
    return _count_due(url, clock, limits, due_ats, f"jobs one by one, {under}")


def _count_due(
    url: str, clock: AheadClock, limits: PolicyLimits, due_ats: Sequence[int], name: str
) -> Counted:
    """Jobs that are due at those instants. Their creation is not counted."""
    due_at, count = due_ats[0], len(due_ats)
    house = _House(url, f"flow-{count}-{limits.concurrent_max}", clock, _LIMIT // PERMITS_OF_FUNCTION)
    house.create_policy(limits)
    house.create_in_bulk(
        [{"dueTime": rfc3339(each), "history": "failures", "policy": "limit"} for each in due_ats]
    )
    house.start()
    try:
        house.settle()
        house.meter.reset()
        clock.move_to(due_at - _SWEPT_MS)
        _wait(house, count)
        seconds = (clock.now() - due_at) / SECOND_MS
        time.sleep(_LEAVING_S)
    finally:
        house.stop()
    assert house.delivered == count, f"{house.delivered} of {count} were delivered"
    return Counted(limits.concurrent_max, None, count, house.meter.usage, seconds, name)


def _count_held(url: str, events: int) -> Counted:
    """A batch whose job is paused just before it is due: one round in which all of it is held."""
    clock = AheadClock()
    house = _House(url, "flow-held", clock, _LIMIT // PERMITS_OF_FUNCTION)
    house.create_policy(PolicyLimits(_LIMIT, None))
    due_at = clock.now() // MINUTE_MS * MINUTE_MS + _AHEAD_MS
    batch = {"count": events, "window": "1s"}
    house.create([{"batch": batch, "dueTime": rfc3339(due_at), "policy": "limit", "history": "failures"}])
    clock.move_to(due_at - _SWEPT_MS)
    house.tick()
    house.pause()
    clock.move_to(due_at + _PAUSED_MS)
    house.start()
    try:
        house.settle()
        house.meter.reset()
        clock.move_to(clock.now() + _ROUND_MS)
        began_at = clock.now()
        house.settle()
        seconds = (clock.now() - began_at) / SECOND_MS - _SETTLED_S
    finally:
        house.stop()
    assert not house.delivered, "a trigger of a paused job was delivered"
    return Counted(_LIMIT, None, events, house.meter.usage, seconds, f"held for a round, under {_LIMIT}")


def _wait(house: Wheelhouse, events: int) -> None:
    """Wait until all events were delivered, or none for a while."""
    delivered, came_at = -1, time.monotonic()
    while house.delivered < events and time.monotonic() < came_at + _PATIENCE_S:
        if house.delivered > delivered:
            delivered, came_at = house.delivered, time.monotonic()
        time.sleep(0.1)


def _in_threads(tasks: Sequence[Callable[[], _Result]]) -> Iterable[_Result]:
    """Run each task in a thread of its own. A function has its own threads, and here many share a process."""
    with ThreadPoolExecutor(max(1, len(tasks))) as threads:
        futures = [threads.submit(task) for task in tasks]
    return [future.result() for future in futures]


def _row(counted: Counted) -> Sequence[str]:
    usage, events = counted.usage, counted.events
    return (
        counted.kind,
        f"{usage.writes / events:.3f}",
        f"{usage.reads / events:.3f}",
        f"{usage.sqs / events:.3f}",
        f"{usage.invocations / events:.4f}",
        f"{requests_per_million(usage, events):.2f}",
        f"{counted.seconds:.1f}",
    )
