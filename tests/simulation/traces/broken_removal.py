"""Traces in which DynamoDB removes items that are still needed, and the complaint about each."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, Literal

from tests.simulation.oracle.removal import LATE_MS
from tests.simulation.traces.doctored import Broken, Doctoring, Excused, changed, of, with_
from tests.simulation.traces.stories import (
    NOON,
    UID,
    cursor,
    deleted,
    every_minute,
    in_order,
    in_turn,
    requested,
    timer,
)
from tests.simulation.traces.trace import CursorStored, Event, Removed, RunAsked, Written

from sweephand.base.instants import DAY_MS, HOUR_MS

_FIRST_RUN: Final = f"{NOON + 60_000}-0"
_A_DAY_LATER: Final = requested(60, late_ms=DAY_MS + 60_000)
_A_DAY_LATER_AGAIN: Final = requested(900, late_ms=DAY_MS + 60_000)
_REDRIVEN: Final = RunAsked(NOON + 100_000, "redrive", "job", UID, _FIRST_RUN, 1)

#: A job that fires five times, each minute.
_ENDING: Final[dict[str, Any]] = {"schedule": "@every 60s", "data": '"x"', "repeats": 5, "retention": "1m"}


_AT_ONCE: Final[dict[str, Any]] = {"schedule": "@every 60s", "data": '"x"'}


def _removed(item: Literal["job", "line", "run"], at_s: float, run_id: str = "") -> Doctoring:
    return with_(Removed(NOON + round(at_s * 1_000), item, "job", UID, run_id))


def _replayed(until_s: int) -> Doctoring:
    """Return a trace in which the last minute's page is committed late, and its trigger is repeated."""

    def change(events: list[Event]) -> list[Event]:
        kept = [each for each in events if not (isinstance(each, CursorStored) and each.at >= NOON + 840_000)]
        return in_order(kept, cursor(timer(900, at_s=780), until_s, 14), _A_DAY_LATER_AGAIN)

    return change


def _taken_name(at_s: int, *, kept_ms: int = LATE_MS) -> Doctoring:
    """Return a trace in which another job takes the name while a retry is in the wheel.

    The cursor passes the retry at 12:04:00. The job was kept for `kept_ms` after the retry was due.
    """
    trigger_id = f"{UID}-{NOON + 180_000}-0"
    retry = timer(190, at_s=181, kind="retry", what=f"{trigger_id},2")

    def change(events: list[Event]) -> list[Event]:
        definition = {**_ENDING, "overlap": "wait", "waitLimit": 1}
        expires_at = NOON + 190_000 + kept_ms
        ending = changed(of(Written), definition=definition, expires_at=expires_at)(events)
        return in_order(ending, retry, replace(deleted(at_s), verb="create"))

    return change


def _turns_end_and_line_goes(events: list[Event]) -> list[Event]:
    """Return a trace whose job lets runs overlap, and whose line is removed with a trigger in it."""
    return _removed("line", 250)(changed(of(Written), definition=_AT_ONCE)(events))


BROKEN_REMOVAL: Final[Sequence[Broken]] = (
    (every_minute, with_(_A_DAY_LATER), "was succeeded at 2026-11-21T12:01:00.060Z, and attempt 1 left"),
    (every_minute, _replayed(until_s=950), "was succeeded at 2026-11-21T12:15:00.060Z, and attempt 1 left"),
    (every_minute, _removed("run", 100, _FIRST_RUN), "and is kept for 2592000000 ms"),
    (in_turn, _removed("run", 200, f"{NOON + 180_000}-0"), "and the run is retrying"),
    (in_turn, _removed("line", 250), "its line was removed at 2026-11-21T12:04:10.000Z"),
    (in_turn, _removed("job", 250), "was removed at 2026-11-21T12:04:10.000Z, and"),
    (in_turn, with_(replace(deleted(250), verb="create")), "was replaced by another job of its name"),
    (in_turn, _taken_name(239, kept_ms=LATE_MS - 1), f"{NOON + 180_000}-0 was retrying"),
    (in_turn, _taken_name(240), f"{NOON + 180_000}-0 was retrying"),
    (
        every_minute,
        changed(of(Written), definition=_ENDING, expires_at=NOON + 359_000),
        "its last occurrence is at 2026-11-21T12:05:00.000Z, and it is kept for 60000 ms",
    ),
)

#: Traces without a reason to complain.
EXCUSED_REMOVAL: Final[Sequence[Excused]] = (
    (every_minute, with_(_REDRIVEN, _A_DAY_LATER)),
    (every_minute, with_(requested(60, late_ms=HOUR_MS))),
    (every_minute, _replayed(until_s=970)),
    (every_minute, _removed("run", 31 * 86_400, _FIRST_RUN)),
    (in_turn, _removed("line", 180)),
    (in_turn, _turns_end_and_line_goes),
    (in_turn, with_(deleted(250))),
    (in_turn, _taken_name(239)),
    (every_minute, changed(of(Written), definition=_ENDING, expires_at=NOON + 360_005)),
)
