"""EventBridge Scheduler's `rate(value unit)`: a period of elapsed time, the first fire at once.

Reference: AWS, "Schedule types in EventBridge Scheduler". The value is a positive whole number. The unit is
minute, hour or day after 1, and minutes, hours or days after any other number. A day is 24 hours, also when
the clocks change.
"""

import re
from dataclasses import dataclass
from typing import Final

from sweephand.schedules.durations import NS_MAX
from sweephand.schedules.errors import ScheduleError, quoted
from sweephand.schedules.periodic import Periodic
from sweephand.schedules.timeline import Beginning

_MINUTE_NS: Final = 60_000_000_000
_UNITS_NS: Final = {"minute": _MINUTE_NS, "hour": 60 * _MINUTE_NS, "day": 1_440 * _MINUTE_NS}
# re compiles it when it is first used, so that importing this module stays cheap.
_RATE: Final = r"([0-9]{1,18}) ([a-z]+)"


@dataclass(frozen=True, slots=True)
class Rate:
    """A period. The first fire is at the dueTime, or at the start without a dueTime."""

    period_ns: int

    def timeline(self, beginning: Beginning) -> Periodic:
        """The beginning and the multiples of the period from it on."""
        anchor_at = beginning.start_at if beginning.due_at is None else beginning.due_at
        return Periodic(anchor_at, self.period_ns, 0)


def parse_rate(written: str) -> Rate:
    """The period between the parentheses. Raises ScheduleError."""
    match = re.fullmatch(_RATE, written)
    value = 0 if match is None else int(match.group(1))
    if match is None or value == 0:
        raise ScheduleError(
            f"{quoted(written)} in rate(): expected a whole number of at least 1, one space and a unit, "
            "as in rate(5 minutes)"
        )
    unit = match.group(2)
    singular = unit.removesuffix("s")
    if singular not in _UNITS_NS or unit != (singular if value == 1 else singular + "s"):
        raise ScheduleError(
            f"{quoted(unit)} in rate(): expected "
            + (
                "minute, hour or day after 1"
                if value == 1
                else "minutes, hours or days after a number above 1"
            )
        )
    period_ns = value * _UNITS_NS[singular]
    if period_ns > NS_MAX:
        raise ScheduleError(
            f"{quoted(written)} in rate() is too long; expected a period of at most 292 years"
        )
    return Rate(period_ns)
