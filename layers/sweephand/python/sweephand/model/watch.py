"""The watch on a job: its checks, and its alerts about triggers that have not succeeded in time.

The *deadline* of a trigger is its due time and the job's `alertAfter`. A trigger is *missed* if it has not
succeeded by its deadline (decision 110).
"""

from typing import Final, NamedTuple

from sweephand.base.instants import HOUR_MS, MINUTE_MS, Instant
from sweephand.base.timing import DEADLINE_GRACE_MS
from sweephand.model.job import JobKey
from sweephand.schedules import Occurrence, Series

#: Missed triggers whose deadlines lie in one clock hour share an alert.
ALERT_WINDOW_MS: Final = HOUR_MS

#: In place of the state of a run that has no record.
UNRECORDED: Final = "unrecorded"

#: A job that fires often is checked once in a tenth of `alertAfter`, within these bounds.
_PERIOD_PART: Final = 10
_PERIOD_MS_MIN: Final = MINUTE_MS
_PERIOD_MS_MAX: Final = 10 * MINUTE_MS


class WatchMessage(NamedTuple):
    """The order to check whether triggers of one revision have succeeded in time.

    They are the triggers of `series` from `first` on that are due up to `through`. The deadline of each is
    `after_ms` after its due time, and `check_at` is not before any of these deadlines. The watch of the
    revision begins after `since`: it never looks at what was due up to then. `armed_at` and `faults` are as
    in other messages.

    If windows have held triggers, a later check looks at them again. They are those due up to `through` that
    windows held from `held_from` on. It is 0 in other checks.
    """

    key: JobKey
    uid: str
    rev: str
    series: Series
    first: Occurrence
    through: Instant
    since: Instant
    after_ms: int
    check_at: Instant
    armed_at: Instant
    faults: int = 0
    held_from: Instant = 0

    @property
    def not_before(self) -> Instant:
        """When the check may begin: the clocks of other functions have recorded the ends of the runs."""
        return self.check_at + DEADLINE_GRACE_MS

    @property
    def period_ms(self) -> int:
        """The time in ms between two checks of a job that fires more often."""
        return min(max(self.after_ms // _PERIOD_PART, _PERIOD_MS_MIN), _PERIOD_MS_MAX)


class Alert(NamedTuple):
    """What an alert says: how many triggers were missed, and the first and the last of their due times.

    `window_at` is the beginning of the clock hour in which the last of their deadlines lies. It names the
    alert.
    """

    window_at: Instant
    missed: int
    first_due_at: Instant
    last_due_at: Instant


def window_of(deadline_at: Instant) -> Instant:
    """The beginning of the clock hour in which a deadline lies."""
    return deadline_at - deadline_at % ALERT_WINDOW_MS


def alert_id(uid: str, alert: Alert) -> str:
    """The id by which the receiver of an alert recognizes that it comes twice."""
    return f"{uid}-alert-{alert.window_at}"
