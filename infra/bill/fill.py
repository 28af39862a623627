"""How full the batches of the delivery function are on the local stack, at several rates of triggers."""

import json
import random
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from infra.bench.bulk import write_jobs
from infra.bench.consumer import Arrival, Consumer
from infra.bill.measured import Fill
from infra.local import stack
from infra.local.client import Client
from infra.local.deploy import session
from infra.local.places import STACK_NAME, Place
from infra.smoke.lateness import fill_of

from sweephand.base.instants import MINUTE_MS, SECOND_MS, rfc3339
from sweephand.base.timing import DIRECT_WINDOW_MS

#: Seconds that the consumer takes for an answer.
ANSWER_S: Final = 0.2

#: Triggers a second and minutes of each phase. The local stack runs on two cores and reaches no higher rate.
_PHASES: Final = ((1, 3), (5, 2), (10, 1), (20, 1), (100, 1))

#: So many triggers fall due at one instant in the last phase.
_HERD: Final = 1_000

#: Nothing falls due in the last seconds of a phase, so that each call belongs to one phase.
_GAP_MS: Final = 8 * SECOND_MS

#: Creating the first jobs takes less than this.
_LEAD_MS: Final = DIRECT_WINDOW_MS + 30 * SECOND_MS

_PATIENCE_S: Final = 40


class TooSlowError(Exception):
    """This machine did not keep up. The message says with what."""


@dataclass(frozen=True, slots=True)
class _Phase:
    """Triggers of one rate, by job. `rate` is None for a herd."""

    rate: int | None
    due_at: Mapping[str, int]
    begins_at: int
    ends_at: int


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the delivery function: when it ended, the triggers it handled, and its billed ms."""

    ended_at: int
    triggers: int
    billed_ms: float


def measure(place: Place) -> list[Fill]:
    """A point for each phase: triggers to a call, and billed seconds of each trigger. It takes 17 minutes."""
    described = stack.up(place, say=lambda text: print(f"  {text}", flush=True))
    try:
        with Consumer(ANSWER_S) as consumer, Client.of(described) as client:
            phases = _phases(_now())
            for phase in phases:
                _create(client, consumer.url, phase)
            print(f"  created; the last trigger is due {rfc3339(phases[-1].ends_at)}", flush=True)
            time.sleep(max(0, phases[-1].ends_at - _now()) / SECOND_MS + _PATIENCE_S)
            calls = list(_calls(place, phases[0].begins_at))
            return [_point(phase, calls, consumer.arrivals()) for phase in phases]
    finally:
        stack.down(place)


def _phases(now: int) -> list[_Phase]:
    chance = random.Random(7)  # noqa: S311 - any spread will do, as long as it is the same
    begins_at = (now + _LEAD_MS) // MINUTE_MS * MINUTE_MS + MINUTE_MS
    phases = []
    for rate, minutes in _PHASES:
        ends_at = begins_at + minutes * MINUTE_MS
        length_ms = ends_at - begins_at - _GAP_MS
        dues = sorted(begins_at + chance.randrange(length_ms) for _ in range(rate * length_ms // SECOND_MS))
        named = {f"rate-{rate}-{number}": due for number, due in enumerate(dues)}
        phases.append(_Phase(rate, named, begins_at, ends_at))
        begins_at = ends_at
    herd = {f"herd-{number}": begins_at + SECOND_MS for number in range(_HERD)}
    return [*phases, _Phase(None, herd, begins_at, begins_at + MINUTE_MS)]


def _create(client: Client, url: str, phase: _Phase) -> None:
    target = {"type": "http", "url": url}
    jobs = [
        {"name": name, "dueTime": rfc3339(due_at), "target": target, "history": "failures"}
        for name, due_at in phase.due_at.items()
    ]
    write_jobs(client, "fill", jobs)
    if _now() + DIRECT_WINDOW_MS >= min(phase.due_at.values()):
        raise TooSlowError("creating the jobs took so long that their triggers did not go by the wheel")


def _calls(place: Place, since: int) -> Iterator[Call]:
    """The calls that delivered something. The local AWS keeps a log stream for each call."""
    client: Any = session().client("logs", endpoint_url=place.endpoint_url)
    asked: dict[str, Any] = {"logGroupName": f"/sweephand/{STACK_NAME}/deliver", "startTime": since}
    found: list[Mapping[str, Any]] = []
    while True:
        answer = client.filter_log_events(**asked)
        found += answer["events"]
        if not (token := answer.get("nextToken")):
            return calls_of(found)
        asked["nextToken"] = token


def calls_of(found: Iterable[Mapping[str, Any]]) -> Iterator[Call]:
    """The calls that delivered something, from all events of the delivery function's log."""
    streams: dict[str, list[Mapping[str, Any]]] = {}
    for event in found:
        streams.setdefault(event["logStreamName"], []).append(event)
    for events in streams.values():
        lines = [_line(event["message"]) for event in events]
        fills = fill_of(line for line in lines if line.get("message") == "delivered")
        billed = [_billed_ms(event["message"]) for event in events if event["message"].startswith("REPORT ")]
        if fills and billed:
            yield Call(events[-1]["timestamp"], sum(fills), sum(billed))


def _line(message: str) -> Mapping[str, Any]:
    try:
        line = json.loads(message)
    except ValueError:
        return {}  # Lambda's own lines
    return line if isinstance(line, dict) else {}


def _billed_ms(report: str) -> float:
    return float(report.partition("Billed Duration: ")[2].partition(" ms")[0])


def _point(phase: _Phase, calls: Sequence[Call], arrivals: Sequence[Arrival]) -> Fill:
    of_phase = [each for each in calls if phase.begins_at <= each.ended_at < phase.ends_at]
    triggers = sum(each.triggers for each in of_phase)
    late = sorted(each.arrived_at - each.due_at for each in arrivals if each.job in phase.due_at)
    if not triggers == len(late) == len(phase.due_at):
        raise TooSlowError(
            f"{len(phase.due_at)} triggers were due, {len(late)} came, {triggers} of them in their phase"
        )
    return Fill(
        rate=phase.rate,
        triggers=triggers,
        calls=len(of_phase),
        billed_s=round(sum(each.billed_ms for each in of_phase) / SECOND_MS, 3),
        late_p50_ms=late[len(late) // 2],
        late_p99_ms=late[len(late) * 99 // 100],
    )


def _now() -> int:
    return time.time_ns() // 1_000_000
