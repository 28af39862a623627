"""The one table of a run's states: which may follow which, and by whose hand."""

from collections.abc import Mapping
from functools import cache
from typing import Final, Literal

#: The states that are stored. `claimed`: a delivery function has it; `running`: the consumer accepted it and
#: will report; `retrying`: failed, to be tried again; the others are over.
State = Literal["claimed", "running", "retrying", "succeeded", "failed", "skipped", "cancelled"]

#: How one state comes after another. `record`: whoever holds the claim writes what became of the attempt.
#: `move`: somebody who has read the run changes it: its consumer's report, a deadline that passed, a cancel.
#: `attempt`: the message of a later attempt claims it; that it was sent shows that the one before failed,
#: whether or not that could be recorded. `takeover`: the same attempt is claimed anew, its holder being
#: gone. `redrive`: a round of attempts begins though the run was given up.
Way = Literal["record", "move", "attempt", "takeover", "redrive"]

TABLE: Final[Mapping[State, Mapping[State, tuple[Way, ...]]]] = {
    "claimed": {
        # `record` and `move`: the attempt has failed, and what follows is about to be sent.
        "claimed": ("attempt", "takeover", "record", "move"),
        "running": ("record",),
        # A consumer can report before its acceptance is recorded, hence `move`.
        "succeeded": ("record", "move"),
        "retrying": ("record", "move"),
        "failed": ("record", "move"),
        "skipped": ("record",),
        "cancelled": ("move",),  # its job was deleted before the attempt was made
    },
    "running": {
        "running": ("move",),  # a heartbeat, or that the attempt has failed
        "succeeded": ("move",),
        "retrying": ("move",),
        "failed": ("move",),
        "cancelled": ("move",),
    },
    "retrying": {
        "claimed": ("attempt",),
        "retrying": ("move",),  # its record is kept for longer, since its job is paused
        "cancelled": ("move",),
    },
    "succeeded": {},
    "failed": {"claimed": ("redrive",)},
    "skipped": {},
    "cancelled": {},
}

#: What may be written where nothing is stored: a first attempt that nobody had to claim leaves its outcome.
BEGINNINGS: Final[frozenset[State]] = frozenset({"claimed", "succeeded", "retrying", "failed", "skipped"})

#: The states after which no attempt follows by itself.
OVER: Final[frozenset[State]] = frozenset(
    state for state, row in TABLE.items() if all(ways == ("redrive",) for ways in row.values())
)


@cache
def sources(to: State, way: Way) -> frozenset[State]:
    """The states that a run may leave for that one in that way."""
    return frozenset(state for state, row in TABLE.items() if way in row.get(to, ()))
