"""Traces of stacks that break a promise to their operator: ages, lanes, limits, the switch, lost timers."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, Literal

from tests.simulation.oracle.patience import TOO_LATE
from tests.simulation.oracle.stack import LATE_MS_MAX
from tests.simulation.traces.doctored import Broken, changed, later, of, with_
from tests.simulation.traces.rare_events import LimitSet, TimersLost, WindowSet
from tests.simulation.traces.stories import NOON, UID, cursor, every_minute, requested, run, timer, written
from tests.simulation.traces.trace import Event, Mishap, Requested, RunStored, Written

_MINUTE_MS: Final = 60_000


def _job() -> Event:
    """A job of every minute whose retries may be a minute old."""
    definition = {"schedule": "@every 60s", "data": '"x"', "retry": {"maxAge": "1m"}}
    return written("create", "1-a", 0, definition=definition)


def _retried() -> list[Event]:
    return [_job(), requested(60), requested(60, late_ms=10 * _MINUTE_MS, attempt=2)]


def _given_up() -> list[Event]:
    first = requested(60)
    reason, run_id = f"It {TOO_LATE}.", f"{first.due_at}-0"
    over = RunStored(first.at + _MINUTE_MS - 1, "job", UID, run_id, "claimed", "failed", 1, "o", reason)
    return [_job(), first, over]


#: Each with a part of the complaint.
BROKEN_AGES: Final[Sequence[Broken]] = (
    (_retried, with_(), "of u1-1795262460000-0 left at 2026-11-21T12:11:00.000Z, and its first one at"),
    (_given_up, with_(), "was given up for its age at 2026-11-21T12:02:00.019Z, and began at"),
)


#: The trigger that is late, after noon.
_DUE_S: Final = 480


def delayed(by_ms: int, **fields: Any) -> list[Event]:
    """The story of a job with these fields, of which one trigger leaves so much later."""
    definition = {"schedule": "@every 60s", "data": '"x"', **fields}
    events = changed(of(Written), definition=definition)(every_minute())
    return later(of(Requested, due_s=_DUE_S), by_ms)(events)


#: Each with a part of the complaint.
BROKEN_LANES: Final[Sequence[Broken]] = [
    (partial(delayed, LATE_MS_MAX, priority="high"), with_(), "of high priority, left"),
]


def herd(size: int, due_s: int = 120) -> list[Requested]:
    """The requests of so many triggers of one job that leave at about one instant."""
    one = requested(due_s)
    return [replace(one, at=one.at + number, trigger_id=f"herd-{number}") for number in range(size)]


#: Each with a part of the complaint.
BROKEN_LIMITS: Final[Sequence[Broken]] = [
    (every_minute, with_(LimitSet(NOON, 5), *herd(40)), "and 5 a minute are allowed"),
]


def lost(at_s: int, back_to_s: int | None = None) -> TimersLost:
    """The loss, at which the table is emptied or set back."""
    return TimersLost(NOON + at_s * 1_000, 0 if back_to_s is None else NOON + back_to_s * 1_000)


#: When the table is lost: all that the story sweeps is swept, and the timer of the next minute is written.
AT_S: Final = 961

#: The timer that a rebuild writes, and the cursor that begins anew.
REBUILT: Final = timer(1_260, at_s=965)
BEGUN_ANEW: Final = cursor(timer(890, at_s=0, what="another"), at_s=970, fence=1)

#: Each with a part of the complaint.
BROKEN_LOSSES: Final[Sequence[Broken]] = [
    (every_minute, with_(lost(AT_S)), "no timer of revision 1-a leads to its occurrence"),
    (every_minute, with_(lost(AT_S), timer(1_800, at_s=965)), "no timer of revision 1-a leads to"),
    (every_minute, with_(lost(AT_S, 500)), "the cursor of shard 0 has not reached"),
    (every_minute, with_(REBUILT, BEGUN_ANEW), "the cursor of shard 0 went back"),
]


def switched_off(at_s: int, minutes: int) -> Mishap:
    """The deployment that switches the stack off for so long."""
    return Mishap(NOON + at_s * 1_000, f"switched off of {minutes * 60_000} ms", "the stack")


#: Each with a part of the complaint.
BROKEN_SWITCH: Final[Sequence[Broken]] = [
    (every_minute, with_(switched_off(400, 10)), "and the stack was off from"),
]


def window(since_s: int, until_s: int, then: Literal["hold", "skip"] = "hold") -> WindowSet:
    """A window that is written at noon, and is open between these seconds after it."""
    spans = ((NOON + since_s * 1_000, NOON + until_s * 1_000),)
    return WindowSet(NOON, "freeze", then, "", spans, 60_000)


def skipped(due_s: int) -> RunStored:
    """The record of a trigger that the window has skipped."""
    record = run(requested(due_s), None, "skipped")
    return replace(record, attempts=0, reason="window: freeze")


#: The triggers of the window leave together, as it closes.
AT_ITS_END: Final = [requested(due_s, late_ms=(600 - due_s) * 1_000 + 50) for due_s in range(300, 600, 60)]


def _is_held(event: Event) -> bool:
    return isinstance(event, Requested) and 300 <= (event.due_at - NOON) // 1_000 < 600


#: Each with a part of the complaint.
BROKEN_WINDOWS: Final[Sequence[Broken]] = [
    (every_minute, with_(window(300, 600)), "freeze is open from"),
    (every_minute, with_(window(300, 600, "skip"), skipped(660)), "was skipped for freeze, which was closed"),
    (
        lambda: [each for each in every_minute() if not _is_held(each)],
        with_(window(300, 600), *AT_ITS_END),
        "triggers left within a second after the window",
    ),
]
