"""Which misfires of a pause fire, by catch-up."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from tests.simulation.oracle.lives import Life, begins_ahead_at


class Misfires(NamedTuple):
    """The due times of a pause: those that fire after the resume, and those that are skipped."""

    fire: list[int]
    skipped: list[int]


def misfires(life: Life, number: int) -> Misfires:
    """Return the misfires of the resume with that number, by its own mode or its job's."""
    write, before = life.writes[number], life.writes[number - 1]
    if before.paused_at is None:
        return Misfires([], [])
    after = max(before.paused_at, begins_ahead_at(before))
    due = [due_at for due_at, _ in life.occurrences[number].between(after, write.asked_at)]
    mode = write.catchup or catchup_of(write.definition).get("mode", "latest")
    kept = max(len(due) - {"all": len(due), "latest": 1, "none": 0}[mode], 0)
    return Misfires(due[kept:], due[:kept])


def catchup_of(definition: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return `catchup` as the client wrote it."""
    found: Mapping[str, Any] = definition.get("catchup") or {}
    return found
