"""A list of instants, each of which fires once.

Reference: semantics.md alone; no other notation has such a list. It holds up to 100 instants as RFC 3339
writes them, in any order.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sweephand.base.instants import Instant
from sweephand.base.limits import INSTANTS_MAX
from sweephand.schedules.errors import ScheduleError, SchedulePartsError, quoted
from sweephand.schedules.time_points import parse_instant
from sweephand.schedules.timeline import Beginning, FixedInstants


@dataclass(frozen=True, slots=True)
class InstantList:
    """The instants of a list, in ascending order and all different."""

    instants: tuple[Instant, ...]

    def timeline(self, beginning: Beginning) -> FixedInstants:
        """The instants that are neither past at the beginning nor before its dueTime."""
        return FixedInstants(self.instants[bisect_right(self.instants, beginning.eager_floor_at) :])

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
