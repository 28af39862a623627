"""The one table of a run's states: which state may follow which, and in which way."""

from collections.abc import Mapping
from functools import cache
from typing import Final, Literal

#: The stored states. `claimed`: a delivery function has claimed the attempt. `running`: the consumer accepted
#: the trigger and will report. `retrying`: the attempt failed, and another follows. In every other state, the
#: run is over.
State = Literal["claimed", "running", "retrying", "succeeded", "failed", "skipped", "cancelled"]

#: How a state follows another. `record`: the holder of the claim writes the outcome of the attempt. `move`: a
#: writer changes a run that it has read, after a consumer's callback, a passed deadline or a cancel.
#: `attempt`: the message of a later attempt claims the run. That the message was sent proves that the attempt
#: before it failed, even if that is not recorded. `takeover`: the same attempt is claimed again after its
#: holder crashed. `redrive`: a new round of attempts begins after the run was given up.
TransitionKind = Literal["record", "move", "attempt", "takeover", "redrive"]

TRANSITIONS: Final[Mapping[State, Mapping[State, tuple[TransitionKind, ...]]]] = {
    "claimed": {
        # `record` and `move`: the attempt failed, and the message of what follows is about to be sent. `move`
        # also keeps the record of a crashed attempt for longer.
        "claimed": ("attempt", "takeover", "record", "move"),
        "running": ("record",),
        # A callback can arrive before the acceptance is recorded, hence `move`.
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
        "retrying": ("move",),  # its record is kept for longer, since its next attempt waits
        "cancelled": ("move",),
    },
    "succeeded": {},
    "failed": {"claimed": ("redrive",)},
    # Their records are kept for longer, since the stack is switched off.
    "skipped": {"skipped": ("move",)},
    "cancelled": {"cancelled": ("move",)},
}

#: The states that may be written if no run is stored. A first attempt that needed no claim writes its
#: outcome.
INITIAL_STATES: Final[frozenset[State]] = frozenset({"claimed", "succeeded", "retrying", "failed", "skipped"})

#: The states after which no attempt follows by itself.
OVER_STATES: Final[frozenset[State]] = frozenset(
    state
    for state, row in TRANSITIONS.items()
    if all(ways == ("redrive",) for to, ways in row.items() if to != state)
)


@cache
def sources(to: State, way: TransitionKind) -> frozenset[State]:
    """The states that a run may leave for `to` in that way."""
    return frozenset(state for state, row in TRANSITIONS.items() if way in row.get(to, ()))
