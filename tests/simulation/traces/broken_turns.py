"""Traces of runs that take turns in which one promise is broken, and the complaint about each."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from tests.simulation.traces.doctored import Broken, Doctoring, changed, of, with_, without
from tests.simulation.traces.stories import (
    NOON,
    answered,
    in_order,
    in_turn,
    line,
    place,
    requested,
    run,
    skipped,
    written,
)
from tests.simulation.traces.trace import Event, Requested, RunStored, Written

#: The definition of the job in the story in_turn.
TURNS: Final[dict[str, Any]] = {"schedule": "@every 60s", "data": '"x"', "overlap": "wait", "waitLimit": 1}


def undone(*between: Event) -> Doctoring:
    """In the story in_turn the fourth run is claimed early, and its claim is undone after those events."""
    early = requested(240, late_ms=10_000)
    claim = replace(run(early, None, "claimed"), at=early.at - 5)
    return with_(claim, *between, replace(run(early, "claimed", "released"), at=early.at + 5))


BROKEN_TURNS: Final[Sequence[Broken]] = [
    (in_turn, undone(requested(240, late_ms=10_000)), "which was released since"),
    (in_turn, with_(requested(300, late_ms=20_000)), "and left at"),
    (
        in_turn,
        with_(replace(skipped(300), run_id=f"manual-{NOON + 180_000}-x")),
        "is on demand, and was skipped",
    ),
    (in_turn, changed(of(Written), definition={**TURNS, "waitLimit": 2}), "1 waited, of 2 that may wait"),
    (
        in_turn,
        lambda events: in_order(without(of(RunStored), of(Requested))(events), skipped(720)),
        "no other run was under way",
    ),
    (in_turn, with_(line(305.08, 300)), "came before that of"),
    (in_turn, with_(line(300.01, 180, 240, 300)), "2 waited"),
    (
        in_turn,
        with_(replace(line(500, None, 240), holder=replace(place(490), rev="9-z"))),
        "is owed no more, and held the line",
    ),
    (
        in_turn,
        with_(
            written("pause", "1-a", 901, paused_at=NOON + 901_000, cut=NOON + 5, since=NOON - 1),
            replace(line(905, 890), waiting=(replace(place(902), is_asked_for=True),)),
            answered("patch", "1-a", 2_200),
        ),
        "was made by hand and waited",
    ),
]
