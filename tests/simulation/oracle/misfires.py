"""Which misfires of a pause fire, by catch-up."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from tests.simulation.oracle.enumeration import length_ms
from tests.simulation.oracle.lives import Life, begins_ahead_at

#: An occurrence that is found later than this (catchup.window) is a misfire.
WINDOW_DEFAULT = "1h"


class Misfires(NamedTuple):
    """The due times of a pause: those that fire after the resume, and those that are skipped."""

    fire: list[int]
    skipped: list[int]


class End(NamedTuple):
    """When a pause ends by itself, and the mode that the client gave with it."""

    until: int
    mode: str | None


def pause_end(life: Life, number: int = -1) -> End | None:
    """Return the end of the pause in which the job is after that write; None if it has none."""
    number %= len(life.writes)
    for write in reversed(life.writes[life.first_since_return(number) : number + 1]):
        if write.paused_at is None:
            return None
        if write.verb == "pause" and not write.by_itself:
            return None if write.until is None else End(write.until, write.catchup)
    return None


def decided_through(life: Life, number: int) -> int:
    """Return up to when the due times of the pause before a resume are misfires.

    A caller's resume decides up to its request. A pause that ends by itself decides about what fell due
    before its end. What is late by more than the window when it is ended is a misfire, too.
    """
    write, end = life.writes[number], pause_end(life, number - 1)
    if not write.by_itself or end is None:
        return write.asked_at
    window_ms = length_ms(catchup_of(write.definition).get("window", WINDOW_DEFAULT))
    return max(end.until, write.asked_at - window_ms) - 1


def misfires(life: Life, number: int) -> Misfires:
    """Return the misfires of the resume with that number, by its own mode or its job's."""
    write, before = life.writes[number], life.writes[number - 1]
    if before.paused_at is None:
        return Misfires([], [])
    after, through = max(before.paused_at, begins_ahead_at(before)), decided_through(life, number)
    due = [due_at for due_at, _ in life.occurrences[number].between(after, through)]
    end = pause_end(life, number - 1) if write.by_itself else None
    asked = write.catchup if end is None else end.mode
    mode = asked or catchup_of(write.definition).get("mode", "latest")
    kept = max(len(due) - {"all": len(due), "latest": 1, "none": 0}[mode], 0)
    return Misfires(due[kept:], due[:kept])


def catchup_of(definition: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return `catchup` as the client wrote it."""
    found: Mapping[str, Any] = definition.get("catchup") or {}
    return found
