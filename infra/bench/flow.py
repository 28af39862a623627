"""Batches under flow policies on a local stack, and what they do to other jobs meanwhile.

The batch that is spread goes once without a policy, for comparison. Each batch has a consumer of its own,
which counts what is open at once.
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from heapq import merge
from itertools import accumulate
from typing import Any, Final

from infra.bench.consumer import Consumer, Request
from infra.bench.local_stack import deployed, job, now, show, sleep_until, title
from infra.bench.punctuality import Punctuality, judge, judge_series
from infra.bench.report import Cell, Figure, Report
from infra.local.client import Client, write_jobs
from infra.local.deploy import aws_of, outputs
from infra.local.places import Place

from sweephand.base.instants import SECOND_MS, rfc3339
from sweephand.base.timing import DIRECT_WINDOW_MS, EARLY_WAIT_MAX_MS
from sweephand.delivery.checked_clients import SqsClients
from sweephand.delivery.stack_queues import SqsFlowQueue
from sweephand.model.gate_message import GateMessage

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
        """When each event is due, in the order of their indexes. docs/batches.md has the rule."""
        return [self.due_at + index * self.window_ms // self.events for index in range(self.events)]


def measure(place: Place, events: int) -> Report:
    """Start a stack of its own, send the batches one after the other, and end it.

    The time is bounded, also if events are lost.
    """
    # A policy uses no more functions than this parameter tells its workers, less one.
    place = Place(place.port, enforces_roles=False, parameters=(f"FlowConcurrency={_FUNCTIONS}",))
    with deployed(place) as client, Consumer() as others, ExitStack() as entered:
        every = {"schedule": f"@every {_PERIOD_MS // SECOND_MS}s"}
        write_jobs(client, "others", [job(f"job-{each}", every, others.url) for each in range(_OTHERS)])
        sent = []
        for kind in plans_of(events):
            consumer = entered.enter_context(Consumer(kind.answer_ms / SECOND_MS))
            plan = replace(kind, due_at=now() + _LEAD_MS)
            _send(place, client, plan, consumer)
            sent.append((plan, consumer, now()))
            show(f"{plan.name}: {len(consumer.requests())} of {plan.events} came")
        time.sleep(_AFTER_S)
        came = others.arrivals()
        rows = []
        for plan, consumer, until in sent:
            meanwhile = judge_series(came, _PERIOD_MS, after=plan.due_at, until=until)
            rows.append(row(plan, consumer.requests(), meanwhile))
    return Report(
        title=title("Flow"),
        rows=rows,
        notes=(
            "p50, p99: distance from plan. Use: mean share of the limit while at least two events for each",
            "permit were due and had not come. Others: jobs that fire every second, in another namespace.",
            "The functions' concurrency is above what the limits need, so FlowConcurrency is no bound here.",
            "All programs share this machine's cores.",
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
    """Write a batch and its policy, start the flow functions before it is due, and wait until it is over."""
    written: dict[str, Any] = {
        **job(plan.name, {"dueTime": rfc3339(plan.due_at)}, consumer.url),
        "batch": {"count": plan.events, "window": f"{plan.window_ms}ms"},
        "history": "failures",
    }
    if plan.limit is not None:
        client.ask("PUT", f"/v1/namespaces/batches/policies/{plan.name}", {"maxConcurrent": plan.limit})
        written["policy"] = plan.name
    write_jobs(client, "batches", [written])
    work_ms = plan.events * plan.answer_ms // (plan.limit or plan.events)
    given_up_at = plan.due_at + plan.window_ms + work_ms + _PATIENCE_MS + _PATIENCE_OF_EVENT_MS * plan.events
    show(f"{plan.name} is due {rfc3339(plan.due_at)}, and is over by {rfc3339(given_up_at)}")
    sleep_until(plan.due_at - _WARM_MS)
    _warm(place)
    sleep_until(plan.due_at)
    while len(consumer.requests()) < plan.events and now() < given_up_at:
        time.sleep(0.5)


def _warm(place: Place) -> None:
    """Start all flow functions. ministack ends functions that had nothing to do for five minutes.

    Each receives a message that it holds for most of a second, so none receives two of them.
    """
    sqs = aws_of(place).client("sqs")
    queue = SqsFlowQueue(SqsClients(lambda _: sqs), outputs(place)["FlowQueueUrl"])
    held_until = now() + EARLY_WAIT_MAX_MS - 1
    message = GateMessage("baton", "batches", "no-policy", 0, held_until)
    for _ in range(_FUNCTIONS):
        queue.send(message, 0)


def row(plan: Plan, requests: Sequence[Request], others: Punctuality) -> Mapping[str, Cell]:
    """The row of a batch, by the requests of its consumer and the other jobs' punctuality.

    p50 and p99 are distances from plan. No event can come before it is due, so it comes later by so much. The
    batch took from its first due time to its last event.
    """
    planned_at, begun_ns = plan.planned_at(), dict[int, int]()
    arrivals = [each.arrival() for each in requests]
    for arrival, request in zip(arrivals, requests, strict=True):
        begun_ns.setdefault(arrival.index, request.from_ns)
    came = judge(dict(enumerate(planned_at)), ((each.index, each.arrived_at) for each in arrivals))
    used = None
    if plan.limit is not None:
        used = use(plan.limit, [each * _MS_NS for each in planned_at], begun_ns.values(), requests)
    last_at = max(begun_ns.values(), default=plan.due_at * _MS_NS) // _MS_NS
    return {
        "batch": plan.name,
        "events": plan.events,
        "limit": "" if plan.limit is None else plan.limit,
        "lost": Figure(came.lost, 0, 0),
        "twice": Figure(came.twice, 0, 0),
        "early": Figure(came.early, 0, 0),
        "most open": Figure(most_open(requests), 0, plan.limit),
        "use": "" if used is None else Figure(used, 3, least=_USE_LEAST),
        "took s": Figure((last_at - plan.due_at) / SECOND_MS, 1),
        "p50 ms": came.p50_ms,
        "p99 ms": came.p99_ms,
        "others p99": others.p99_ms,
        "others lost": Figure(others.lost, 0, 0),
    }


def most_open(opened: Sequence[Request]) -> int:
    """The most requests that were open at one instant. What ends at an instant goes before what begins."""
    return max(accumulate(change for _, change in _changes(opened)), default=0)


def use(
    limit: int, due_ns: Iterable[int], begun_ns: Iterable[int], opened: Sequence[Request]
) -> float | None:
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


def _changes(opened: Sequence[Request]) -> Iterator[tuple[int, int]]:
    """When one more request is open (1) and one less (-1), in the order of time."""
    begins = [(each.from_ns, 1) for each in opened]
    ends = [(each.until_ns, -1) for each in opened if each.until_ns is not None]
    return iter(sorted(begins + ends))
