"""What becomes of a fixed local time that a clock change drops or repeats. Each job chooses the rule.

References: Debian's cron(8) for the default, semantics.md for the choices. A gap of three hours or more is a
correction of the calendar. It drops no night, so no fire is made up for it.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, get_args

from sweephand.base.errors import ScheduleError
from sweephand.base.instants import Instant
from sweephand.base.names import quoted

if TYPE_CHECKING:
    from sweephand.schedules.clock.zones import OffsetPeriod

Gap = Literal["shift", "skip"]
RepeatedTime = Literal["first", "last", "both"]

#: Debian's cron takes a jump of this length or more for a correction and makes up nothing.
GAP_MADE_UP_BELOW_S: Final = 3 * 3_600


class DstRule(NamedTuple):
    """A job's choices: `gap` for a local time that does not exist, `overlap` for one that comes twice."""

    gap: Gap = "shift"
    overlap: RepeatedTime = "first"

    def walls_of(self, period: "OffsetPeriod") -> tuple[int, int]:
        """The wall times between which fixed times fire in a period: from the first, before the second."""
        begin_s, end_s = period.start_s + period.offset_s, period.end_s + period.offset_s
        return (
            max(begin_s, period.covered_s) if self.overlap == "first" else begin_s,
            min(end_s, period.repeated_s) if self.overlap == "last" else end_s,
        )

    def makes_up_gap_before(self, period: "OffsetPeriod") -> bool:
        """Whether the first instant of a period stands for the local times in the gap before it."""
        gap_s = period.start_s + period.offset_s - period.covered_s
        return self.gap == "shift" and 0 < gap_s < GAP_MADE_UP_BELOW_S


#: The rule that gives a nightly job one run on every night of the year.
DEFAULT: Final = DstRule()

#: The rule of an expression that follows real time, whatever its job chooses.
REAL_TIME: Final = DstRule("skip", "both")


class ClockEffect(NamedTuple):
    """What a clock change did to one local time that a schedule names.

    `wall_s` is the local time (seconds since 1970-01-01T00:00:00 on the wall). `cause` is a gap, or the first
    or the second showing in an overlap. `instant` is the end of the gap, or that showing. `fires` says
    whether the rule puts an occurrence there that stands for `wall_s`.
    """

    instant: Instant
    wall_s: int
    cause: Literal["gap", "first", "second"]
    fires: bool


def read_dst(written: Mapping[str, Any]) -> DstRule:
    """The rule of a job's `dst`. A choice that is absent or null is the default. Raises ScheduleError."""
    unknown = next((name for name in written if name not in DstRule._fields), None)
    if unknown is not None:
        raise ScheduleError(
            f"{quoted(str(unknown))} is no choice; expected gap, overlap, or both", f"/{unknown}"
        )
    given = {name: value for name, value in written.items() if value is not None}
    for name, choices in (("gap", get_args(Gap)), ("overlap", get_args(RepeatedTime))):
        if name in given and given[name] not in choices:
            raise ScheduleError(
                f"{quoted(str(given[name]))} as {name}; expected {' or '.join(choices)}", f"/{name}"
            )
    return DstRule(**given)
