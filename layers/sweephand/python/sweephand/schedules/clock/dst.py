"""What becomes of a fixed local time that a clock change drops or repeats: the rule of a job's own choice.

References: Debian's cron(8) for the default, semantics.md for the choice. A gap of three hours or more is a
correction of the calendar, not a night on which something was missed: nothing in it is made up.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple, Protocol, get_args, runtime_checkable

from sweephand.base.instants import Instant
from sweephand.schedules.clock.zones import OffsetPeriod
from sweephand.schedules.errors import ScheduleError, quoted

Gap = Literal["shift", "skip"]
Overlap = Literal["first", "last", "both"]

#: Debian's cron takes a longer jump of the clock for a correction and makes up nothing.
GAP_MADE_UP_BELOW_S: Final = 3 * 3_600


class DstRule(NamedTuple):
    """What a job asks for: `gap` of a local time that does not exist, `overlap` of one that exists twice."""

    gap: Gap = "shift"
    overlap: Overlap = "first"

    def walls_of(self, span: OffsetPeriod) -> tuple[int, int]:
        """From which wall time on a span's fixed times fire, and before which."""
        begin_s, end_s = span.start_s + span.offset_s, span.end_s + span.offset_s
        return (
            max(begin_s, span.covered_s) if self.overlap == "first" else begin_s,
            min(end_s, span.repeated_s) if self.overlap == "last" else end_s,
        )

    def makes_up_gap_before(self, span: OffsetPeriod) -> bool:
        """Whether a span's first instant stands for the local times in the gap before it."""
        gap_s = span.start_s + span.offset_s - span.covered_s
        return self.gap == "shift" and 0 < gap_s < GAP_MADE_UP_BELOW_S


#: Exactly one run on every night of the year.
DEFAULT: Final = DstRule()

#: What a wildcard expression does whatever its job asks for: it neither makes up nor drops.
REAL_TIME: Final = DstRule("skip", "both")


class ClockEffect(NamedTuple):
    """What a clock change did to one local time that a schedule names.

    `wall_s` is that local time (seconds since 1970-01-01T00:00:00 on the wall). `cause` says what it met: a
    gap, or an overlap, of which `instant` is the first or the second showing. For a gap, `instant` is where
    it ends. `fires` is the rule's answer: there is an occurrence at `instant` that stands for `wall_s`.
    """

    instant: Instant
    wall_s: int
    cause: Literal["gap", "first", "second"]
    fires: bool


@runtime_checkable
class HasClockEffects(Protocol):
    """A timeline of local times, which clock changes have an effect on."""

    def clock_effects(self, after: Instant, through: Instant) -> Iterator[ClockEffect]:
        """Those whose instant lies after the one and up to the other, ascending, lazily."""
        ...


def read_dst(written: Mapping[str, Any]) -> DstRule:
    """The rule of a job's `dst`; what is left out or null is the default. Raises ScheduleError."""
    unknown = next((name for name in written if name not in DstRule._fields), None)
    if unknown is not None:
        raise ScheduleError(
            f"{quoted(str(unknown))} is no choice; expected gap, overlap, or both", f"/{unknown}"
        )
    given = {name: value for name, value in written.items() if value is not None}
    for name, choices in (("gap", get_args(Gap)), ("overlap", get_args(Overlap))):
        if name in given and given[name] not in choices:
            raise ScheduleError(
                f"{quoted(str(given[name]))} as {name}; expected {' or '.join(choices)}", f"/{name}"
            )
    return DstRule(**given)
