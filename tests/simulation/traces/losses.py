"""The events of losses in the Timers table, apart from the other events."""

from dataclasses import dataclass

from sweephand.base.instants import Instant


@dataclass(frozen=True, slots=True)
class TimersLost:
    """The Timers table is as it was at `back_to` from now on: timers, packs, cursors and all.

    If it was emptied, `back_to` is 0.
    """

    at: Instant
    back_to: Instant = 0


@dataclass(frozen=True, slots=True)
class TimerLost:
    """The timers of a job that are due at `since` or later are gone from now on, without a trace."""

    at: Instant
    name: str
    since: Instant


Loss = TimersLost | TimerLost
