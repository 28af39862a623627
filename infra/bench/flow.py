"""Batches under flow policies on a local stack, and what they do to other jobs meanwhile.

The batch that is spread goes once without a policy, for comparison. Each batch has a consumer of its own,
which counts what is open at once.
"""

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from heapq import merge
from itertools import accumulate
from typing import Any, Final

from infra.bench import punctuality
from infra.bench.bulk import write_jobs
from infra.bench.consumer import Arrival, Consumer, Open
from infra.bench.local_stack import deployed, job, now, show, sleep_until
from infra.bench.punctuality import percentile, series_owed
from infra.bench.report import Cell, Figure, Report
from infra.local.client import Client
from infra.local.deploy import outputs, session
from infra.local.places import Place

from sweephand.base.instants import SECOND_MS, rfc3339
from sweephand.base.timing import DIRECT_WINDOW_MS, EARLY_WAIT_MAX_MS
from sweephand.delivery.sqs_clients import SqsClients
from sweephand.delivery.stack_queues import SqsWorkQueue
from sweephand.model.work_message import WorkMessage

#: The aim: so many events over so long under the first limit, and 5/2 as many at once under the second.
EVENTS: Final = 20_000
_SPREAD_MS: Final = 120 * SECOND_MS
_SPREAD_LIMIT: Final = 50
_AT_ONCE_MS: Final = SECOND_MS
_AT_ONCE_LIMIT: Final = 200

#: So many events at once go to a consumer that takes so long for an answer. Two cores bear that rate.
_SLOW_EVENTS: Final = 1_000
_SLOW_ANSWER_MS: Final = 2 * SECOND_MS

#: A flow function has up to so many permits. Some functions more than the limit needs may run.
_PERMITS_OF_FUNCTION: Final = 10
_FUNCTIONS: Final = _AT_ONCE_LIMIT // _PERMITS_OF_FUNCTION + 4

#: The other jobs. Each fires so often.
_OTHERS: Final = 5
_PERIOD_MS: Final = SECOND_MS

#: A batch is due so long after its job was written. So it goes by the wheel.
_LEAD_MS: Final = DIRECT_WINDOW_MS + 15 * SECOND_MS

#: So long before a batch all flow functions are started. On AWS each has cores of its own for that. Here, 24
#: starts share two cores, and last for half a minute.
_WARM_MS: Final = 60 * SECOND_MS

#: The least mean use of a limit while work waits.
_USE_LEAST: Final = 0.9

#: After the window of a batch, the bench waits for so long, and for so long for each of its events. Two cores
#: need less.
_PATIENCE_MS: Final = 45 * SECOND_MS
_PATIENCE_OF_EVENT_MS: Final = 15

#: Duplicates would come within this time.
_AFTER_S: Final = 3

_MS_NS: Final = 1_000_000

#: Work waits as long as this many events for each permit are due and have not come. Below that, the end of
#: the work is near, and not all workers find some. tests/simulation/flow measures the same.
_WAITING_PER_PERMIT: Final = 2


@dataclass(frozen=True, slots=True)
class Plan:
    """A batch of so many events: its name, its limit (None: no policy), and when it is due, in epoch ms.

    Its consumer takes `answer_ms` for an answer.
    """

    name: str
    events: int
    window_ms: int
    limit: int | None
    due_at: int
    answer_ms: int = 100

    def planned_at(self) -> Sequence[int]:
        """When each event is due, in the order of their indexes. docs/guide.md has the rule."""
        return [self.due_at + index * self.window_ms // self.events for index in range(self.events)]


@dataclass(frozen=True, slots=True)
class Figures:
    """What became of a batch. Times are in ms.

    `p50_ms` and `p99_ms` are distances from plan. No event can come before it is due, so it comes later by so
    much. `took_ms` is from the first due time to the last event. `use` is None if no work waited.
    """

    lost: int
    twice: int
    early: int
    most_open: int
    use: float | None
    p50_ms: int
    p99_ms: int
    took_ms: int


def measure(place: Place, events: int) -> Report:
    """Start a stack of its own, send the batches one after the other, and end it.

    The time is bounded, also if events are lost.
    """
    # A policy uses no more functions than this parameter tells its workers, less one.
    place = replace(place, parameters=(*place.parameters, f"FlowConcurrency={_FUNCTIONS}"))
    with deployed(place) as client, Consumer() as others, ExitStack() as entered:
        every = {"schedule": f"@every {_PERIOD_MS // SECOND_MS}s"}
        write_jobs(client, "others", [job(f"job-{each}", every, others.url) for each in range(_OTHERS)])
        sent = []
        for kind in plans_of(events):
            consumer = entered.enter_context(Consumer(kind.answer_ms / SECOND_MS))
            plan = replace(kind, due_at=now() + _LEAD_MS)
            _send(place, client, plan, consumer)
            sent.append((plan, consumer, now()))
            show(f"{plan.name}: {consumer.count()} of {plan.events} came")
        time.sleep(_AFTER_S)
        rows = [_row(*each, others.arrivals()) for each in sent]
    return Report(
        title=f"Flow, on the local stack, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}",
        rows=rows,
        notes=(
            "p50, p99: distance from plan. Use: mean share of the limit while at least two events for each",
            "permit were due and had not come. Others: jobs that fire every second, in another namespace.",
            "The functions' concurrency is above what the limits need, so FlowConcurrency is no bound here.",
            "The local AWS, the functions, the consumers and all other programs share this machine's cores.",
        ),
    )


def plans_of(events: int) -> Sequence[Plan]:
    """The batches in their order, without due times: each is written when the one before it is over."""
    window_ms = max(SECOND_MS, _SPREAD_MS * events // EVENTS)
    return (
        Plan("slow-consumer", _SLOW_EVENTS, _AT_ONCE_MS, _SPREAD_LIMIT, 0, _SLOW_ANSWER_MS),
        Plan("spread-alone", events, window_ms, None, 0),
        Plan("spread", events, window_ms, _SPREAD_LIMIT, 0),
        Plan("at-once", events * 5 // 2, _AT_ONCE_MS, _AT_ONCE_LIMIT, 0),
    )


def _send(place: Place, client: Client, plan: Plan, consumer: Consumer) -> None:
    """Write a batch, start the flow functions a minute before it is due, and wait until it is over."""
    _write(client, plan, consumer.url)
    show(f"{plan.name} is due {rfc3339(plan.due_at)}, and is over by {rfc3339(_given_up_at(plan))}")
    sleep_until(plan.due_at - _WARM_MS)
    _warm(place)
    sleep_until(plan.due_at)
    while consumer.count() < plan.events and now() < _given_up_at(plan):
        time.sleep(0.5)


def _given_up_at(plan: Plan) -> int:
    work_ms = plan.events * plan.answer_ms // (plan.limit or plan.events)
    return plan.due_at + plan.window_ms + work_ms + _PATIENCE_MS + _PATIENCE_OF_EVENT_MS * plan.events


def _write(client: Client, plan: Plan, url: str) -> None:
    """Write the job of a batch, and its policy."""
    written: dict[str, Any] = {
        **job(plan.name, {"dueTime": rfc3339(plan.due_at)}, url),
        "batch": {"count": plan.events, "window": f"{plan.window_ms}ms"},
        "history": "failures",
    }
    if plan.limit is not None:
        client.ask("PUT", f"/v1/namespaces/batches/policies/{plan.name}", {"maxConcurrent": plan.limit})
        written["policy"] = plan.name
    write_jobs(client, "batches", [written])


def _warm(place: Place) -> None:
    """Start all flow functions. ministack ends functions that had nothing to do for five minutes.

    Each receives a message that it holds for most of a second, so none receives two of them.
    """
    sqs: Any = session().client("sqs", endpoint_url=place.endpoint_url)
    work = SqsWorkQueue(SqsClients(lambda _: sqs), outputs(place)["FlowQueueUrl"])
    held_until = now() + EARLY_WAIT_MAX_MS - 1
    message = WorkMessage("batches", "no-policy", held_until, until=held_until + _WARM_MS)
    for _ in range(_FUNCTIONS):
        work.send(message, 0)


def _row(plan: Plan, consumer: Consumer, until: int, others: Sequence[Arrival]) -> Mapping[str, Cell]:
    # The order matters: requests that come meanwhile are left out of both.
    arrivals = consumer.arrivals()
    found = judge(plan, arrivals, consumer.opened()[: len(arrivals)])
    other = punctuality.judge(series_owed(others, _PERIOD_MS, after=plan.due_at, until=until), others)
    return {
        "batch": plan.name,
        "events": plan.events,
        "limit": "" if plan.limit is None else plan.limit,
        "lost": Figure(found.lost, 0, 0),
        "twice": Figure(found.twice, 0, 0),
        "early": Figure(found.early, 0, 0),
        "most open": Figure(found.most_open, 0, plan.limit),
        "use": "" if found.use is None else Figure(found.use, 3, least=_USE_LEAST),
        "took s": Figure(found.took_ms / SECOND_MS, 1),
        "p50 ms": found.p50_ms,
        "p99 ms": found.p99_ms,
        "others p99": other.p99_ms,
        "others lost": Figure(other.lost, 0, 0),
    }


def judge(plan: Plan, arrivals: Sequence[Arrival], opened: Sequence[Open]) -> Figures:
    """The figures of a batch. `opened` has the requests of `arrivals`, in the same order."""
    planned_at = plan.planned_at()
    first: dict[int, tuple[Arrival, Open]] = {}
    for arrival, was_open in zip(arrivals, opened, strict=True):
        first.setdefault(arrival.index, (arrival, was_open))
    late_ms = sorted(each.arrived_at - planned_at[index] for index, (each, _) in first.items())
    last_at = max((each.arrived_at for each, _ in first.values()), default=plan.due_at)
    begun_ns = [each.from_ns for _, each in first.values()]
    due_ns = [each * _MS_NS for each in planned_at]
    return Figures(
        lost=plan.events - len(first),
        twice=len(arrivals) - len(first),
        early=sum(each < 0 for each in late_ms),
        most_open=most_open(opened),
        use=None if plan.limit is None else use(plan.limit, due_ns, begun_ns, opened),
        p50_ms=percentile(late_ms, 50),
        p99_ms=percentile(late_ms, 99),
        took_ms=last_at - plan.due_at,
    )


def most_open(opened: Sequence[Open]) -> int:
    """The most requests that were open at one instant. What ends at an instant goes before what begins."""
    return max(accumulate(change for _, change in _changes(opened)), default=0)


def use(limit: int, due_ns: Iterable[int], begun_ns: Iterable[int], opened: Sequence[Open]) -> float | None:
    """The mean share of a limit that was in use while work waited; None if none did.

    Work waits while at least two events for each permit are due and have not come.

    `due_ns` is when each event was due, and `begun_ns` when each of those began that came, in epoch ns.
    """
    waits = sorted([(each, 1) for each in due_ns] + [(each, -1) for each in begun_ns])
    steps = merge(
        ((at, change, 0) for at, change in waits),
        ((at, 0, change) for at, change in _changes(opened)),
    )
    waiting = is_open = before_at = waited_ns = used_ns = 0
    for at, waits_more, opens_more in steps:
        if waiting >= _WAITING_PER_PERMIT * limit:
            waited_ns += at - before_at
            used_ns += (at - before_at) * is_open
        waiting += waits_more
        is_open += opens_more
        before_at = at
    return used_ns / waited_ns / limit if waited_ns else None


def _changes(opened: Sequence[Open]) -> Iterator[tuple[int, int]]:
    """When one more request is open (1) and one less (-1), in the order of time."""
    begins = [(each.from_ns, 1) for each in opened]
    ends = [(each.until_ns, -1) for each in opened if each.until_ns is not None]
    return iter(sorted(begins + ends))
