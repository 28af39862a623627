"""A list of instants: each fires once, whatever else was written.

Reference: semantics.md alone; no other notation has it. Up to 100 instants as RFC 3339 writes them, in any
order.
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
class Listed:
    """Instants that are named one by one: ascending, none twice."""

    listed: tuple[Instant, ...]
    #: Of local times that became instants: what clock changes did to them.
    effects: tuple[ClockEffect, ...] = ()
    is_finite: ClassVar[bool] = True

    def instants(self, after: Instant) -> Iterator[Instant]:
        """Those that come after it."""
        return iter(self.listed[bisect_right(self.listed, after) :])

    def count(self, after: Instant, through: Instant) -> int:
        """The difference of two places."""
        return max(0, bisect_right(self.listed, through) - bisect_right(self.listed, after))

    def nth(self, number: int, after: Instant, months_max: int) -> Instant | None:  # noqa: ARG002 - needs no walk
        """The instant, if there are so many."""
        at = bisect_right(self.listed, after) + number - 1
        return self.listed[at] if at < len(self.listed) else None

    def last_through(self, through: Instant) -> Instant | None:
        """The one before the place."""
        at = bisect_right(self.listed, through)
        return self.listed[at - 1] if at else None

    def clock_effects(self, after: Instant, through: Instant) -> Iterator[ClockEffect]:
        """Those that are known."""
        return (each for each in self.effects if after < each.instant <= through)


@dataclass(frozen=True, slots=True)
class Instants:
    """Instants in order, none twice: what a list means. What is past when a series begins is passed over."""

    listed: tuple[Instant, ...]

    def timeline(self, beginning: Beginning) -> Listed:
        """Those that are not past at the beginning, nor before its dueTime."""
        return Listed(self.listed[bisect_right(self.listed, beginning.eager_floor_at) :])

    def to_item(self) -> list[Instant]:
        """The instants as numbers, which is half as long as they were written."""
        return list(self.listed)

    @classmethod
    def from_item(cls, item: Sequence[Any]) -> "Instants":
        """What to_item() wrote."""
        return cls(tuple(map(int, item)))


def parse_list(written: Sequence[object]) -> Instants:
    """The instants of a list. Raises ScheduleError, which names every part that is none."""
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
    return Instants(tuple(sorted(found)))


def _instant(written: object) -> Instant:
    if not isinstance(written, str):
        raise ScheduleError(
            f"{quoted(str(written))} is no text; expected an instant such as 2027-01-31T09:00:00Z"
        )
    return parse_instant(written)
