"""Traces of stacks whose Timers table was lost."""

from collections.abc import Sequence
from typing import Final

from tests.simulation.traces.doctored import Broken, with_
from tests.simulation.traces.losses import TimersLost
from tests.simulation.traces.stories import NOON, cursor, every_minute, timer


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
