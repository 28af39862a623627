"""Measures deliveries on the local stack: how full and how long calls are, and how late triggers are."""

import json
import os
import random
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from infra.bench.consumer import Consumer
from infra.bench.local_stack import deployed, now, sleep_until
from infra.bench.punctuality import judge
from infra.calculator.measured import LocalPoint
from infra.local import settings
from infra.local.client import Client, write_jobs
from infra.local.deploy import aws_client
from infra.local.places import STACK_NAME, Place
from infra.local.processes import cpu_s
from infra.smoke.lateness import fill_of

from sweephand.base.instants import MINUTE_MS, SECOND_MS, Instant, rfc3339
from sweephand.base.timing import DIRECT_WINDOW_MS

#: The first trigger of a phase is due this long after its minute began, when the number of functions is set.
_INTO_MINUTE_MS: Final = 10 * SECOND_MS

#: Creating everything takes less than this.
_LEAD_MS: Final = DIRECT_WINDOW_MS + 3 * MINUTE_MS

#: A trigger that has not come this long after the last due time of its phase counts as lost.
_PATIENCE_MS: Final = 25 * SECOND_MS


class TooSlowError(Exception):
    """This machine did not keep up. The message says with what."""


class _Kind(NamedTuple):
    """Triggers that fall due within some seconds, or at one instant, and how they are delivered."""

    name: Literal["fill", "herd", "spread"]
    triggers: int
    seconds: int
    functions: int = 8
    answer_s: float = 0.2
    history: str = "failures"


#: With a slow consumer and no record, a delivery is mostly waiting. Two cores can wait at any number of
#: functions. The local stack reaches no higher rate than 100 a second on them.
_KINDS: Final = (
    *(
        _Kind("fill", rate * seconds, seconds)
        for rate, seconds in ((1, 145), (5, 85), (10, 85), (20, 25), (100, 25))
    ),
    _Kind("fill", 1_000, 0),
    *(_Kind("herd", 1_000, 0, functions, 0.2, "outcome") for functions in (2, 4, 8)),
    *(_Kind("herd", 1_000, 0, functions, 0.5) for functions in (2, 4, 8)),
    _Kind("spread", 10_000, 120, history="outcome"),
)


@dataclass(frozen=True, slots=True)
class _Phase:
    """Jobs by name with their due times. They begin with the minute `begins_at`."""

    kind: _Kind
    due_at: Mapping[str, Instant]
    begins_at: Instant
    ends_at: Instant


class Call(NamedTuple):
    """One call of the delivery function: when it ended, the triggers it handled, and its billed ms."""

    ended_at: int
    triggers: int
    billed_ms: float


def measure(place: Place, kinds: Iterable[_Kind] = _KINDS) -> list[LocalPoint]:
    """A point for each kind, on a stack of its own. It takes half an hour. Raises TooSlowError."""
    with deployed(place) as client, ExitStack() as entered:
        phases = list(_phases(kinds))
        answers_s = {phase.kind.answer_s for phase in phases}
        consumers = {each: entered.enter_context(Consumer(each)) for each in answers_s}
        for phase in phases:
            _create(client, consumers[phase.kind.answer_s].url, phase)
        return [_measured(place, phase, consumers[phase.kind.answer_s]) for phase in phases]


def _phases(kinds: Iterable[_Kind]) -> Iterator[_Phase]:
    """A phase for each kind, one after the other."""
    chance = random.Random(7)  # noqa: S311 - any spread will do, as long as it is the same
    begins_at = (now() + _LEAD_MS) // MINUTE_MS * MINUTE_MS + MINUTE_MS
    for kind in kinds:
        first_at, length_ms = begins_at + _INTO_MINUTE_MS, kind.seconds * SECOND_MS
        dues = sorted(
            first_at + (chance.randrange(length_ms) if length_ms else 0) for _ in range(kind.triggers)
        )
        ends_at = -(-(first_at + length_ms + _PATIENCE_MS) // MINUTE_MS) * MINUTE_MS
        yield _Phase(
            kind, {f"{begins_at}-{number}": due for number, due in enumerate(dues)}, begins_at, ends_at
        )
        begins_at = ends_at


def _create(client: Client, url: str, phase: _Phase) -> None:
    target = {"type": "http", "url": url}
    jobs = [
        {"name": name, "dueTime": rfc3339(due_at), "target": target, "history": phase.kind.history}
        for name, due_at in phase.due_at.items()
    ]
    write_jobs(client, "measured", jobs)
    if now() + DIRECT_WINDOW_MS >= min(phase.due_at.values()):
        raise TooSlowError("creating the jobs took so long that their triggers did not go by the wheel")


def _measured(place: Place, phase: _Phase, consumer: Consumer) -> LocalPoint:
    kind, first_at, last_at = phase.kind, min(phase.due_at.values()), max(phase.due_at.values())
    sleep_until(phase.begins_at)
    settings.run_at_once(place, "DeliveryQueueUrl", kind.functions)
    sleep_until(first_at - SECOND_MS)
    before_s = cpu_s(place.pid_file)
    sleep_until(last_at + _PATIENCE_MS)
    spent_s = cpu_s(place.pid_file) - before_s
    judged = judge(phase.due_at, ((each.job, each.arrived_at) for each in consumer.arrivals()))
    calls = [each for each in _calls(place, phase.begins_at) if each.ended_at < phase.ends_at]
    handled = sum(each.triggers for each in calls)
    if not handled == judged.delivered == kind.triggers:
        raise TooSlowError(f"{kind}: {judged.delivered} triggers came, {handled} of them in their phase")
    return LocalPoint(
        name=kind.name,
        rate=kind.triggers // kind.seconds if kind.name == "fill" and kind.seconds else None,
        answer_s=kind.answer_s,
        history=kind.history,
        triggers=kind.triggers,
        delivered=judged.delivered,
        seconds=(last_at - first_at) / SECOND_MS,
        functions=kind.functions,
        calls=len(calls),
        billed_s=round(sum(each.billed_ms for each in calls) / SECOND_MS, 3),
        p50_ms=judged.p50_ms,
        p99_ms=judged.p99_ms,
        last_ms=judged.max_ms,
        cpu_ms=round(spent_s * SECOND_MS / kind.triggers, 1),
        load=round(os.getloadavg()[0], 1),
    )


def _calls(place: Place, since: Instant) -> Iterator[Call]:
    """The calls that delivered something since then."""
    pages = (
        aws_client(place, "logs")
        .get_paginator("filter_log_events")
        .paginate(logGroupName=f"/sweephand/{STACK_NAME}/deliver", startTime=since)
    )
    return calls_of(event for page in pages for event in page["events"])


def calls_of(found: Iterable[Mapping[str, Any]]) -> Iterator[Call]:
    """The calls that delivered something, from all events of the delivery function's log.

    The local AWS keeps a log stream for each call.
    """
    streams: dict[str, list[Mapping[str, Any]]] = {}
    for event in found:
        streams.setdefault(event["logStreamName"], []).append(event)
    for events in streams.values():
        texts = [str(each["message"]) for each in events]
        # All other lines are Lambda's own.
        lines = [json.loads(each) for each in texts if each.startswith("{")]
        delivered = fill_of(line for line in lines if line.get("message") == "delivered")
        billed = [_billed_ms(each) for each in texts if each.startswith("REPORT ")]
        if delivered and billed:
            yield Call(events[-1]["timestamp"], sum(delivered), sum(billed))


def _billed_ms(report: str) -> float:
    return float(report.partition("Billed Duration: ")[2].partition(" ms")[0])
