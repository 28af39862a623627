"""Traces of jobs that go with their last run in which one promise is broken, and the complaint about each."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from tests.simulation.traces.doctored import Broken, Excused, changed, of, with_, without
from tests.simulation.traces.stories import (
    NOON,
    UID,
    cursor,
    deleted,
    delivered,
    in_order,
    requested,
    run,
    timer,
    written,
)
from tests.simulation.traces.trace import Concluded, Event, Mishap, Requested, RunStored, Verb, Written

#: A job that fires five times, and then goes.
_WRITTEN: Final[dict[str, Any]] = {
    "schedule": "@every 60s",
    "repeats": 5,
    "deleteAfterCompletion": True,
    "data": '"x"',
}
_THIRD_RUN: Final = f"{NOON + 180_000}-0"
_LAST_RUN: Final = f"{NOON + 300_000}-0"

#: When it goes.
_GONE_S: Final = 300.1


def _kept(verb: Verb, at_s: float, **fields: Any) -> Written:
    """Return a write that makes no new revision."""
    known: dict[str, Any] = {"cut": NOON + 5, "since": NOON - 1, "definition": _WRITTEN}
    return written(verb, "1-a", at_s, **(known | fields))


def gone_with_its_last_run() -> list[Event]:
    """Return a trace of a job that fires five times and goes by itself."""
    return in_order(
        timer(300, at_s=0),
        written("create", "1-a", 0, definition=_WRITTEN, expires_at=NOON + 10**9),
        (event for due_s in range(60, 301, 60) for event in delivered(due_s)),
        cursor(timer(300, at_s=0), 240, 5),
        _kept("expire", _GONE_S, expires_at=NOON + 300_100),
    )


def gone_without_records() -> list[Event]:
    """Return a trace of such a job whose successes leave no record, except the last one."""
    kept = {**_WRITTEN, "history": "failures"}
    return in_order(
        event
        for event in changed(of(Written), definition=kept)(gone_with_its_last_run())
        if not isinstance(event, RunStored) or event.run_id == _LAST_RUN
    )


STORIES_OF_LEAVING: Final = (gone_with_its_last_run, gone_without_records)

_PAUSED: Final = _kept("pause", 300.06, paused_at=NOON + 300_060)
_RETRYING: Final = replace(
    run(requested(240), None, "retrying"), at=NOON + 150_000, run_id=f"manual-{NOON}-0-abc"
)

_stayed: Final = without(of(Written, verb="expire"))

BROKEN_LEAVING: Final[Sequence[Broken]] = (
    # Only a job that asked for it goes.
    (
        gone_with_its_last_run,
        changed(of(Written), definition={**_WRITTEN, "deleteAfterCompletion": False}),
        "but never asked for it",
    ),
    # It goes when all its runs are over.
    (
        gone_with_its_last_run,
        without(of(RunStored, run_id=_THIRD_RUN), of(Concluded, trigger_id=f"{UID}-{_THIRD_RUN}")),
        "its run of 2026-11-21T12:03:00.000Z is not over",
    ),
    (
        gone_without_records,
        without(of(RunStored), of(Concluded, trigger_id=f"{UID}-{_LAST_RUN}")),
        "its run of 2026-11-21T12:05:00.000Z is not over",
    ),
    # And then it does go.
    (gone_with_its_last_run, _stayed, "and the job is still there"),
)

_UNTIL_THEN: Final = (
    replace(_RETRYING, at=NOON + 300_050, state="claimed"),
    replace(_RETRYING, at=NOON + 300_200, before="claimed", state="skipped"),
)

_RELEASED: Final = (
    replace(_RETRYING, state="claimed"),
    replace(_RETRYING, at=NOON + 160_000, before="claimed", state="released"),
    replace(_RETRYING, at=NOON + 310_000, state="claimed"),
    replace(_RETRYING, at=NOON + 320_000, before="claimed", state="skipped"),
)

#: Traces without a reason to complain.
EXCUSED_LEAVING: Final[Sequence[Excused]] = (
    # A client deleted the job, or another job took its place.
    (gone_with_its_last_run, with_(replace(deleted(400), verb="delete"))),
    (gone_with_its_last_run, with_(replace(deleted(400), verb="create"))),
    # The deletion could not be written, or the job is paused.
    (
        gone_with_its_last_run,
        lambda events: in_order(
            without(of(Written, verb="expire"))(events),
            Mishap(NOON + 300_090, "throttle", "deliver 1 jobs.put"),
        ),
    ),
    # For half a minute before, no job could be written.
    (
        gone_with_its_last_run,
        lambda events: in_order(
            without(of(Written, verb="expire"))(events),
            Mishap(NOON + 270_000, "throttled writes of 52352 ms", "jobs"),
        ),
    ),
    (
        gone_with_its_last_run,
        lambda events: in_order(
            without(of(Written, verb="expire"))(events), replace(_PAUSED, at=NOON + 301_000)
        ),
    ),
    # The job was not kept for that long.
    (
        gone_with_its_last_run,
        lambda events: changed(
            of(Written), definition={**_WRITTEN, "retention": "10s"}, expires_at=NOON + 310_000
        )(_stayed(events)),
    ),
    # By what was read a moment before, a run that is over was still on its way.
    (gone_with_its_last_run, with_(*_UNTIL_THEN)),
    # A claim was released before. No function knows of a run that has no record and has not begun.
    (gone_with_its_last_run, with_(*_RELEASED)),
    # Where successes leave no record, no function knows of an earlier run that has not begun.
    (
        gone_without_records,
        lambda events: [
            replace(event, at=event.at + 125_000)
            if isinstance(event, Requested | Concluded) and str(NOON + 240_000) in event.trigger_id
            else event
            for event in events
        ],
    ),
)
