"""The event of a loss of the Timers table, apart from the other events."""

from dataclasses import dataclass

from sweephand.base.instants import Instant


@dataclass(frozen=True, slots=True)
class TimersLost:
    """The Timers table is as it was at `back_to` from now on: timers, packs, cursors and all.

    If it was emptied, `back_to` is 0.
    """

    at: Instant
    back_to: Instant = 0
