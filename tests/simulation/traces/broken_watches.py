"""A trace of a job with a watch, and traces in which the watch errs."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tests.simulation.traces.doctored import Broken, changed, of, with_, without
from tests.simulation.traces.rare_events import Alerted
from tests.simulation.traces.stories import (
    NOON,
    UID,
    concluded,
    every_minute,
    in_order,
    requested,
    run,
    timer,
)
from tests.simulation.traces.trace import Event, RunStored, Written

_WATCHED: Final = {
    "schedule": "@every 60s",
    "data": '"x"',
    "alertAfter": "1m",
    "onAlert": {"type": "http", "url": "https://ops.example/alerts"},
}

#: The alert about the trigger of the third minute. Its time is over with the fourth.
ALERT: Final = Alerted(
    NOON + 245_100, "job", UID, "1-a", f"{UID}-alert-{NOON}", 1, 1, NOON + 180_000, NOON + 180_000
)


def watched() -> list[Event]:
    """A job that fires each minute and has a watch. Its third minute succeeds too late."""
    tries = [requested(180, attempt=1), requested(180, attempt=2, late_ms=100_000)]
    events = in_order(
        (event for event in every_minute() if str(NOON + 180_000) not in str(event)),
        tries,
        concluded(tries[0], "failed"),
        run(tries[0], None, "retrying"),
        replace(run(tries[1], "retrying", "claimed"), at=tries[1].at - 5),
        concluded(tries[1]),
        run(tries[1], "claimed", "succeeded"),
        timer(1_020, at_s=780, kind="watch"),
        ALERT,
    )
    return [_with_watch(event) for event in events]


def _with_watch(event: Event) -> Event:
    if isinstance(event, Written):
        return replace(event, definition=_WATCHED)
    if isinstance(event, RunStored) and event.state == "succeeded":
        return replace(event, ended_at=event.at)
    return event


def _about(due_s: int) -> Alerted:
    due_at = NOON + due_s * 1_000
    return replace(ALERT, at=due_at + 66_000, first_due_at=due_at, last_due_at=due_at)


#: Each with a part of the complaint.
BROKEN_WATCHES: Final[Sequence[Broken]] = [
    (watched, without(of(Alerted)), "no alert left"),
    (watched, with_(replace(_about(420), rev="9-z")), "which was not committed"),
    (watched, changed(of(Alerted), missed=2), "counts 2 triggers; fewer were due"),
    (watched, with_(replace(ALERT, first_due_at=NOON - 3_720_000)), "over two hours"),
    (watched, changed(of(Alerted), at=NOON + 239_000), "before its time was over"),
    (watched, changed(of(Alerted), alert_id=f"{UID}-alert-1"), f"expected {UID}-alert-{NOON}"),
    (watched, with_(timer(1_080, at_s=780, kind="watch")), "2 timers of the watch"),
]
