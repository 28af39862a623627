"""Small traces made by hand, in which every promise is kept."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Final

from tests.simulation.oracle.lives import position
from tests.simulation.traces.trace import (
    Answered,
    Concluded,
    CursorStored,
    Deleted,
    Event,
    InLine,
    LineStored,
    Mishap,
    Requested,
    RunStored,
    TimerStored,
    Verb,
    Written,
)

NOON: Final = 1_795_262_400_000  # 2026-11-21T12:00:00Z
UID: Final = "u1"

#: The instant up to which everything is owed, and the last tick.
THROUGH: Final = NOON + 900_000


def written(verb: Verb, rev: str, at_s: float, **fields: Any) -> Written:
    """Return a write that was committed 5 ms after its request.

    Its series goes on unless `fields` say otherwise.
    """
    asked_at = NOON + round(at_s * 1_000)
    cut = asked_at + 5
    known: dict[str, Any] = {
        "cut": cut,
        "since": asked_at - 1 if verb == "create" else cut,
        "paused_at": None,
        "definition": {"schedule": "@every 60s", "data": '"x"'},
    }
    known |= fields
    return Written(at=cut, verb=verb, name="job", uid=UID, rev=rev, asked_at=asked_at, ahead_ms=0, **known)


def answered(verb: Verb, rev: str, at_s: float) -> Answered:
    """Return the client's answer, 10 ms after the request."""
    return Answered(NOON + round(at_s * 1_000) + 10, verb, "job", UID, rev)


def deleted(at_s: float) -> Deleted:
    """Return the job's removal."""
    return Deleted(NOON + round(at_s * 1_000), "job", UID)


def requested(due_s: int, rev: str = "1-a", *, late_ms: int = 20, **fields: Any) -> Requested:
    """Return the request of a first attempt, a little late.

    It is of a minute's occurrence unless told otherwise.
    """
    due_at = NOON + due_s * 1_000
    known: dict[str, Any] = {"sequence": due_s // 60, "attempt": 1, "data": '"x"', "index": 0}
    known |= fields
    at = due_at + late_ms
    return Requested(at, at, "job", UID, rev, f"{UID}-{due_at}-0", due_at, **known)


def concluded(request: Requested, outcome: Any = "succeeded") -> Concluded:
    """Return the consumer's answer, 30 ms later."""
    return Concluded(request.at + 30, request.uid, request.trigger_id, request.attempt, outcome)


def run(request: Requested, before: str | None, state: str) -> RunStored:
    """Return the record of an attempt, 40 ms after its request."""
    run_id = f"{request.due_at}-0"
    return RunStored(request.at + 40, "job", UID, run_id, before, state, request.attempt, None)


def place(due_s: int) -> InLine:
    """Return the place of a first attempt of a minute's occurrence in its job's line."""
    due_at = NOON + due_s * 1_000
    return InLine(f"{UID}-{due_at}-0", due_at, "1-a", 1, is_asked_for=False)


def line(at_s: float, holder_s: int | None = None, *waiting_s: int) -> LineStored:
    """Return the line of the job: its holder and those that wait, by their due times."""
    holder = place(holder_s) if holder_s is not None else None
    return LineStored(NOON + round(at_s * 1_000), "job", UID, holder, tuple(map(place, waiting_s)))


def misfire(due_s: int, *, late_ms: int) -> RunStored:
    """Return the record of a minute's occurrence that a sweep found too late."""
    due_at = NOON + due_s * 1_000
    return RunStored(due_at + late_ms, "job", UID, f"{due_at}-0", None, "skipped", 0, "1-a", "misfire")


def skipped(due_s: int, *, late_ms: int = 20) -> RunStored:
    """Return the record of a minute's occurrence that was skipped for another run."""
    due_at = NOON + due_s * 1_000
    return RunStored(due_at + late_ms, "job", UID, f"{due_at}-0", None, "skipped", 0, "o", "overlap")


def delivered(due_s: int, rev: str = "1-a", **fields: Any) -> list[Event]:
    """Return a trigger that succeeded at once, with its record."""
    request = requested(due_s, rev, **fields)
    return [request, concluded(request), run(request, None, "succeeded")]


def timer(
    due_s: int, rev: str = "1-a", *, at_s: int, kind: str = "occurrence", what: str = ""
) -> TimerStored:
    """Return a timer of the only shard."""
    due_at = NOON + due_s * 1_000
    key = f"{position(due_at)}#ns/job#{rev}#{kind}#{what}"
    return TimerStored(NOON + at_s * 1_000, 0, "job", UID, rev, kind, due_at, key)


def cursor(behind: TimerStored, at_s: int, fence: int) -> CursorStored:
    """Return the cursor of the only shard, moved past a timer."""
    return CursorStored(NOON + at_s * 1_000, 0, fence, behind.sort_key, None)


def swept(first_s: int, last_s: int, rev: str = "1-a") -> list[Event]:
    """Return a chain of timers, one for each minute. Each was written when the one before it was passed."""
    events: list[Event] = []
    for due_s in range(first_s, last_s + 1, 60):
        passed = timer(due_s, rev, at_s=due_s - 120)
        events += [timer(due_s + 60, rev, at_s=due_s - 60), cursor(passed, due_s - 60, due_s // 60)]
    return events


def in_order(*events: Event | Iterable[Event]) -> list[Event]:
    """Return all events in the order in which they happened."""
    flat: list[Event] = []
    for each in events:
        flat += each if isinstance(each, Iterable) else [each]
    return sorted(flat, key=lambda event: event.at)


def every_minute() -> list[Event]:
    """A job that fires each minute for a quarter of an hour. Nothing else happens."""
    return in_order(
        timer(300, at_s=0),
        written("create", "1-a", 0),
        answered("create", "1-a", 0),
        (event for due_s in range(60, 901, 60) for event in delivered(due_s)),
        swept(300, 960),
    )


def retried() -> list[Event]:
    """The same job. Its third minute fails twice and then succeeds."""
    tries = [requested(180, attempt=number, late_ms=number * 7_000) for number in (1, 2, 3)]
    return in_order(
        (event for event in every_minute() if str(NOON + 180_000) not in str(event)),
        tries,
        concluded(tries[0], "failed"),
        run(tries[0], None, "retrying"),
        replace(run(tries[1], "retrying", "claimed"), at=tries[1].at - 5),
        concluded(tries[1], "failed"),
        run(tries[1], "claimed", "retrying"),
        replace(run(tries[2], "retrying", "claimed"), at=tries[2].at - 5),
        concluded(tries[2]),
        run(tries[2], "claimed", "succeeded"),
    )


def paused_for_a_while() -> list[Event]:
    """The same job, paused from 3:30 to 6:30. The last of the minutes 4, 5 and 6 fires after the resume."""
    moment = NOON + 210_000
    kept = (event for event in every_minute() if event.at < moment)
    return in_order(
        kept,
        written("pause", "1-a", 210, paused_at=moment, cut=NOON + 5, since=NOON - 1),
        timer(660, "2-b", at_s=390),
        written("resume", "2-b", 390, since=moment),
        answered("resume", "2-b", 390),
        RunStored(NOON + 390_001, "job", UID, f"{NOON + 240_000}-0", None, "skipped", 0, None, "misfire"),
        delivered(360, "2-b", late_ms=30_100),
        (event for due_s in range(420, 901, 60) for event in delivered(due_s, "2-b")),
        cursor(timer(300, at_s=0), 240, 5),
        swept(660, 960, "2-b"),
    )


def replaced() -> list[Event]:
    """The same job, replaced at 6:30 by one that fires each 100 s, five times in all, with other data."""
    definition = {"schedule": "@every 100s", "repeats": 5, "data": '"y"'}
    other = written("replace", "2-b", 390, since=NOON + 390_000 - 1, definition=definition)
    return in_order(
        (event for event in every_minute() if event.at < NOON + 390_000),
        timer(690, "2-b", at_s=390),
        other,
        (
            event
            for number in range(1, 6)
            for event in delivered(390 + number * 100, "2-b", sequence=number, data='"y"')
        ),
        cursor(timer(480, at_s=0), 420, 8),
        timer(790, "2-b", at_s=600),
        timer(890, "2-b", at_s=660),
        cursor(timer(690, "2-b", at_s=0), 600, 10),
        cursor(timer(790, "2-b", at_s=0), 660, 11),
        cursor(timer(890, "2-b", at_s=0), 780, 12),
    )


def removed() -> list[Event]:
    """The same job, deleted at 6:30. Its timer is passed and yields nothing."""
    return in_order(
        (event for event in every_minute() if event.at < NOON + 390_000),
        deleted(390),
        answered("delete", "", 390),
        cursor(timer(480, at_s=0), 420, 8),
    )


def outage() -> list[Event]:
    """A job that fires each minute, with a window of a minute. No sweep comes from 5:00 to 9:05.

    Of the occurrences that are more than a minute late then, the newest fires.
    """
    definition = {"schedule": "@every 60s", "catchup": {"window": "1m"}, "data": '"x"'}
    return in_order(
        timer(300, at_s=0),
        written("create", "1-a", 0, definition=definition),
        (event for due_s in range(60, 241, 60) for event in delivered(due_s)),
        Mishap(NOON + 300_000, "no ticks of 245000 ms", "EventBridge"),
        delivered(480, late_ms=65_100),
        (event for due_s in range(540, 901, 60) for event in delivered(due_s, late_ms=5_100)),
        timer(540, at_s=545),
        cursor(timer(300, at_s=0), 545, 9),
        timer(600, at_s=546),
        cursor(timer(540, at_s=0), 546, 9),
        (replace(event, at=event.at + 60_000) for event in swept(600, 960)),
    )


def put_off(found_s: int = 630, copied_s: int = 180, judged_s: int | None = None) -> list[Event]:
    """A job that fires each minute, with a window of two minutes. No sweep comes from 9:00 until `found_s`.

    Its timer at 5:00 could not be expanded, and was copied ahead to 10:00 at `copied_s`. The copy yields all
    that is due from 5:00 on. It keeps the instant at which it was judged first, if that is given.
    """
    definition = {"schedule": "@every 60s", "catchup": {"mode": "none", "window": "2m"}, "data": '"x"'}
    judged_at = None if judged_s is None else NOON + judged_s * 1_000
    copy = timer(600, at_s=copied_s, what=str(NOON + 300_000))
    copy = replace(copy, put_off_by_ms=300_000, judged_at=judged_at)
    found_ms = found_s * 1_000
    return in_order(
        timer(300, at_s=0),
        written("create", "1-a", 0, definition=definition),
        (event for due_s in range(60, 241, 60) for event in delivered(due_s)),
        Mishap(NOON + 180_000, f"no ticks of {copied_s * 1_000 - 180_000} ms", "EventBridge"),
        Mishap(NOON + copied_s * 1_000, "stumble", "timer"),
        copy,
        cursor(timer(300, at_s=0), copied_s, 3),
        Mishap(NOON + 540_000, f"no ticks of {found_ms - 540_000} ms", "EventBridge"),
        timer(660, at_s=found_s),
        cursor(copy, found_s, 10),
        timer(720, at_s=found_s),
        cursor(timer(660, at_s=0), found_s, 10),
        (
            event
            for due_s in range(300, 601, 60)
            for event in delivered(due_s, late_ms=found_ms - due_s * 1_000 + 50)
        ),
        (
            event
            for due_s in range(660, 901, 60)
            for event in delivered(due_s, late_ms=max(5, found_ms - due_s * 1_000 + 50))
        ),
        (replace(event, at=max(event.at, NOON + found_ms)) for event in swept(720, 960)),
    )


def in_turn() -> list[Event]:
    """A job that fires each minute, one run at a time; one trigger may wait.

    The third run is not over before 5:05.
    """
    third = [requested(180), requested(180, attempt=2, late_ms=125_000)]
    fourth = requested(240, late_ms=65_200)
    left_out = tuple(str(NOON + due_s * 1_000) for due_s in (180, 240, 300))
    definition = {"schedule": "@every 60s", "data": '"x"', "overlap": "wait", "waitLimit": 1}
    return in_order(
        (
            replace(event, definition=definition) if isinstance(event, Written) else event
            for event in every_minute()
            if not isinstance(event, Requested | Concluded | RunStored)
            or not any(each in str(event) for each in left_out)
        ),
        line(180.005, 180),
        replace(run(third[0], None, "claimed"), at=third[0].at - 5),
        third[0],
        concluded(third[0], "failed"),
        run(third[0], "claimed", "retrying"),
        line(240.02, 180, 240),
        skipped(300),
        replace(run(third[1], "retrying", "claimed"), at=third[1].at - 5),
        third[1],
        concluded(third[1]),
        run(third[1], "claimed", "succeeded"),
        line(305.1, 240),
        replace(run(fourth, None, "claimed"), at=fourth.at - 5),
        fourth,
        concluded(fourth),
        run(fourth, "claimed", "succeeded"),
        line(305.3),
    )


#: All of them. The oracle has no complaint about any.
STORIES: Final[tuple[Callable[[], list[Event]], ...]] = (
    every_minute,
    retried,
    paused_for_a_while,
    replaced,
    removed,
    outage,
    put_off,
    in_turn,
)
