"""Batches under flow policies on a local stack, and what they do to other jobs meanwhile.

The batch that is spread goes once without a policy, for comparison. Each batch has a consumer of its own,
which counts what is open at once.
"""

import os
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, Final

from infra.bench import flow_report
from infra.bench.bulk import write_jobs
from infra.bench.consumer import Arrival, Consumer
from infra.bench.flow_figures import Figures, Plan, judge
from infra.bench.one_offs import job, now, sleep_until
from infra.bench.punctuality import Punctuality, series_owed
from infra.bench.punctuality import judge as judge_others
from infra.bench.report import Report
from infra.local import stack
from infra.local.client import Client
from infra.local.deploy import outputs, session
from infra.local.places import Place
from infra.local.processes import cpu_s

from sweephand.base.instants import SECOND_MS, rfc3339
from sweephand.base.timing import DIRECT_WINDOW_MS, EARLY_WAIT_MAX_MS
from sweephand.delivery.aws_clients import SqsClients
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

#: For so long at the beginning, the stack is measured without a batch.
_BEFORE_S: Final = 60

#: After the window of a batch, the bench waits for so long, and for so long for each of its events. Two cores
#: need less.
_PATIENCE_MS: Final = 45 * SECOND_MS
_PATIENCE_OF_EVENT_MS: Final = 15

#: Duplicates would come within this time.
_AFTER_S: Final = 3


@dataclass(frozen=True, slots=True)
class Measured:
    """A batch, what became of it, the other jobs meanwhile, and the local AWS's CPU time in ms per event.

    The CPU time is without that of the other jobs. `cut` says that the bench did not wait any longer.
    """

    plan: Plan
    figures: Figures
    others: Punctuality
    cpu_ms: float
    cut: bool


@dataclass(frozen=True, slots=True)
class _Spent:
    """From when to when something was measured, and the CPU seconds of the local AWS in that time."""

    from_at: int
    until_at: int
    cpu_s: float


def measure(place: Place, events: int) -> Report:
    """Start a stack of its own, send the batches one after the other, and end it.

    The time is bounded, also if events are lost.
    """
    loads = [os.getloadavg()[0]]
    # A policy uses no more functions than this parameter tells its workers, less one.
    place = replace(place, parameters=(*place.parameters, f"FlowConcurrency={_FUNCTIONS}"))
    described = stack.up(place, say=_show)
    try:
        with ExitStack() as entered:
            client = entered.enter_context(Client.of(described))
            others = entered.enter_context(Consumer())
            every = {"schedule": f"@every {_PERIOD_MS // SECOND_MS}s"}
            write_jobs(client, "others", [job(f"job-{each}", every, others.url) for each in range(_OTHERS)])
            before = _spent(place, lambda: time.sleep(_BEFORE_S))
            sent = []
            for kind in plans_of(events):
                consumer = entered.enter_context(Consumer(kind.answer_ms / SECOND_MS))
                plan = replace(kind, due_at=now() + _LEAD_MS)
                sent.append((plan, consumer, _send(place, client, plan, consumer)))
                loads.append(os.getloadavg()[0])
                _show(f"{plan.name}: {consumer.count()} of {plan.events} came")
            time.sleep(_AFTER_S)
            other_arrivals = others.arrivals()
            measured = [_measured(*each, before, other_arrivals) for each in sent]
    finally:
        stack.down(place)
    return flow_report.report(measured, _others(before, other_arrivals), loads)


def plans_of(events: int) -> Sequence[Plan]:
    """The batches in their order, without due times: each is written when the one before it is over."""
    window_ms = max(SECOND_MS, _SPREAD_MS * events // EVENTS)
    return (
        Plan("slow-consumer", _SLOW_EVENTS, _AT_ONCE_MS, _SPREAD_LIMIT, 0, _SLOW_ANSWER_MS),
        Plan("spread-alone", events, window_ms, None, 0),
        Plan("spread", events, window_ms, _SPREAD_LIMIT, 0),
        Plan("at-once", events * 5 // 2, _AT_ONCE_MS, _AT_ONCE_LIMIT, 0),
    )


def _send(place: Place, client: Client, plan: Plan, consumer: Consumer) -> _Spent:
    """Write a batch, start the flow functions a minute before it is due, and wait until it is over."""
    _write(client, plan, consumer.url)
    _show(f"{plan.name} is due {rfc3339(plan.due_at)}, and is over by {rfc3339(_given_up_at(plan))}")
    sleep_until(plan.due_at - _WARM_MS)
    _warm(place)
    sleep_until(plan.due_at - SECOND_MS)
    return _spent(place, lambda: _wait(consumer, plan))


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


def _wait(consumer: Consumer, plan: Plan) -> None:
    """Wait until as many requests have come as the batch has events, but not for ever."""
    while consumer.count() < plan.events and now() < _given_up_at(plan):
        time.sleep(0.5)


def _spent(place: Place, wait: Callable[[], None]) -> _Spent:
    from_at, before_s = now(), cpu_s(place.pid_file)
    wait()
    return _Spent(from_at, now(), cpu_s(place.pid_file) - before_s)


def _measured(
    plan: Plan, consumer: Consumer, spent: _Spent, before: _Spent, others: Sequence[Arrival]
) -> Measured:
    # The order matters: requests that come meanwhile are left out of both.
    arrivals = consumer.arrivals()
    opened = consumer.opened()[: len(arrivals)]
    share = (spent.until_at - spent.from_at) / (before.until_at - before.from_at)
    return Measured(
        plan=plan,
        figures=judge(plan, arrivals, opened),
        others=_others(spent, others),
        cpu_ms=(spent.cpu_s - before.cpu_s * share) * SECOND_MS / plan.events,
        cut=spent.until_at >= _given_up_at(plan),
    )


def _others(spent: _Spent, arrivals: Sequence[Arrival]) -> Punctuality:
    """The punctuality of what the other jobs owed in that time."""
    owed = series_owed(arrivals, _PERIOD_MS, after=spent.from_at, until=spent.until_at)
    return judge_others(owed, arrivals)


def _show(text: str) -> None:
    print(f"  {text}", flush=True)
