"""A list of instants, each of which fires once.

Reference: semantics.md alone; no other notation has such a list. It holds up to 100 instants as RFC 3339
writes them, in any order.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from sweephand.base.instants import Instant
from sweephand.base.limits import INSTANTS_MAX
from sweephand.schedules.clock.dst import ClockEffect
from sweephand.schedules.errors import ScheduleError, SchedulePartsError, quoted
from sweephand.schedules.time_points import parse_instant
from sweephand.schedules.timeline import Beginning


@dataclass(frozen=True, slots=True)
class InstantListTimeline:
    """Occurrences at given instants, which are in ascending order and all different."""

    all_at: tuple[Instant, ...]
    #: What clock changes did, if the instants were local times before.
    effects: tuple[ClockEffect, ...] = ()
    is_finite: ClassVar[bool] = True

    def instants(self, after: Instant) -> Iterator[Instant]:
        """The instants that come after it."""
        return iter(self.all_at[bisect_right(self.all_at, after) :])

    def count(self, after: Instant, through: Instant) -> int:
        """The difference of two places in the list."""
        return max(0, bisect_right(self.all_at, through) - bisect_right(self.all_at, after))

    def nth(self, number: int, after: Instant, months_max: int) -> Instant | None:  # noqa: ARG002 - needs no walk
        """The instant, or None if the list ends before it."""
        at = bisect_right(self.all_at, after) + number - 1
        return self.all_at[at] if at < len(self.all_at) else None

    def last_through(self, through: Instant) -> Instant | None:
        """The last instant of the list up to this one."""
        at = bisect_right(self.all_at, through)
        return self.all_at[at - 1] if at else None

    def clock_effects(self, after: Instant, through: Instant) -> Iterator[ClockEffect]:
        """The known effects within these bounds."""
        return (each for each in self.effects if after < each.instant <= through)


@dataclass(frozen=True, slots=True)
class InstantList:
    """The instants of a list, in ascending order and all different."""

    instants: tuple[Instant, ...]

    def timeline(self, beginning: Beginning) -> InstantListTimeline:
        """The instants that are neither past at the beginning nor before its dueTime."""
        return InstantListTimeline(self.instants[bisect_right(self.instants, beginning.eager_floor_at) :])

    def to_item(self) -> list[Instant]:
        """The instants as numbers, which take half as much room as texts."""
        return list(self.instants)

    @classmethod
    def from_item(cls, item: Sequence[Any]) -> "InstantList":
        """The list that to_item() wrote."""
        return cls(tuple(map(int, item)))


def parse_instant_list(written: Sequence[object]) -> InstantList:
    """The instants of a list. Raises SchedulePartsError, which names every part that cannot be read."""
    if not written:
        raise ScheduleError("an empty list; expected at least one instant such as 2027-01-31T09:00:00Z")
    if len(written) > INSTANTS_MAX:
        raise ScheduleError(f"a list of {len(written)} instants; expected at most {INSTANTS_MAX}")
    found: set[Instant] = set()
    faults: list[ScheduleError] = []
    for at, each in enumerate(written):
        try:
            found.add(_instant(each))
        except ScheduleError as fault:
            faults.append(ScheduleError(str(fault), f"/{at}"))
    if faults:
        raise SchedulePartsError(faults)
    return InstantList(tuple(sorted(found)))


def _instant(written: object) -> Instant:
    if not isinstance(written, str):
        raise ScheduleError(
            f"{quoted(str(written))} is no text; expected an instant such as 2027-01-31T09:00:00Z"
        )
    return parse_instant(written)
