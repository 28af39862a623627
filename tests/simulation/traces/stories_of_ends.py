"""Small traces made by hand of how runs end: by a report, in silence, cancelled, redriven, followed."""

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Final

from tests.simulation.traces.stories import (
    NOON,
    UID,
    concluded,
    delivered,
    every_minute,
    in_order,
    requested,
    run,
    timer,
    written,
)
from tests.simulation.traces.trace import (
    Buried,
    CursorStored,
    Event,
    Requested,
    RunAnswered,
    RunAsked,
    RunStored,
    TimerStored,
    Told,
    Verb,
    Written,
)

#: The third minute of every_minute. All of these traces are about it.
DUE: Final = NOON + 180_000
RUN: Final = f"{DUE}-0"
TRIGGER: Final = f"{UID}-{RUN}"

#: Another job, which fires when it is triggered.
NEXT: Final = "u2"

#: Seconds from noon to the year 2099.
_FAR_S: Final = 2_275_646_400

_TOLD: Final = {"type": "http", "url": "https://told.example"}
_CHAIN: Final = {"type": "job", "name": "next"}


def asked(verb: Verb, at_s: float, attempt: int | None = 1, **answer: Any) -> list[Event]:
    """Return an action on the run, and its answer 20 ms later."""
    at = NOON + round(at_s * 1_000)
    question = RunAsked(at, verb, "job", UID, RUN, attempt)
    return [question, RunAnswered(at + 20, question, **answer)]


def stored(
    at_s: float, before: str | None, state: str, attempts: int, reason: str | None = None
) -> RunStored:
    """Return the write of the run."""
    at = NOON + round(at_s * 1_000)
    return RunStored(at, "job", UID, RUN, before, state, attempts, None, reason)


def within(run_time: str, events: Iterable[Event]) -> list[Event]:
    """Return these events, of a job with that `maxRunTime`."""
    return [
        replace(event, definition={**event.definition, "maxRunTime": run_time})
        if isinstance(event, Written)
        else event
        for event in events
    ]


def _tried(attempt: int, at_s: float) -> Requested:
    return requested(180, attempt=attempt, late_ms=round((at_s - 180) * 1_000), token=f"shr_{attempt}")


def _rest(**fields: Any) -> list[Event]:
    """Return the minutes around the third, of a job with these fields too."""
    return [
        replace(event, definition={**event.definition, **fields}) if isinstance(event, Written) else event
        for event in every_minute()
        if str(DUE) not in str(event)
    ]


def _accepted(**fields: Any) -> list[Event]:
    """Return everything up to the acceptance of the first attempt. The other minutes succeed at once."""
    first = _tried(1, 180.1)
    return in_order(
        _rest(completion="async", heartbeatTimeout="90s", **fields),
        stored(180.05, None, "claimed", 1),
        first,
        concluded(first, "accepted"),
        stored(180.2, "claimed", "running", 1),
    )


def reported() -> list[Event]:
    """A consumer that works for two minutes, sends heartbeats, and completes."""
    beats = [
        each
        for at_s in range(195, 300, 15)
        for each in (
            *asked("heartbeat", at_s, state="running", attempts=1),
            stored(at_s + 0.01, "running", "running", 1),
        )
    ]
    return in_order(
        _accepted(),
        beats,
        asked("complete", 301, state="succeeded", attempts=1),
        stored(301.01, "running", "succeeded", 1),
    )


def silent() -> list[Event]:
    """A consumer that dies.

    This is found, and another attempt is made. The first consumer's report then comes too late.
    """
    second = _tried(2, 305)
    return in_order(
        _accepted(),
        stored(291, "running", "retrying", 1),
        stored(304.9, "retrying", "claimed", 2),
        second,
        concluded(second, "accepted"),
        stored(305.2, "claimed", "running", 2),
        asked("complete", 306, attempt=1, error="GoneError"),
        asked("complete", 307, attempt=2, state="succeeded", attempts=2),
        stored(307.01, "running", "succeeded", 2),
    )


def cancelled() -> list[Event]:
    """A consumer whose run is cancelled. The answer to its next heartbeat tells it to stop."""
    return in_order(
        _accepted(),
        asked("cancel", 185, state="cancelled", attempts=1),
        stored(185.01, "running", "cancelled", 1),
        asked("heartbeat", 190, error="GoneError"),
    )


def redriven() -> list[Event]:
    """A trigger that was given up, which paused its job as the job asks.

    It is redriven while the job is paused.
    """
    first, second = requested(180), requested(180, attempt=2, late_ms=600_000)
    pause = written("pause", "1-a", 180.03, cut=NOON + 5, since=NOON - 1, paused_at=NOON + 180_030)
    wish = {"onError": "pause", "retry": {"maxAttempts": 1}}
    return in_order(
        (
            event
            for event in _rest(**wish)
            if event.at < NOON + 180_030 and not isinstance(event, TimerStored | CursorStored)
        ),
        first,
        concluded(first, "failed"),
        replace(pause, definition={**pause.definition, **wish}),
        Buried(NOON + 180_058, TRIGGER, "Attempt 1 of 1 failed: Response 503."),
        stored(180.06, None, "failed", 1, "Attempt 1 of 1 failed: Response 503."),
        asked("redrive", 700, state="failed", attempts=1),
        stored(779.9, "failed", "claimed", 2),
        second,
        concluded(second),
        run(second, "claimed", "succeeded"),
        (event for event in every_minute() if isinstance(event, TimerStored | CursorStored)),
    )


def told_of() -> list[Event]:
    """Each run's end is notified to a consumer, and one end twice."""
    return in_order(
        _rest(onComplete=_TOLD),
        delivered(180),
        (notice(due_s, late_ms=200) for due_s in range(60, 901, 60)),
        notice(180, late_ms=900),
    )


def followed_by_another() -> list[Event]:
    """Each run's end triggers another job."""
    other = {"dueTime": "2099-01-01T00:00:00Z", "data": '"y"'}
    return in_order(
        _rest(onComplete=_CHAIN),
        delivered(180),
        replace(written("create", "1-n", 0, definition=other), name="next", uid=NEXT),
        replace(timer(_FAR_S, "1-n", at_s=0), name="next", uid=NEXT),
        (event for due_s in range(60, 901, 60) for event in link(due_s)),
    )


def notice(due_s: int, *, late_ms: int, **fields: Any) -> Told:
    """Return the notification that the run of a minute has succeeded at its first attempt."""
    due_at = NOON + due_s * 1_000
    trigger_id = f"{UID}-{due_at}-0"
    known: dict[str, Any] = {"state": "succeeded", "attempts": 1, "notice_id": f"{trigger_id}-end-1"}
    return Told(at=due_at + late_ms, name="job", uid=UID, trigger_id=trigger_id, **{**known, **fields})


def link(due_s: int, **fields: Any) -> list[Event]:
    """Return the same as the data of the next job's trigger."""
    due_at = NOON + due_s * 1_000
    said = {"triggerId": f"{UID}-{due_at}-0", "attempts": 1, "state": "succeeded"}
    request = replace(
        requested(due_s, "1-n", late_ms=300, sequence=0, data=json.dumps(said), is_on_demand=True),
        name="next",
        uid=NEXT,
        trigger_id=f"{NEXT}-chained-{due_at}-0-abc",
    )
    request = replace(request, **fields)
    return [request, concluded(request)]


#: All of them. The oracle has no complaint about any.
STORIES_OF_ENDS: Final[tuple[Callable[[], list[Event]], ...]] = (
    reported,
    silent,
    cancelled,
    redriven,
    told_of,
    followed_by_another,
)
